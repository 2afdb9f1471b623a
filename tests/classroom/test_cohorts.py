"""Making a cohort, joining it by code or link, roles, leaving; what a guest keeps."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.management import call_command
from django.urls import reverse
from pytest_django import Settings

from accounts.models import Person
from classroom import cohorts
from classroom.models import AuditEntry, Cohort, Membership, Role
from tests.classroom import factories as f
from tests.classroom.factories import Room, client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def room() -> Room:
    return f.a_room(learners=2, assistants=1)


def at(name: str, *args: Any) -> str:
    return reverse(f"classroom:{name}", args=args)


def actions(cohort: Cohort) -> list[str]:
    return list(
        AuditEntry.objects.filter(cohort=cohort).order_by("pk").values_list("action", flat=True)
    )


def instructor() -> Person:
    person = f.a_person("Ada")
    person.user_permissions.add(Permission.objects.get(codename="add_cohort"))
    return person


def test_an_instructor_makes_a_cohort_and_gets_its_link() -> None:
    person = instructor()
    data = {"name": "  Autumn  2026 ", "course": "rmsnorm", "zone": "europe/paris"}
    page = client_of(person).post(at("make"), data, follow=True).content.decode()
    cohort = Cohort.objects.get()
    assert (cohort.name, cohort.zone) == ("Autumn 2026", "Europe/Paris")
    assert Membership.objects.get(cohort=cohort).role == Role.INSTRUCTOR
    assert cohort.code in page and at("join", cohort.code) in page
    assert actions(cohort) == ["made"]


def zone_offered(person: Person) -> tuple[str, bool]:
    """What the form has before anybody typed, and whether the browser may put its own there."""
    field = re.search(
        r'<input[^>]*name="zone"[^>]*>', client_of(person).get(at("make")).content.decode()
    )
    assert field
    value = re.search(r'value="([^"]*)"', field[0])
    return value[1] if value else "", "data-zone-guess" in field[0]


def test_the_zone_of_a_new_cohort_is_the_one_taken_last(settings: Settings) -> None:
    person = instructor()
    assert zone_offered(person) == ("UTC", True)
    settings.TIME_ZONE = "Europe/Paris"
    assert zone_offered(person) == ("Europe/Paris", True)
    for zone in ("Asia/Kathmandu", "Europe/Istanbul"):
        cohorts.make(person, "Autumn", f.COURSE, zone)
    assert zone_offered(person) == ("Europe/Istanbul", False)
    f.join(f.a_room(zone="America/Lima"), person, Role.ASSISTANT)  # where they set no deadlines
    assert zone_offered(person) == ("Europe/Istanbul", False)


def test_a_zone_that_was_typed_is_not_guessed_over() -> None:
    data = {"name": "", "course": "rmsnorm", "zone": "Asia/Kathmandu"}
    page = client_of(instructor()).post(at("make"), data).content.decode()
    assert 'value="Asia/Kathmandu"' in page and "data-zone-guess" not in page


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "x" * 121},
        {"name": "a\u202eb"},
        {"course": "no-such"},
        {"zone": "Paris"},
        {"zone": "../../etc/passwd"},
    ],
)
def test_a_cohort_is_not_made_of_what_makes_none(wrong: dict[str, str]) -> None:
    data = {"name": "Autumn", "course": "rmsnorm", "zone": "UTC"} | wrong
    assert client_of(instructor()).post(at("make"), data).status_code == 422
    assert not Cohort.objects.exists()


def test_settings_are_saved_and_written_down(room: Room) -> None:
    data = {"name": "Winter", "zone": "Asia/Tokyo", "release": "held", "is_open": "on"}
    client_of(room.instructor).post(at("settings", room.cohort.pk), data)
    cohort = Cohort.objects.get(pk=room.cohort.pk)
    assert (cohort.name, cohort.release, cohort.is_anonymous) == ("Winter", "held", False)
    entry = AuditEntry.objects.get(cohort=cohort)
    assert entry.data["is_anonymous"] == [True, False]


def test_an_archived_cohort_is_put_away_and_taken_out(room: Room) -> None:
    client = client_of(room.instructor)
    client.post(at("archive", room.cohort.pk), {"do": "archive"})
    assert "archived" in client.get(at("cohort", room.cohort.pk)).content.decode()
    client.post(at("archive", room.cohort.pk), {"do": "restore"})
    assert actions(room.cohort) == ["archived", "restored"]


@pytest.mark.parametrize(
    ("anonymous", "who", "status"),
    [(True, "assistant", 404), (False, "assistant", 200), (True, "instructor", 200)],
)
def test_names_are_for_instructors_where_grading_goes_without(
    anonymous: bool, who: str, status: int
) -> None:
    room = f.a_room(is_anonymous=anonymous)
    client = client_of(getattr(room, who))
    assert client.get(at("members", room.cohort.pk)).status_code == status
    client.get(at("members", room.cohort.pk))
    noted = [] if not anonymous or status == 404 else ["names-seen"]
    assert actions(room.cohort) == noted


def test_a_learner_s_name_stands_on_no_other_page_of_an_anonymous_cohort(room: Room) -> None:
    Person.objects.filter(pk=room.learner.pk).update(name="Melitta Bentz")
    client = client_of(room.instructor)
    for name in ("cohort", "deadlines", "settings"):
        assert "Melitta" not in client.get(at(name, room.cohort.pk)).content.decode()
    assert "Melitta" in client.get(at("members", room.cohort.pk)).content.decode()


def test_names_are_shown_as_what_they_are(room: Room) -> None:
    hostile = "<script>alert(1)</script>"
    Person.objects.filter(pk=room.learner.pk).update(name=hostile)
    Cohort.objects.filter(pk=room.cohort.pk).update(name=hostile)
    page = client_of(room.instructor).get(at("members", room.cohort.pk)).content.decode()
    assert hostile not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_menu_leads_to_the_classroom_whom_it_concerns(room: Room) -> None:
    def leads(person: Person | None) -> bool:
        return f'href="{at("home")}"' in client_of(person).get("/en/").content.decode()

    assert leads(room.learner) and leads(room.assistant)
    assert not leads(f.a_person()) and not leads(f.a_guest()) and not leads(None)
    newcomer = f.a_person(email="new@example.org")
    call_command("instructor", "new@example.org")
    assert leads(newcomer)
