"""What a cohort's learners have done, read in bulk."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from classroom import progress
from classroom.models import Adjustment, Deadline, Extension, Role, RubricPoint
from tests.classroom.factories import (
    Room,
    a_person,
    a_room,
    activities,
    draft,
    fill,
    grade,
    join,
    submit,
)

pytestmark = pytest.mark.django_db
QUESTION = "two-sizes"  # two numbers and a choice
MOST_QUERIES = 8


def an_essay() -> str:
    """An Activity with a text among its fields."""
    return next(
        item.id
        for item in activities()
        if any(type(f).__name__ == "TextField" for f in item.fields)
    )


def work(room: Room, activity: str = QUESTION) -> progress.Work:
    return progress.cohort_work(room.cohort).of(room.learner.pk)[activity]


def test_it_takes_the_same_few_queries_whatever_the_size() -> None:
    counts = []
    for learners in (2, 9):
        room = a_room(learners=learners)
        fill(room, tries=2)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            found = progress.cohort_work(room.cohort)
            for learner in found.learners:
                for lesson in found.lessons:
                    found.lesson(learner.person, lesson)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= MOST_QUERIES


def test_the_latest_submission_counts_and_a_draft_does_not() -> None:
    room = a_room()
    submit(room.learner, QUESTION, wrong=True)
    latest = submit(room.learner, QUESTION)
    draft(room.learner, QUESTION, language="fr")
    found = work(room)
    assert found.revision == latest.pk
    assert (found.tries, found.first_right) == (2, False)
    assert found.marks.earned == found.marks.possible == Decimal(3)


def test_only_learners_of_the_cohort_are_read() -> None:
    room, other = a_room(), a_room()
    helper = a_person()
    join(room, helper, Role.ASSISTANT)
    for person in (room.learner, other.learner, helper):
        submit(person, QUESTION)
    found = progress.cohort_work(room.cohort)
    assert {learner.person for learner in found.learners} == {p.pk for p in room.learners}
    assert set(found.works) == {room.learner.pk}


def test_a_grade_counts_for_its_revision_alone() -> None:
    room = a_room()
    essay = an_essay()
    point = RubricPoint.objects.create(
        cohort=room.cohort, activity=essay, key="clear", text="Clear", points="2.5"
    )
    first = submit(room.learner, essay, text="The mean is over N, as the masked lanes are zero.")
    grade(room, first, [point])
    graded = work(room, essay)
    assert graded.graded and not graded.marks.is_waiting
    machine = len(
        progress.scoring.scheme(next(a for a in activities() if a.id == essay), []).checked
    )
    assert graded.marks.earned == machine + Decimal("2.5")
    submit(room.learner, essay, text="Another text of the same learner, a little longer than that.")
    again = work(room, essay)
    assert again.graded is None and again.marks.is_waiting


def test_a_held_grade_counts_for_instructors_and_not_for_who_may_not_see_it() -> None:
    room = a_room()
    essay = an_essay()
    grade(room, submit(room.learner, essay), is_published=False, adjustment=1)
    lesson = next(
        le for le in progress.course_of(room.cohort).lessons  # type: ignore[union-attr]
        if essay in {a.id for a in progress.activities(le)}
    )  # fmt: skip
    seen = progress.lesson_marks(room.cohort, room.learner, lesson.id)
    public = progress.lesson_marks(room.cohort, room.learner, lesson.id, published_only=True)
    assert seen and public
    assert (seen.held, seen.waiting) == (1, 0)
    assert (public.held, public.waiting) == (0, 1)


def test_an_adjustment_moves_the_lesson_and_never_below_zero() -> None:
    room = a_room()
    submit(room.learner, QUESTION)
    Adjustment.objects.create(
        cohort=room.cohort, person=room.learner, lesson="forward", points="-1.5"
    )
    found = progress.lesson_marks(room.cohort, room.learner, "forward")
    assert found and found.earned == Decimal("1.5")
    Adjustment.objects.update(points=-50)
    found = progress.lesson_marks(room.cohort, room.learner, "forward")
    assert found and found.earned == 0


def test_a_closed_lesson_is_missed_by_who_did_not_answer_all_but_not_by_who_has_longer() -> None:
    room = a_room()
    now = timezone.now()
    times = {"lesson": "forward", "wall": "2026-01-01T10:00", "zone": "UTC"}
    Deadline.objects.create(cohort=room.cohort, at=now - timedelta(days=1), **times)
    Extension.objects.create(
        cohort=room.cohort, person=room.learners[1], at=now + timedelta(days=1), **times
    )
    found = progress.cohort_work(room.cohort)
    lesson = next(le for le in found.lessons if le.id == "forward")
    missed = [found.lesson(person.pk, lesson).is_missed for person in room.learners]
    assert missed == [True, False]


def test_no_marks_for_a_stranger_or_an_unknown_lesson() -> None:
    room = a_room()
    assert progress.lesson_marks(room.cohort, a_person(), "forward") is None
    assert progress.lesson_marks(room.cohort, room.learner, "no-such-lesson") is None


def test_a_course_that_is_gone_leaves_its_learners() -> None:
    room = a_room(course="gone")
    found = progress.cohort_work(room.cohort)
    assert len(found.learners) == 2 and found.lessons == () and found.works == {}
