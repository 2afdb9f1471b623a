"""Teachers see the Runs of their learners in their course, and nobody else's."""

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser

from classroom.models import Membership, Role
from runner import api
from runner.models import Run
from tests.classroom import factories as f
from tests.classroom.factories import Room

pytestmark = pytest.mark.django_db


@pytest.fixture
def room() -> Room:
    return f.a_room(learners=2)


@pytest.fixture
def run(room: Room) -> Run:
    return f.a_run(room.learner, step="two-sizes", lesson="forward")


def opens(run: Run, person: Any) -> bool:
    try:
        return api.get(run.id, person).id == run.id
    except api.RunNotFound:
        return False


def test_a_run_opens_for_its_owner_and_who_teaches_them(room: Room, run: Run) -> None:
    people = [room.learner, room.instructor, room.assistant]
    assert all(opens(run, person) for person in people)
    other = f.a_room()
    others = [room.learners[1], other.instructor, other.assistant, f.a_person(), AnonymousUser()]
    assert not any(opens(run, person) for person in others)


def test_a_teacher_of_theirs_steers_nothing(room: Room, run: Run) -> None:
    with pytest.raises(api.RunNotFound):
        api.stop(run.id, room.instructor)


@pytest.mark.parametrize("course", ["", "andrea"])
def test_a_run_outside_the_course_stays_shut(room: Room, run: Run, course: str) -> None:
    Run.objects.update(course=course)
    assert not opens(run, room.instructor)


def test_it_shuts_with_the_membership(room: Room, run: Run) -> None:
    Membership.objects.filter(person=room.learner).update(role=Role.ASSISTANT)
    assert not opens(run, room.instructor)
    Membership.objects.filter(person=room.learner).delete()
    assert not opens(run, room.instructor)


def test_learning_in_one_cohort_and_teaching_in_another_opens_nothing(room: Room, run: Run) -> None:
    other = f.a_room()
    f.join(other, room.learner, Role.ASSISTANT)  # they teach beside that instructor
    assert not opens(run, other.instructor)


def test_a_run_s_page_does_not_say_whose_it_is(room: Room, run: Run) -> None:
    page = f.client_of(room.instructor).get(f"/en/runs/{run.id}/")
    assert page.status_code == 200
    text = page.content.decode()
    assert room.learner.name not in text and (room.learner.email or "-") not in text
