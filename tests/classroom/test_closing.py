"""What closes a lesson for whom, and what happens to an answer then."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from classroom.deadlines import (
    closes_at,
    closings,
    last_ends,
)
from classroom.models import Cohort, Deadline, Extension, Role
from lessons.models import Revision, State
from tests.classroom import factories as f
from tests.classroom.factories import Room, client_of

pytestmark = pytest.mark.django_db

ACTIVITY = "what-drift"
PAST, FUTURE = timedelta(days=-1), timedelta(days=1)


# What closes ------------------------------------------------------------------------------------


@pytest.fixture
def room() -> Room:
    return f.a_room(learners=2, zone="Europe/Paris")


@pytest.fixture
def lesson() -> str:
    return f.place_of(ACTIVITY)[0].id


def close(room: Room, lesson: str, after: timedelta) -> Deadline:
    at = timezone.now() + after
    wall = at.strftime("%Y-%m-%dT%H:%M")
    made: Deadline = Deadline.objects.create(
        cohort=room.cohort, lesson=lesson, wall=wall, zone="UTC", at=at
    )
    return made


def extend(room: Room, lesson: str, after: timedelta) -> None:
    Extension.objects.create(
        cohort=room.cohort, person=room.learner, lesson=lesson, wall="", zone="UTC",
        at=timezone.now() + after, reason="was ill",
    )  # fmt: skip


def test_the_later_of_deadline_and_extension_holds(room: Room, lesson: str) -> None:
    assert closes_at(room.learner, room.cohort, lesson) is None
    deadline = close(room, lesson, FUTURE)
    extend(room, lesson, PAST)
    assert closes_at(room.learner, room.cohort, lesson) == deadline.at
    Extension.objects.update(at=deadline.at + FUTURE)
    assert closes_at(room.learner, room.cohort, lesson) == deadline.at + FUTURE
    assert closes_at(room.learners[1], room.cohort, lesson) == deadline.at
    ends = closings(room.cohort)
    assert ends.at(room.learner.pk, lesson) == deadline.at + FUTURE
    assert ends.at(room.learners[1].pk, lesson) == deadline.at


def answer_at() -> str:
    lesson, step = f.place_of(ACTIVITY)
    return reverse("lessons:answer", args=[f.COURSE, lesson.id, step.id])


def send(client: Client, do: str = "submit", **more: Any) -> Any:
    typed = f.filling.right(f.an_activity(ACTIVITY), "en", f.filling.TEXT)
    data = {name: item.raw for name, item in typed.items()} | {"do": do, "key": str(uuid4())}
    return client.post(answer_at(), data | more, headers={"accept": "application/json"})


def test_of_several_cohorts_the_last_end_holds_in_as_few_queries_as_of_one(
    room: Room, lesson: str, django_assert_num_queries: Any
) -> None:
    close(room, lesson, PAST)
    later = f.a_room(learners=0)
    f.join(later, room.learner)
    with django_assert_num_queries(3):
        assert last_ends(room.learner, f.COURSE) == {}  # the other leaves it open
    end = close(later, lesson, FUTURE)
    with django_assert_num_queries(3):
        assert last_ends(room.learner, f.COURSE) == {lesson: end}


def test_after_the_deadline_nothing_is_sent_and_nothing_is_lost(room: Room, lesson: str) -> None:
    close(room, lesson, PAST)
    client = client_of(room.learner)
    answer = send(client)
    assert answer.status_code == 403
    assert "closed on" in answer.json()["error"] and "kept as a draft" in answer.json()["error"]
    row = Revision.objects.get(answer__person=room.learner)
    assert row.state == State.DRAFT
    again = send(client, base=str(answer.json()["base"]), do="draft")
    assert again.status_code == 200


def test_without_a_script_the_sentence_stands_on_the_page(room: Room, lesson: str) -> None:
    close(room, lesson, PAST)
    client = client_of(room.learner)
    typed = f.filling.right(f.an_activity(ACTIVITY), "en", f.filling.TEXT)
    data = {name: item.raw for name, item in typed.items()} | {"do": "submit"}
    page = client.post(answer_at(), data, follow=True).content.decode()
    assert "This lesson closed on" in page and "Closed since" in page
    assert "Draft saved" in page


def test_after_the_deadline_no_button_offers_to_send(room: Room, lesson: str) -> None:
    lesson_of, step = f.place_of(ACTIVITY)
    address = f"/en/{f.COURSE}/{lesson_of.id}/{step.id}/"
    for after, said in ((FUTURE, 'value="submit">'), (PAST, 'value="submit" disabled>')):
        Deadline.objects.all().delete()
        close(room, lesson, after)
        assert said in client_of(room.learner).get(address).content.decode()


def test_until_then_it_is_sent(room: Room, lesson: str) -> None:
    close(room, lesson, FUTURE)
    assert send(client_of(room.learner)).status_code == 200


def test_what_came_in_time_may_be_sent_again_after_it(room: Room, lesson: str) -> None:
    deadline = close(room, lesson, FUTURE)
    client = client_of(room.learner)
    base = send(client).json()["base"]
    Deadline.objects.filter(pk=deadline.pk).update(at=timezone.now())
    assert send(client, base=str(base)).status_code == 200  # the answer to the first was lost


@pytest.mark.parametrize("who", ["extended", "open-elsewhere", "teacher", "stranger", "archived"])
def test_a_deadline_binds_nobody_else(room: Room, lesson: str, who: str) -> None:
    close(room, lesson, PAST)
    person = room.learner
    if who == "extended":
        extend(room, lesson, FUTURE)
    elif who == "open-elsewhere":
        f.join(f.a_room(learners=0), person, Role.LEARNER)
    elif who == "archived":
        Cohort.objects.update(archived_at=timezone.now())
    else:
        person = room.instructor if who == "teacher" else f.a_person()
    assert send(client_of(person)).status_code == 200
