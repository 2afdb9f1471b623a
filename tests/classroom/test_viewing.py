"""A step of the course as one learner sees it, for their instructors: the same words, no more."""

import re
from typing import Any

import pytest
from django.urls import reverse

from classroom.models import AuditEntry, Grade
from lessons.models import Revision
from tests.classroom import factories as f
from tests.classroom.factories import Room, client_of
from tests.classroom.test_feedback import ACTIVITY, grade, step_page
from tests.classroom.test_feedback import room as room
from tests.runner import rows

pytestmark = pytest.mark.django_db

PREDICTS = "exercise-hypothesis"


def view_as(room: Room, person: Any, activity: str | None = None) -> Any:
    place = []
    if activity:
        lesson, step = f.place_of(activity)
        place = [lesson.id, step.id]
    ref = room.ref(room.learner)
    address = reverse("classroom:view-as", args=[room.cohort.pk, ref, *place])
    return client_of(person).get(address)


def test_an_instructor_sees_a_step_as_the_learner_does_and_it_is_written_down(room: Room) -> None:
    f.submit(
        room.learner,
        ACTIVITY,
        text="The words of the learner, long enough to be sent to an instructor.",
    )
    grade(room, Revision.objects.get(), comment="Given to them")
    page = view_as(room, room.instructor, ACTIVITY).content.decode()
    ref = room.ref(room.learner)
    assert "The words of the learner" in page and "Given to them" in page and ref in page
    main = page[page.index("<main") : page.index("</main>")]
    assert room.learner.name not in page and "<form" not in main
    lesson, step = f.place_of(ACTIVITY)
    entry = AuditEntry.objects.get(action="viewed-as")
    assert entry.subject == f"{ref}/{lesson.id}/{step.id}"
    assert Grade.objects.get().seen_at is None and not room.learner.visits.exists()


def test_what_came_back_from_another_cohort_is_not_this_instructor_s_to_read(room: Room) -> None:
    other = f.a_room(learners=0)
    f.join(other, room.learner)
    revision = f.submit(room.learner, ACTIVITY)
    grade(other, revision, comment="Said in the other cohort")
    grade(room, revision, comment="Said here")
    page = view_as(room, room.instructor, ACTIVITY).content.decode()
    assert "Said here" in page and "Said in the other cohort" not in page
    page = step_page(room)
    assert "Said here" in page and "Said in the other cohort" in page


def test_a_draft_is_the_learner_s_own(room: Room) -> None:
    f.draft(room.learner, ACTIVITY, text="Not meant for anybody yet")
    page = view_as(room, room.instructor, ACTIVITY).content.decode()
    assert "Not meant for anybody" not in page and "Nothing was sent yet" in page


def test_without_a_step_it_begins_at_the_first(room: Room) -> None:
    assert view_as(room, room.instructor).status_code == 200


@pytest.mark.parametrize("who", ["assistant", "learner"])
def test_only_an_instructor_views_as(room: Room, who: str) -> None:
    assert view_as(room, getattr(room, who), ACTIVITY).status_code == 404
    assert not AuditEntry.objects.filter(action="viewed-as").exists()


def test_nobody_is_viewed_as_a_teacher(room: Room) -> None:
    ref = room.ref(room.assistant)
    address = reverse("classroom:view-as", args=[room.cohort.pk, ref])
    assert client_of(room.instructor).get(address).status_code == 404


def judged(page: str) -> list[str]:
    """What a page of a step says of each field, and what it is held against."""
    found = re.findall(r'<div class="result [^>]*>.*?</div>(?:</div>)?', page, re.DOTALL)
    table = re.findall(r'<table class="hypothesis">.*?</table>', page, re.DOTALL)
    return found + table + re.findall(r"Now press Run", page)


def set_verdict(revision: Revision, verdict: str) -> None:
    verdicts = {name: {"verdict": verdict} for name in revision.verdicts}
    Revision.objects.filter(pk=revision.pk).update(verdicts=verdicts)


@pytest.mark.parametrize("state", ["sent", "wrong", "graded", "sent-again", "held", "unchecked"])
@pytest.mark.parametrize("activity", [ACTIVITY, PREDICTS])
@pytest.mark.parametrize("waits_for_a_run", [False, True])
def test_every_word_about_an_answer_is_the_one_its_learner_reads(
    room: Room, activity: str, state: str, waits_for_a_run: bool
) -> None:
    if waits_for_a_run:
        rows.a_worker()
    revision = f.submit(room.learner, activity, wrong=state == "wrong")
    if state in ("graded", "sent-again", "held"):
        grade(room, revision, comment="Read.")
    if state == "held":
        Grade.objects.update(published_at=None)
    if state == "sent-again":
        f.submit(room.learner, activity, text="Another attempt, long enough to be sent again.")
    if state == "unchecked":
        set_verdict(revision, "ungraded")
    theirs = judged(step_page(room, activity=activity))
    assert theirs
    assert judged(view_as(room, room.instructor, activity).content.decode()) == theirs


def test_a_text_that_was_graded_waits_for_nobody(room: Room) -> None:
    revision = f.submit(room.learner, ACTIVITY)
    assert "Waiting for an instructor" in view_as(room, room.instructor, ACTIVITY).content.decode()
    grade(room, revision)
    page = view_as(room, room.instructor, ACTIVITY).content.decode()
    assert "Waiting for an instructor" not in page
    assert 'href="#feedback"' in page and 'id="feedback"' in page


def test_a_text_graded_in_another_cohort_still_waits_in_this_one(room: Room) -> None:
    other = f.a_room(learners=0)
    f.join(other, room.learner)
    grade(other, f.submit(room.learner, ACTIVITY))
    page = view_as(room, room.instructor, ACTIVITY).content.decode()
    assert "Waiting for an instructor" in page and 'href="#feedback"' not in page
