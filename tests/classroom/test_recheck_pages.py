"""The pages of a re-check, from the key that has changed to the new verdict on a learner's page."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from classroom.models import Recheck
from classroom.rechecks import working
from tests.classroom import factories
from tests.classroom.conftest import Mending
from tests.classroom.factories import Room, client_of

FIRST = "small/01-first/lesson.yaml"
OLD, NEW = "answer: 0.501953125, abs: 0.0005", "answer: 1, abs: 0.0005"
TARGET = {"target": "answers/first/all-kinds"}
pytestmark = pytest.mark.django_db


@pytest.fixture
def room(small: Mending) -> Room:
    room = factories.a_room(learners=2, course="small")
    for person in room.learners:
        factories.submit(person, "all-kinds", course="small")
    return room


def listed(room: Room) -> str:
    return reverse("classroom:rechecks", args=[room.cohort.pk])


def text(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_from_a_changed_key_to_new_verdicts(room: Room, small: Mending) -> None:
    client = client_of(room.instructor)
    assert "Keys that have changed" not in text(client, listed(room))
    small.change(FIRST, OLD, NEW)
    assert "Keys that have changed" in text(client, listed(room))
    answer = client.post(listed(room), TARGET)
    address = answer.headers["Location"]
    assert "Nothing changes for anybody yet" in text(client, address)
    working.work()
    working.work()
    page = text(client, address)
    assert "Nothing has changed yet" in page and room.ref(room.learner) in page
    client.post(address, {"do": "apply"})
    assert "being written" in text(client, address)
    while working.work():
        pass
    page = text(client, address)
    assert "Applied on" in page and "−2" in page
    assert "Keys that have changed" not in text(client, listed(room))


def test_no_name_stands_on_its_pages(room: Room, small: Mending) -> None:
    small.change(FIRST, OLD, NEW)
    client = client_of(room.instructor)
    address = client.post(listed(room), TARGET).headers["Location"]
    while working.work():
        pass
    for page in (text(client, listed(room)), text(client, address)):
        for person in room.learners:
            assert person.name not in page and (person.email or "") not in page
            assert str(person.pk) not in page


def test_a_button_of_an_old_page_says_that_it_has_moved_on(room: Room) -> None:
    client = client_of(room.instructor)
    address = client.post(listed(room), TARGET).headers["Location"]
    while working.work():
        pass
    answer = client.post(address, {"do": "stop"}, follow=True)
    assert "has moved on" in answer.content.decode()
    assert client.post(address, {"do": "anything"}).status_code == 404


def test_what_was_never_handed_in_cannot_be_checked_again(room: Room) -> None:
    client = client_of(room.instructor)
    for target in ("", "answers/second/guess", "answers/first/nothing", "x" * 5000):
        answer = client.post(listed(room), {"target": target}, follow=True)
        assert "choose another one" in answer.content.decode()
    assert not Recheck.objects.exists()


def test_another_cohort_s_re_check_is_not_there(room: Room) -> None:
    address = client_of(room.instructor).post(listed(room), TARGET).headers["Location"]
    other = factories.a_room(course="small")
    theirs = address.replace(str(room.cohort.pk), str(other.cohort.pk))
    assert client_of(other.instructor).get(theirs).status_code == 404
    assert client_of(other.instructor).get(address).status_code == 404
    assert client_of(room.assistant).get(address).status_code == 404
    assert client_of(room.assistant).post(address, {"do": "apply"}).status_code == 404


@pytest.mark.parametrize("language", ["fr", "tr"])
def test_its_pages_speak_the_instructor_s_language(room: Room, language: str) -> None:
    with override(language):
        page = text(client_of(room.instructor), listed(room))
    assert {"fr": "Revérifier", "tr": "Yeniden denetle"}[language] in page


def test_the_learner_reads_on_the_step_that_their_answer_was_checked_again(
    room: Room, small: Mending
) -> None:
    step = reverse("lessons:step", args=["small", "first", "ask"])
    learner = client_of(room.learner)
    sentence = "Your answer was checked again on"
    small.change(FIRST, OLD, NEW)
    client = client_of(room.instructor)
    address = client.post(listed(room), TARGET).headers["Location"]
    while working.work():
        pass
    assert sentence not in text(learner, step)
    client.post(address, {"do": "apply"})
    while working.work():
        pass
    page = text(learner, step)
    assert sentence in page and "Not yet" in page
    assert sentence not in text(client, step)
