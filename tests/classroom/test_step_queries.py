"""A step with a deadline, feedback and a bench, for who learns in a cohort: few queries."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from classroom import grading, rubrics
from classroom.grading import Judgement
from classroom.models import Cohort, Deadline, Extension, Grade, RubricPoint
from classroom.passages import Passage
from tests.classroom import factories as f
from tests.classroom.factories import Room, client_of
from tests.runner import rows

pytestmark = pytest.mark.django_db

MOST = 14
ACTIVITY = "exercise-hypothesis"  # numbers, choices and a text, and a Run
LESSON, STEP = f.place_of(ACTIVITY)
TEXT = "At N = 256 the block is exactly as wide as the row, so that no lane is masked."


@pytest.fixture
def room() -> Room:
    """A learner with a later end than the others, a Run, and a queue of nobody."""
    made = f.a_room(learners=1)
    rows.a_worker()
    closes(made.cohort)
    f.a_run(made.learner, lesson=LESSON.id, step=STEP.id, procedure="rmsnorm.exercise")
    return made


def closes(cohort: Cohort, days: int = 1) -> None:
    at = timezone.now() + timedelta(days=days)
    Deadline.objects.create(
        cohort=cohort, lesson=LESSON.id, wall="2026-12-01T10:00", zone="UTC", at=at
    )


def longer(room: Room, days: int, reason: str = "was ill") -> None:
    Extension.objects.create(
        cohort=room.cohort, person=room.learner, lesson=LESSON.id, wall="2026-12-02T10:00",
        zone="UTC", at=timezone.now() + timedelta(days=days), reason=reason,
    )  # fmt: skip


def graded(room: Room, text: str = TEXT, passages: int = 2) -> Grade:
    revision = f.submit(room.learner, ACTIVITY, text=text)
    points = rubrics.rubric_of(room.cohort, f.an_activity(ACTIVITY))
    marked = tuple(
        Passage("why", start, start + 4, text[start : start + 4], f"Remark *{start}*")
        for start in range(passages)
    )
    given = Judgement(frozenset(p.pk for p in points), Decimal("-0.5"), "**Good**", passages=marked)
    return grading.write(room.cohort, room.instructor, revision.pk, given, 0).grade


def asked(room: Room) -> int:
    """Of a page that was read before, with everything on it."""
    client = client_of(room.learner)
    address = f"/en/{f.COURSE}/{LESSON.id}/{STEP.id}/"
    client.get(address)
    with CaptureQueriesContext(connection) as queries:
        page = client.get(address).content.decode()
    assert "Open until" in page and "data-panel" in page
    return len(queries)


def test_a_deadline_feedback_and_a_bench_take_few_queries(room: Room) -> None:
    longer(room, 2)
    graded(room)
    assert asked(room) <= MOST


def test_more_of_everything_takes_no_more(room: Room) -> None:
    """Several cohorts, grades, passages, points."""
    longer(room, 2)
    graded(room)
    before = asked(room)
    for number in range(3):
        other = f.a_room(learners=0)
        f.join(other, room.learner)
        closes(other.cohort, number)
        graded(room, f"{TEXT} ({number})", passages=9)
    assert asked(room) == before <= MOST


def test_without_feedback_or_a_cohort_there_are_fewer(room: Room) -> None:
    f.submit(room.learner, ACTIVITY, text=TEXT)
    assert asked(room) <= MOST - 1


def test_what_is_read_at_once_is_shown_in_its_order(room: Room) -> None:
    longer(room, 2, "was <ill>")
    first = graded(room, passages=3)
    RubricPoint.objects.filter(cohort=room.cohort).update(points="1.50", text="")
    RubricPoint.objects.filter(cohort=room.cohort, key="size-257").update(
        position=0, text="Names <257>", retired_at=timezone.now()
    )
    page = page_of(room)
    assert "was &lt;ill&gt;" in page
    assert [page.index(f"<em>{n}</em>") for n in range(3)] == sorted(
        page.index(f"<em>{n}</em>") for n in range(3)
    )
    assert page.count("+1.5") == 3 and "Names &lt;257&gt;" in page and "−0.5" in page
    assert "9</strong> / 9 " in page  # the retired point stays with the grade
    assert Grade.objects.get(pk=first.pk).seen_at is not None


def page_of(room: Room) -> str:
    answer: Any = client_of(room.learner).get(f"/en/{f.COURSE}/{LESSON.id}/{STEP.id}/")
    return str(answer.content.decode())


def test_a_rubric_that_nobody_opened_counts_as_the_lesson_declares_it(room: Room) -> None:
    revision = f.submit(room.learner, ACTIVITY, text=TEXT)
    RubricPoint.objects.all().delete()
    f.grade(room, revision, comment="Read")
    page = page_of(room)
    assert "6</strong> / 9 " in page and not RubricPoint.objects.exists()
