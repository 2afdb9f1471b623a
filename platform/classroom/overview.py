"""How a cohort gets on, in numbers: per lesson, per question, and who is stuck.

Work of learners who were erased counts in what can be counted without them (PastWork).
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median

from django.db.models import Min, QuerySet, TextField
from django.db.models.functions import Cast

from classroom.models import Cohort, Membership, PastWork, Role
from classroom.progress import CohortWork, activities, cohort_work
from lessons.content.structure import Lesson, Step
from lessons.models import Revision, State, Visit
from runner import api as runner
from runner.api import Ending


@dataclass
class Tally:
    """Counts of one lesson or question. `checked`: answers of which a machine could judge
    something at the first try; `right` of them were right in all of it."""

    reached: int = 0
    answered: int = 0
    checked: int = 0
    right: int = 0
    tries: int = 0  # submissions of those who answered
    seconds: list[float] = field(default_factory=list)  # from the first look to the first answer
    runs: Counter[str] = field(default_factory=Counter)  # by outcome

    @property
    def median_seconds(self) -> float | None:
        return median(self.seconds) if self.seconds else None

    def add(self, first_right: bool | None, tries: int) -> None:
        self.answered += 1
        self.tries += tries
        self.checked += first_right is not None
        self.right += first_right is True


@dataclass(frozen=True)
class LessonTally:
    """In a lesson `answered` counts who answered all of its questions; what was right at the
    first try is summed over its questions."""

    lesson: Lesson
    tally: Tally
    answers: int  # to its questions, together


@dataclass(frozen=True)
class QuestionTally:
    step: Step
    tally: Tally


@dataclass(frozen=True)
class Overview:
    work: CohortWork
    lessons: tuple[LessonTally, ...]
    past: int  # learners who were erased, as far as their numbers say: the most in one lesson

    @property
    def people(self) -> int:
        return len(self.work.learners) + self.past


def learner_ids(cohort: Cohort) -> QuerySet[Membership, uuid.UUID]:
    """As a query, to be a part of others."""
    rows = Membership.objects.filter(cohort=cohort, role=Role.LEARNER)
    return rows.values_list("person_id", flat=True)


def runs_of(cohort: Cohort, lesson: str = "") -> list[Ending]:
    """How the Runs of the cohort's learners ended, oldest first."""
    return list(runner.endings(learner_ids(cohort), cohort.course, lesson))


def overview(cohort: Cohort, runs: Iterable[Ending]) -> Overview:
    """Every lesson of the cohort's course."""
    work = cohort_work(cohort)
    past = _past(cohort)
    visited: dict[str, set[uuid.UUID]] = defaultdict(set)
    visits = Visit.objects.filter(course=cohort.course, person__in=learner_ids(cohort))
    for lesson, person in visits.values_list("lesson", "person_id").distinct():
        visited[lesson].add(person)
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    for ending in runs:
        outcomes[ending.lesson][ending.outcome] += 1
    found = tuple(
        _lesson(work, lesson, visited[lesson.id], past.get(lesson.id, []), outcomes[lesson.id])
        for lesson in work.lessons
    )
    return Overview(work, found, max((_gone(rows) for rows in past.values()), default=0))


def lesson_overview(cohort: Cohort, lesson: Lesson) -> tuple[CohortWork, tuple[QuestionTally, ...]]:
    """Every step of the lesson that asks or runs something."""
    asked = {activity.id for activity in activities(lesson)}
    work = cohort_work(cohort, asked=asked)
    opened = _opened(cohort, lesson)
    began = _began(cohort, asked)
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    for ending in runs_of(cohort, lesson.id):
        outcomes[ending.step][ending.outcome] += 1
    past: dict[str, list[PastWork]] = defaultdict(list)
    for row in _past(cohort).get(lesson.id, []):
        past[row.activity].append(row)
    return work, tuple(
        _question(work, step, opened[step.id], began, past, outcomes[step.id])
        for step in lesson.steps
        if step.activity or step.run
    )


def _lesson(
    work: CohortWork,
    lesson: Lesson,
    visited: set[uuid.UUID],
    past: Sequence[PastWork],
    outcomes: Counter[str],
) -> LessonTally:
    asked = [activity.id for activity in activities(lesson)]
    tally, answers = Tally(runs=outcomes), 0
    reached = set(visited)
    done = 0
    for learner in work.learners:
        mine = work.of(learner.person)
        count = 0
        for activity in asked:
            if answer := mine.get(activity):
                count += 1
                tally.add(answer.first_right, answer.tries)
        answers += count
        if count:
            reached.add(learner.person)
        done += bool(asked) and count == len(asked)
    gone = [row for row in past if row.activity in asked and row.was_answered]
    for row in gone:
        tally.add(row.was_right_first, row.tries)
    tally.reached = len(reached) + _gone(past)
    # Which of those who are gone answered everything is not known; no more than the rarest answer.
    per_question = Counter(row.activity for row in gone)
    tally.answered = done + min((per_question[activity] for activity in asked), default=0)
    return LessonTally(lesson, tally, answers + len(gone))


def _question(
    work: CohortWork,
    step: Step,
    opened: Mapping[uuid.UUID, datetime],
    began: Mapping[tuple[str, str], tuple[datetime, datetime]],
    past: Mapping[str, list[PastWork]],
    outcomes: Counter[str],
) -> QuestionTally:
    tally = Tally(runs=outcomes)
    reached = set(opened)
    name = step.activity.id if step.activity else ""
    for learner in work.learners:
        answer = work.of(learner.person).get(name)
        if answer is None:
            continue
        reached.add(learner.person)
        tally.add(answer.first_right, answer.tries)
        drafted, sent = began[learner.person.hex, name]
        start = min(drafted, opened.get(learner.person, drafted))
        if start < sent:  # sent at once by who never opened the page: how long is not known
            tally.seconds.append((sent - start).total_seconds())
    gone = [row for row in past.get(name, []) if name and row.was_answered]
    for row in gone:
        tally.add(row.was_right_first, row.tries)
        if row.seconds is not None:
            tally.seconds.append(row.seconds)
    tally.reached = len(reached) + len(gone)
    return QuestionTally(step, tally)


def _opened(cohort: Cohort, lesson: Lesson) -> dict[str, dict[uuid.UUID, datetime]]:
    """By step: who opened it, and when first."""
    found: dict[str, dict[uuid.UUID, datetime]] = defaultdict(dict)
    rows = Visit.objects.filter(
        course=cohort.course, lesson=lesson.id, person__in=learner_ids(cohort)
    )
    for step, person, first, last in rows.values_list("step", "person_id", "first_at", "at"):
        found[step][person] = min(first, last)
    return found


def _began(cohort: Cohort, asked: set[str]) -> dict[tuple[str, str], tuple[datetime, datetime]]:
    """By person (hex) and Activity: when the first draft was saved and the first answer sent."""
    rows = (
        Revision.objects.filter(
            answer__course=cohort.course,
            answer__activity__in=asked,
            answer__person__in=learner_ids(cohort),
            state=State.SUBMITTED,
        )
        .values_list(Cast("answer__person", TextField()), "answer__activity")
        .annotate(drafted=Min("created_at"), sent=Min("submitted_at"))
        .order_by()
    )
    return {
        (person.replace("-", ""), activity): (drafted, sent)
        for person, activity, drafted, sent in rows
    }


def _past(cohort: Cohort) -> dict[str, list[PastWork]]:
    found: dict[str, list[PastWork]] = defaultdict(list)
    for row in PastWork.objects.filter(cohort=cohort):
        found[row.lesson].append(row)
    return dict(found)


def _gone(past: Iterable[PastWork]) -> int:
    """People behind these rows of one lesson: each left a row for every page they reached, one
    for the lesson itself and one for a question."""
    return max(Counter(row.activity for row in past).values(), default=0)
