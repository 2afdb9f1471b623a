"""What the learners did: pages opened, answers typed, handed in, corrected and left as drafts."""

import random
import uuid
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from classroom import filling
from classroom.demonstration.people import Learner
from classroom.demonstration.script import script
from lessons.checking import Typed, Verdict
from lessons.content.structure import Activity, Course, Lesson, Step, TextField
from lessons.models import Answer, Revision, Visit

COURSE = "rmsnorm"
DAYS_A_LESSON = 3.2
SAME = ("exercise-hypothesis", "why")  # several hand in the very same sentence
EARLIER_KEY = "0" * 16
MENDED = "what-drift"  # its key was mended after they answered: there is something to re-check


@dataclass
class Paper:
    """One handed-in text with the rubric points that it earns."""

    learner: Learner
    activity: Activity
    revision: Revision
    earned: dict[str, set[str]]  # by field


@dataclass
class Work:
    """Rows to be stored, and what graders need to know of them."""

    visits: list[Visit] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    revisions: list[Revision] = field(default_factory=list)
    papers: list[Paper] = field(default_factory=list)

    def save(self) -> None:
        Visit.objects.bulk_create(self.visits, batch_size=500)
        Answer.objects.bulk_create(self.answers, batch_size=500)
        Revision.objects.bulk_create(self.revisions, batch_size=500)


@dataclass(frozen=True)
class Moment:
    """A learner comes to a step."""

    learner: Learner
    lesson: Lesson
    step: Step
    at: datetime
    is_last: bool  # the last one they opened


def moments(
    everybody: Collection[Learner], course: Course, now: datetime, chance: random.Random
) -> Iterator[Moment]:
    """In each learner's own time: a lesson every few days, a step every few minutes."""
    for learner in everybody:
        late = timedelta(hours=chance.uniform(0, 40))
        began = now - timedelta(days=DAYS_A_LESSON * len(course.lessons)) + late
        if learner.is_stuck:
            began -= timedelta(days=2)
        path = list(_path(learner, course))
        for place, (number, lesson, step, within) in enumerate(path):
            at = began + timedelta(days=DAYS_A_LESSON * number, minutes=11 * within)
            at += timedelta(minutes=chance.uniform(0, 6))
            if at < now - timedelta(minutes=30):
                yield Moment(learner, lesson, step, at, place == len(path) - 1)


def answer(work: Work, moment: Moment, run: uuid.UUID | None, chance: random.Random) -> None:
    """Open the step, and answer its question if it has one."""
    opened = moment.at - timedelta(minutes=chance.uniform(1.5, 9))
    work.visits.append(
        Visit(
            person=moment.learner.person, course=COURSE, lesson=moment.lesson.id,
            step=moment.step.id, at=moment.at, first_at=opened,
        )
    )  # fmt: skip
    if moment.step.activity is None:
        return
    row = Answer(
        person=moment.learner.person,
        course=COURSE,
        activity=moment.step.activity.id,
    )
    work.answers.append(row)
    if moment.is_last and chance.random() < 0.7:
        typed = _typed(moment, chance, right=True)[0]
        work.revisions.append(filling.drafted(row, typed, moment.at, moment.learner.language))
        row.version = 1
        return
    _hand_in(work, moment, row, run, chance)


def _hand_in(
    work: Work, moment: Moment, row: Answer, run: uuid.UUID | None, chance: random.Random
) -> None:
    """Once, or until it is right, or until they have had enough."""
    assert moment.step.activity is not None
    at = moment.at
    for number in range(1, 4):
        is_right = chance.random() < moment.learner.skill + 0.15 * (number - 1)
        typed, earned = _typed(moment, chance, right=is_right)
        revision = filling.submitted(
            row, moment.step.activity, typed, at,
            language=moment.learner.language, number=number, run=run,
        )  # fmt: skip
        if moment.step.activity.id == MENDED:
            _as_with_the_earlier_key(revision)
        work.revisions.append(revision)
        row.version = number
        if earned:
            work.papers.append(Paper(moment.learner, moment.step.activity, revision, earned))
        if is_right or chance.random() < 0.35:
            return
        at += timedelta(minutes=chance.uniform(2, 25))


def _typed(
    moment: Moment, chance: random.Random, right: bool
) -> tuple[dict[str, Typed], dict[str, set[str]]]:
    """What stands in the form, and the points that its texts earn."""
    activity, learner = moment.step.activity, moment.learner
    assert activity is not None
    typed = (
        filling.right(activity, learner.language)
        if right
        else filling.wrong(activity, learner.language, chance=chance)
    )
    earned: dict[str, set[str]] = {}
    for item in activity.fields:
        if not isinstance(item, TextField):
            continue
        points = script().points_of(activity, item)
        given = {point for point in points if chance.random() < learner.care}
        text = script().text(activity, item, given, learner.language, chance)
        if (activity.id, item.id) == SAME and chance.random() < 0.4:
            given, text = {"n-equals-block", "size-257"}, script().same[learner.language]
        typed[item.id] = Typed(text)
        earned[item.id] = given
    return typed, earned


def _as_with_the_earlier_key(revision: Revision) -> None:
    """The key once said 15 where it says 16 now."""
    revision.checked_as = EARLIER_KEY
    layers = revision.content["layers"]["value"]
    right = Verdict.RIGHT if layers == "15/1" else Verdict.WRONG
    revision.verdicts["layers"] = {"verdict": str(right)}


def _path(learner: Learner, course: Course) -> Iterator[tuple[int, Lesson, Step, int]]:
    for number, lesson in enumerate(course.lessons):
        share = min(1.0, learner.lessons - number)
        if share <= 0:
            return
        many = max(1, round(share * len(lesson.steps)))
        for within, step in enumerate(lesson.steps[:many]):
            yield number, lesson, step, within
