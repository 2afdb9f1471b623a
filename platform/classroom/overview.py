"""How a cohort gets on, in numbers: per lesson, per question, and who is stuck.

Work of learners who were erased counts in what can be counted without them (PastWork).
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from classroom.models import Cohort, Membership, PastWork, Role
from classroom.progress import TimedWork, Work, activities, timed_work
from classroom.submissions import moment
from lessons.content.structure import Lesson, Step
from lessons.models import Visit
from runner import api as runner
from runner.api import Ending

Opened = Mapping[tuple[str, str], Mapping[uuid.UUID, datetime]]  # (lesson, step) -> who, when first


@dataclass
class Tally:
    """Counts of one lesson or question. `checked`: answers of which a machine could judge
    something at the first try; `right` of them were right in all of it."""

    reached: int = 0
    answered: int = 0
    checked: int = 0
    right: int = 0
    tries: int = 0  # submissions of those who answered
    # From the first look to the first answer; of a lesson, for all its questions together.
    seconds: list[float] = field(default_factory=list)
    runs: Counter[str] = field(default_factory=Counter)  # by outcome

    @property
    def median_seconds(self) -> float | None:
        return median(self.seconds) if self.seconds else None

    def add(self, first_right: Sequence[bool | None], tries: int) -> None:
        """Answers: whether each was right at the first try (None: not for a machine to say), and
        how often they were sent together."""
        self.answered += len(first_right)
        self.tries += tries
        self.checked += len(first_right) - first_right.count(None)
        self.right += first_right.count(True)


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
    work: TimedWork
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
    work = timed_work(cohort)
    past = _past(cohort)
    opened = _opened(cohort)
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    for ending in runs:
        outcomes[ending.lesson][ending.outcome] += 1
    found = tuple(
        _lesson(work, lesson, opened, past.get(lesson.id, []), outcomes[lesson.id])
        for lesson in work.lessons
    )
    return Overview(work, found, max((_gone(rows) for rows in past.values()), default=0))


def lesson_overview(cohort: Cohort, lesson: Lesson) -> tuple[TimedWork, tuple[QuestionTally, ...]]:
    """Every step of the lesson that asks or runs something."""
    asked = {activity.id for activity in activities(lesson)}
    work = timed_work(cohort, asked=asked)
    opened = _opened(cohort, lesson.id)
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    for ending in runs_of(cohort, lesson.id):
        outcomes[ending.step][ending.outcome] += 1
    past: dict[str, list[PastWork]] = defaultdict(list)
    for row in _past(cohort).get(lesson.id, []):
        past[row.activity].append(row)
    return work, tuple(
        _question(work, step, opened.get((lesson.id, step.id), {}), past, outcomes[step.id])
        for step in lesson.steps
        if step.activity or step.run
    )


def _lesson(
    work: TimedWork,
    lesson: Lesson,
    opened: Opened,
    past: Sequence[PastWork],
    outcomes: Counter[str],
) -> LessonTally:
    asked = [(step.id, step.activity.id) for step in lesson.steps if step.activity]
    tally, answers, done = Tally(runs=outcomes), 0, 0
    reached = {
        person for (name, _step), who in opened.items() if name == lesson.id for person in who
    }
    for learner in work.learners:
        mine, person = work.of(learner.person), learner.person
        given = [(step, mine[name]) for step, name in asked if name in mine]
        if not given:
            continue
        reached.add(person)
        rights = [answer.first_right for _step, answer in given]
        tally.add(rights, sum(answer.tries for _step, answer in given))
        answers += len(given)
        if len(given) == len(asked):
            done += 1
            if (seconds := _together(given, person, lesson.id, opened)) is not None:
                tally.seconds.append(seconds)
    names = {name for _step, name in asked}
    gone = [row for row in past if row.activity in names and row.was_answered]
    tally.add([row.was_right_first for row in gone], sum(row.tries for row in gone))
    tally.reached = len(reached) + _gone(past)
    # Which of those who are gone answered everything is not known; no more than the rarest answer.
    per_question = Counter(row.activity for row in gone)
    tally.answered = done + min((per_question[name] for name in names), default=0)
    return LessonTally(lesson, tally, answers + len(gone))


def _together(
    given: Iterable[tuple[str, Work]], person: uuid.UUID, lesson: str, opened: Opened
) -> float | None:
    """Seconds that the answers of a lesson took together; None where one of them is not known."""
    total = 0.0
    for step, answer in given:
        seconds = taken(answer, opened.get((lesson, step), {}).get(person))
        if seconds is None:
            return None
        total += seconds
    return total


def _question(
    work: TimedWork,
    step: Step,
    opened: Mapping[uuid.UUID, datetime],
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
        tally.add([answer.first_right], answer.tries)
        if (seconds := taken(answer, opened.get(learner.person))) is not None:
            tally.seconds.append(seconds)
    gone = [row for row in past.get(name, []) if name and row.was_answered]
    for row in gone:
        tally.add([row.was_right_first], row.tries)
        if row.seconds is not None:
            tally.seconds.append(row.seconds)
    tally.reached = len(reached) + len(gone)
    return QuestionTally(step, tally)


def taken(answer: Work, opened: datetime | None) -> float | None:
    """Seconds from the first look (or the first draft) to the first answer. None where it was
    sent at once by who never opened the page."""
    if opened is None and answer.drafted_text == answer.sent_text:
        return None  # of tens of thousands many: no time of theirs is worth reading
    sent = answer.sent_at
    start = min(answer.drafted_at, opened) if opened else answer.drafted_at
    return (sent - start).total_seconds() if start < sent else None


def _opened(cohort: Cohort, lesson: str = "") -> Opened:
    """Who opened each step, and when first."""
    rows = Visit.objects.filter(course=cohort.course, person__in=learner_ids(cohort))
    if lesson:
        rows = rows.filter(lesson=lesson)
    times = (Cast("first_at", TextField()), Cast("at", TextField()))
    persons: dict[str, uuid.UUID] = {}
    found: dict[tuple[str, str], dict[uuid.UUID, datetime]] = defaultdict(dict)
    fields = (Cast("person", TextField()), "lesson", "step", *times)
    for text, name, step, first, last in rows.values_list(*fields):
        person = persons.get(text) or persons.setdefault(text, uuid.UUID(text))
        found[name, step][person] = min(moment(first), moment(last))
    return dict(found)


def _past(cohort: Cohort) -> dict[str, list[PastWork]]:
    found: dict[str, list[PastWork]] = defaultdict(list)
    for row in PastWork.objects.filter(cohort=cohort):
        found[row.lesson].append(row)
    return dict(found)


def _gone(past: Iterable[PastWork]) -> int:
    """People behind these rows of one lesson: each left a row for every page they reached, one
    for the lesson itself and one for a question."""
    return max(Counter(row.activity for row in past).values(), default=0)
