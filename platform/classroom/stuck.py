"""Who needs a hand: nothing for a week, or one step whose Runs keep failing."""

import uuid
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Max

from classroom.models import Cohort
from classroom.overview import learner_ids
from classroom.progress import CohortWork, Learner, TimedWork, activities
from kernels.events import Outcome
from lessons.content.structure import Lesson, Step
from lessons.models import Revision, State, Visit
from runner.api import Ending

QUIET = timedelta(days=7)
MOST_FAILURES = 5
# What says something about the learner's work; a stop or a fault of ours does not.
_FAILED = (Outcome.FAILED, Outcome.ERROR_IN_CODE, Outcome.OUT_OF_MEMORY, Outcome.TIMED_OUT)


@dataclass(frozen=True)
class Quiet:
    """Somebody who has not finished and has done nothing for a week."""

    learner: Learner
    since: datetime
    place: tuple[Lesson, Step] | None  # the step they opened last


@dataclass(frozen=True)
class Failing:
    """Somebody whose latest Runs on a step all failed."""

    learner: Learner
    lesson: Lesson
    step: Step
    failures: int


def quiet(cohort: Cohort, work: TimedWork, runs: Iterable[Ending]) -> list[Quiet]:
    """Longest first."""
    asked = {activity.id for lesson in work.lessons for activity in activities(lesson)}
    last = _last_done(cohort, work, runs)
    places = _last_places(cohort)
    found = []
    for learner in work.learners:
        since = max(last.get(learner.person, learner.joined_at), learner.joined_at)
        finished = asked <= set(work.of(learner.person))
        if asked and not finished and work.now - since >= QUIET:
            lesson, step = places.get(learner.person, ("", ""))
            found.append(Quiet(learner, since, _place(work, lesson, step)))
    return sorted(found, key=lambda item: item.since)


def failing(work: CohortWork, runs: Iterable[Ending]) -> list[Failing]:
    """Most failures first."""
    people = {learner.person: learner for learner in work.learners}
    found = []
    for (person, lesson, step), count in _streaks(runs).items():
        place = _place(work, lesson, step)
        if count >= MOST_FAILURES and person in people and place:
            found.append(Failing(people[person], *place, count))
    return sorted(found, key=lambda item: (-item.failures, item.learner.ref))


def _streaks(runs: Iterable[Ending]) -> dict[tuple[uuid.UUID, str, str], int]:
    """By person and step: how many Runs failed since one passed."""
    found: dict[tuple[uuid.UUID, str, str], int] = {}
    for run in runs:
        key = (run.owner, run.lesson, run.step)
        if run.outcome == Outcome.PASSED:
            found.pop(key, None)
        elif run.outcome in _FAILED:
            found[key] = found.get(key, 0) + 1
    return found


def _last_done(
    cohort: Cohort, work: TimedWork, runs: Iterable[Ending]
) -> dict[uuid.UUID, datetime]:
    """When each last opened, wrote or ran something."""
    learning = learner_ids(cohort)
    found: dict[uuid.UUID, list[datetime]] = defaultdict(list)
    visits = Visit.objects.filter(course=cohort.course, person__in=learning)
    for person, at in visits.values_list("person_id").annotate(last=Max("at")).order_by():
        found[person].append(at)
    for person, at in work.last_sent.items():
        found[person].append(at)
    drafts = Revision.objects.filter(
        answer__course=cohort.course, answer__person__in=learning
    ).exclude(state=State.SUBMITTED)
    rows = drafts.values_list("answer__person_id").annotate(last=Max("saved_at")).order_by()
    for person, at in rows:
        found[person].append(at)
    for run in runs:
        found[run.owner].append(run.ended_at)
    return {person: max(times) for person, times in found.items()}


def _last_places(cohort: Cohort) -> dict[uuid.UUID, tuple[str, str]]:
    visits = Visit.objects.filter(course=cohort.course, person__in=learner_ids(cohort))
    rows = visits.order_by("at").values_list("person_id", "lesson", "step")
    return {person: (lesson, step) for person, lesson, step in rows}


def _place(work: CohortWork, lesson: str, step: str) -> tuple[Lesson, Step] | None:
    named = work.course.lesson(lesson) if work.course else None
    here = named.step(step) if named else None
    return (named, here) if named and here else None
