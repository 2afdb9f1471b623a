"""What a cohort's learners have done, read in bulk: at most eight queries whatever the size.

`cohort_work` is the door for the gradebook, the queue's counts and the grades that leave for
another platform, `timed_work` for the overview; `lesson_marks` is the first for one learner and
one lesson.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils import timezone

from classroom import rubrics, scoring
from classroom.deadlines import Closings, closings
from classroom.models import Adjustment, Cohort, Membership, Role, RubricPoint
from classroom.scoring import Scheme
from classroom.submissions import Graded, Work, read_grades, read_timed, read_works
from lessons.content.library import library
from lessons.content.structure import Activity, Course, Lesson

__all__ = [
    "CohortWork", "Graded", "Learner", "LessonMarks", "TimedWork", "Work", "activities",
    "cohort_work", "course_of", "learners", "lesson_marks", "timed_work",
]  # fmt: skip

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Learner:
    """A member who learns. `name` and `email` are for pages that may show them."""

    person: uuid.UUID
    ref: str
    name: str
    email: str
    language: str
    joined_at: datetime


@dataclass(frozen=True, slots=True)
class LessonMarks:
    """One learner's lesson in points. `earned` is None until something counts."""

    earned: Decimal | None
    possible: Decimal
    adjustment: Decimal
    answered: int
    asked: int
    waiting: int  # answers that an instructor has still to look at
    ungradable: int
    held: int  # grades that the learner cannot see yet
    closes_at: datetime | None
    is_missed: bool  # closed, and not everything was answered

    @property
    def share(self) -> Decimal | None:
        return None if self.earned is None or not self.possible else self.earned / self.possible


@dataclass(frozen=True)
class CohortWork:
    """Everything `cohort_work` read."""

    cohort: Cohort
    course: Course | None  # None: its folder is gone
    learners: tuple[Learner, ...]
    works: Mapping[uuid.UUID, Mapping[str, Work]]  # by person, then by activity
    adjustments: Mapping[tuple[uuid.UUID, str], Decimal]  # by person and lesson
    closings: Closings
    now: datetime
    schemes: Mapping[str, Scheme]  # by activity

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        return self.course.lessons if self.course else ()

    def of(self, person: uuid.UUID) -> Mapping[str, Work]:
        """This person's work, by activity."""
        return self.works.get(person, {})

    def closes_at(self, person: uuid.UUID, lesson: str) -> datetime | None:
        return self.closings.at(person, lesson)

    def lesson(self, person: uuid.UUID, lesson: Lesson) -> LessonMarks:
        """This learner's lesson, summed."""
        asked = activities(lesson)
        mine = self.of(person)
        earned: Decimal | None = None
        possible = ZERO
        answered = waiting = ungradable = held = 0
        for activity in asked:
            work = mine.get(activity.id)
            if work is None:
                possible += self.schemes[activity.id].possible
                continue
            marks = work.marks
            answered += 1
            possible += marks.possible
            waiting += marks.is_waiting
            ungradable += marks.is_ungradable
            held += work.graded is not None and not work.graded.is_published
            if marks.earned is not None:
                earned = (earned or ZERO) + marks.earned
        adjustment = self.adjustments.get((person, lesson.id), ZERO)
        if adjustment:
            earned = max(ZERO, (earned or ZERO) + adjustment)
        closes = self.closes_at(person, lesson.id)
        missed = closes is not None and closes < self.now and answered < len(asked)
        return LessonMarks(
            earned, possible, adjustment, answered, len(asked), waiting, ungradable, held,
            closes, missed,
        )  # fmt: skip

    def totals(self, marks: Iterable[LessonMarks]) -> tuple[Decimal | None, Decimal]:
        """Points earned and possible over several lessons."""
        earned: Decimal | None = None
        possible = ZERO
        for item in marks:
            possible += item.possible
            if item.earned is not None:
                earned = (earned or ZERO) + item.earned
        return earned, possible


@dataclass(frozen=True)
class TimedWork(CohortWork):
    """What `timed_work` read: its works say when, and not what graders gave."""

    last_sent: Mapping[uuid.UUID, datetime]  # by person: to whatever question, dropped ones too


def activities(lesson: Lesson) -> list[Activity]:
    return [step.activity for step in lesson.steps if step.activity]


def course_of(cohort: Cohort) -> Course | None:
    shelf = library().shelves.get(cohort.course)
    return shelf.course if shelf else None


def learners(cohort: Cohort, people: Collection[uuid.UUID] | None = None) -> tuple[Learner, ...]:
    rows = Membership.objects.filter(cohort=cohort, role=Role.LEARNER)
    if people is not None:
        rows = rows.filter(person__in=people)
    fields = ("person_id", "ref", "person__name", "person__email", "person__language", "joined_at")
    return tuple(
        Learner(person, ref, name, email or "", language, joined)
        for person, ref, name, email, language, joined in rows.order_by("ref").values_list(*fields)
    )


def cohort_work(
    cohort: Cohort,
    *,
    people: Collection[uuid.UUID] | None = None,
    asked: Collection[str] | None = None,
    published_only: bool = False,
) -> CohortWork:
    """What the cohort's learners submitted and what it got, in eight queries.

    `people` and `asked` (activities) narrow it. With `published_only` a grade that is held back
    counts as not given: what leaves for the learner's eyes.
    """
    work = _empty(cohort, people, asked)
    grades = read_grades(cohort, people, published_only)
    return replace(work, works=read_works(cohort, _ids(work), people, work.schemes, grades))


def timed_work(cohort: Cohort, *, asked: Collection[str] | None = None) -> TimedWork:
    """The same for the overview: when each was begun and handed in, in six queries."""
    work = _empty(cohort, None, asked)
    works, last_sent = read_timed(cohort, _ids(work), None, work.schemes)
    return TimedWork(**vars(work) | {"works": works}, last_sent=last_sent)


def _ids(work: CohortWork) -> set[uuid.UUID]:
    return {learner.person for learner in work.learners}


def _empty(
    cohort: Cohort, people: Collection[uuid.UUID] | None, asked: Collection[str] | None
) -> CohortWork:
    """All but what was submitted."""
    course = course_of(cohort)
    wanted = [
        activity
        for lesson in (course.lessons if course else ())
        for activity in activities(lesson)
        if asked is None or activity.id in asked
    ]
    return CohortWork(
        cohort=cohort,
        course=course,
        learners=learners(cohort, people),
        works={},
        adjustments={
            (person, lesson): points
            for person, lesson, points in Adjustment.objects.filter(cohort=cohort).values_list(
                "person_id", "lesson", "points"
            )
        },
        closings=closings(cohort),
        now=timezone.now(),
        schemes=_schemes(cohort, wanted),
    )


def lesson_marks(
    cohort: Cohort, person: Any, lesson: str, *, published_only: bool = False
) -> LessonMarks | None:
    """One learner's lesson. None: they do not learn here, or there is no such lesson."""
    course = course_of(cohort)
    named = course.lesson(lesson) if course else None
    if named is None:
        return None
    asked = {activity.id for activity in activities(named)}
    work = cohort_work(cohort, people=[person.pk], asked=asked, published_only=published_only)
    return work.lesson(person.pk, named) if work.learners else None


def _schemes(cohort: Cohort, asked: Iterable[Activity]) -> dict[str, Scheme]:
    """Of each Activity. What its lesson declares counts before a grader first opens it, too."""
    rows: dict[str, list[RubricPoint]] = defaultdict(list)
    for point in RubricPoint.objects.filter(cohort=cohort):
        rows[point.activity].append(point)
    return {
        item.id: scoring.scheme(
            item, [*rows[item.id], *rubrics.undone(cohort, item, rows[item.id])]
        )
        for item in asked
    }
