"""Where somebody lands who signs in: in the classroom where they teach, unless they asked for a
page."""

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Person
from classroom.models import Role
from tests.classroom.factories import COURSE, Room, a_room, join

pytestmark = pytest.mark.django_db
PASSWORD = "a long sentence 42"
CLASSROOM, CATALOGUE = "/en/classroom/", "/en/"


@pytest.fixture
def room() -> Room:
    return a_room()


def a_member(room: Room, role: Role | None) -> Person:
    person = Person.objects.create_user("ada@example.org", PASSWORD, name="Ada")
    if role:
        join(room, person, role)
    return person


def signed_in(language: str = "en", **given: str) -> str:
    data = {"email": "ada@example.org", "password": PASSWORD} | given
    answer = Client().post(f"/{language}/account/sign-in/", data)
    assert answer.status_code == 302
    return str(answer["Location"])


@pytest.mark.parametrize(
    ("role", "place"),
    [
        (Role.INSTRUCTOR, CLASSROOM),
        (Role.ASSISTANT, CLASSROOM),
        (Role.LEARNER, CATALOGUE),
        (None, CATALOGUE),
    ],
)
@pytest.mark.parametrize("wanted", ["", "/en/", "/tr/", "/en/account/sign-in/", "//evil.example/"])
def test_who_teaches_lands_in_the_classroom(
    room: Room, role: Role | None, place: str, wanted: str
) -> None:
    a_member(room, role)
    assert signed_in(next=wanted) == place


def test_a_page_that_was_asked_for_wins(room: Room) -> None:
    a_member(room, Role.INSTRUCTOR)
    assert signed_in(next=f"/en/{COURSE}/") == f"/en/{COURSE}/"


def test_an_archived_cohort_draws_nobody(room: Room) -> None:
    a_member(room, Role.INSTRUCTOR)
    type(room.cohort).objects.update(archived_at=timezone.now())
    assert signed_in() == CATALOGUE


def test_who_signs_in_by_the_page_s_own_form_lands_there_too_and_leaves_for_the_catalogue(
    room: Room,
) -> None:
    person = a_member(room, Role.INSTRUCTOR)
    assert 'name="next" value="/' not in _form(Client().get("/en/account/sign-in/?next=/en/"))
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get("/en/account/sign-in/")["Location"] == CLASSROOM
    assert client.post("/en/account/sign-out/")["Location"] == CATALOGUE


def _form(answer: object) -> str:
    """The page without its head and foot, which have forms of their own."""
    page = answer.content.decode()  # type: ignore[attr-defined]
    return str(page[page.index('<main id="main"') : page.index("</main>")])
