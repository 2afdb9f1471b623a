"""The grading queue: what was submitted to each question, in an order that tells nothing.

The order of a question's answers is by a hash of the cohort, the question and the ref: the same
for every grader and every day, neither alphabetical nor by time.
"""

import hashlib
import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import Count, Exists, FilteredRelation, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast

from classroom.models import Cohort, Membership, Role, SecondLook, Share
from lessons.content import structure as s
from lessons.content.library import Library, Shelf, library
from lessons.models import Revision
from lessons.models import State as RevisionState

_BROKEN = '"ungraded"'  # as it stands in a revision's verdicts when a check of ours failed


class Stand(StrEnum):
    """Where an answer stands; the first that holds."""

    WAITING = "waiting"  # for a grader
    UNGRADABLE = "ungradable"  # could not be graded, or not be checked
    GRADED = "graded"
    CHECKED = "checked"  # by machine: nobody needs to look, anybody may


class Part(StrEnum):
    """What of a question's answers is shown."""

    WAITING = "waiting"
    GRADED = "graded"
    UNGRADABLE = "ungradable"
    LOOKS = "looks"
    ALL = "all"


@dataclass(frozen=True)
class Question:
    """An Activity of the cohort's course, with where it stands in it."""

    shelf: Shelf
    library: Library
    lesson: s.Lesson
    step: s.Step
    activity: s.Activity

    @property
    def has_text(self) -> bool:
        return any(isinstance(item, s.TextField) for item in self.activity.fields)


@dataclass(frozen=True, slots=True)
class Entry:
    """One learner's answer, as submitted last."""

    ref: str
    revision: uuid.UUID
    number: int
    stand: Stand
    is_graded: bool
    look: int  # the number of the revision whose grade is to be looked at again; 0: none


@dataclass(frozen=True)
class Tally:
    """How a question stands."""

    total: int = 0
    waiting: int = 0
    graded: int = 0  # by a person
    checked: int = 0  # by machine alone
    ungradable: int = 0
    looks: int = 0

    @property
    def done(self) -> int:
        return self.total - self.waiting


class NoSuchQuestion(Exception):
    """The course asks nothing of that name (any more)."""


def questions(cohort: Cohort) -> list[Question]:
    """Every question of the cohort's course, in its order."""
    current = library()
    shelf = current.shelves.get(cohort.course)
    if shelf is None:
        return []
    return [
        Question(shelf, current, lesson, step, step.activity)
        for lesson, step in shelf.course.steps()
        if step.activity and lesson.id not in shelf.broken
    ]


def question(cohort: Cohort, activity: str) -> Question:
    """Raises NoSuchQuestion."""
    for found in questions(cohort):
        if found.activity.id == activity:
            return found
    raise NoSuchQuestion(activity)


def latest(cohort: Cohort) -> QuerySet[Revision]:
    """The last submission of each answer of the cohort's learners, with its `grade` here."""
    return _latest(
        cohort,
        answer__person__memberships__cohort=cohort,
        answer__person__memberships__role=Role.LEARNER,
    )


def _latest(cohort: Cohort, **learners: Any) -> QuerySet[Revision]:
    newer = Revision.objects.filter(
        answer=OuterRef("answer"), state=RevisionState.SUBMITTED, number__gt=OuterRef("number")
    )
    rows = Revision.objects.filter(
        **learners, answer__course=cohort.course, state=RevisionState.SUBMITTED
    )
    return (
        rows.filter(~Exists(newer))
        .annotate(grade=FilteredRelation("grades", condition=Q(grades__cohort=cohort)))
        .order_by()
    )


def tallies(cohort: Cohort, asked: Iterable[Question]) -> dict[str, Tally]:
    """By activity, in two queries whatever the size.

    A check of ours that failed counts as `checked` here: verdicts are long to read, and the
    question's own page tells them apart.
    """
    ungraded = Q(grade__id=None)
    # Who learns here is looked up in a list made once, and not for each of their answers.
    learners = Membership.objects.filter(cohort=cohort, role=Role.LEARNER)
    rows = {
        row["answer__activity"]: row
        for row in _latest(cohort, answer__person__in=learners.values("person"))
        .values("answer__activity")
        .annotate(
            total=Count("id"),
            ungraded=Count("id", filter=ungraded),
            ungradable=Count("id", filter=Q(grade__is_ungradable=True)),
        )
    }
    looks = dict(
        open_looks(cohort)
        .values_list("grade__revision__answer__activity")
        .annotate(n=Count("id"))
        .order_by()
    )
    found = {}
    for item in asked:
        if (row := rows.get(item.activity.id)) is None:
            found[item.activity.id] = Tally()
            continue
        waiting = row["ungraded"] if item.has_text else 0
        found[item.activity.id] = Tally(
            total=row["total"],
            waiting=waiting,
            graded=row["total"] - row["ungraded"] - row["ungradable"],
            checked=row["ungraded"] - waiting,
            ungradable=row["ungradable"],
            looks=looks.get(item.activity.id, 0),
        )
    return found


def entries(cohort: Cohort, asked: Question) -> list[Entry]:
    """The question's answers in their order, in two queries."""
    activity = asked.activity.id
    looks: dict[str, int] = dict(
        open_looks(cohort)
        .filter(grade__revision__answer__activity=activity)
        .values_list("grade__revision__answer__person__memberships__ref", "grade__revision__number")
    )
    rows = latest(cohort).filter(answer__activity=activity)
    rows = rows.annotate(said=Cast("verdicts", TextField()))
    fields = ("answer__person__memberships__ref", "id", "number", "grade__id",
              "grade__is_ungradable")  # fmt: skip
    said = () if asked.has_text else ("said",)  # only a machine's verdict may have failed
    found = []
    for ref, revision, number, grade, is_ungradable, *verdicts in rows.values_list(*fields, *said):
        stand = _stand(asked, grade is not None, is_ungradable, "".join(verdicts))
        found.append(Entry(ref, revision, number, stand, grade is not None, looks.get(ref, 0)))
    found.sort(key=lambda entry: weight(cohort, activity, entry.ref))
    return found


def open_looks(cohort: Cohort) -> QuerySet[SecondLook]:
    """Asked for, not answered, by people who still learn here."""
    return SecondLook.objects.filter(
        grade__cohort=cohort,
        answered_at=None,
        grade__revision__answer__person__memberships__cohort=cohort,
        grade__revision__answer__person__memberships__role=Role.LEARNER,
    )


def weight(cohort: Cohort, activity: str, ref: str) -> str:
    """What the answers of a question are sorted by."""
    return hashlib.sha256(f"{cohort.id}/{activity}/{ref}".encode()).hexdigest()


def part_of(found: Iterable[Entry], part: Part) -> list[Entry]:
    match part:
        case Part.ALL:
            return list(found)
        case Part.LOOKS:
            return [entry for entry in found if entry.look]
        case Part.GRADED:
            return [e for e in found if e.stand in (Stand.GRADED, Stand.CHECKED)]
        case _:
            return [entry for entry in found if entry.stand == part.value]


def mine(
    cohort: Cohort, activity: str, found: Sequence[Entry], grader: Any, shares: Sequence[Share]
) -> list[Entry]:
    """The grader's own part: whose place among all the cohort's learners falls to them.

    Everything, where the question is not split or they have no part in it.
    """
    own = next((place for place, share in enumerate(shares) if share.grader_id == grader.pk), None)
    if own is None:
        return list(found)
    refs = Membership.objects.filter(cohort=cohort, role=Role.LEARNER).values_list("ref", flat=True)
    places = sorted(refs, key=lambda ref: weight(cohort, activity, ref))
    theirs = {ref for place, ref in enumerate(places) if place % len(shares) == own}
    return [entry for entry in found if entry.ref in theirs]


def shares_of(cohort: Cohort, activities: Collection[str] | None = None) -> dict[str, list[Share]]:
    """By activity: its graders in order, those who still teach here."""
    rows = Share.objects.filter(
        cohort=cohort,
        grader__memberships__cohort=cohort,
        grader__memberships__role__in=(Role.ASSISTANT, Role.INSTRUCTOR),
    ).select_related("grader")
    if activities is not None:
        rows = rows.filter(activity__in=activities)
    found: dict[str, list[Share]] = {}
    for row in rows.order_by("position", "id"):
        found.setdefault(row.activity, []).append(row)
    return found


def _stand(asked: Question, graded: bool, is_ungradable: bool | None, said: str) -> Stand:
    if graded:
        return Stand.UNGRADABLE if is_ungradable else Stand.GRADED
    if asked.has_text:
        return Stand.WAITING
    return Stand.UNGRADABLE if _BROKEN in said else Stand.CHECKED


__all__ = [
    "Entry", "NoSuchQuestion", "Part", "Question", "Stand", "Tally", "entries", "latest", "mine",
    "open_looks", "part_of", "question", "questions", "shares_of", "tallies", "weight",
]  # fmt: skip
