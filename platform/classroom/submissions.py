"""Submissions and what they got, read for many learners at once: a query for the submissions and
two for the grades."""

import json
import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import itemgetter
from typing import NamedTuple

from django.db.models import TextField
from django.db.models.functions import Cast

from classroom.models import Cohort, Grade, GradePoint, Membership, Role
from classroom.scoring import Given, Marks, Scheme
from lessons.checking import Verdict
from lessons.models import Revision, State

Verdicts = Mapping[str, Mapping[str, str]]
_SETTLED = (Verdict.RIGHT, Verdict.WRONG)


@dataclass(frozen=True, slots=True)
class Graded:
    """A Grade without its texts."""

    id: int
    given: Given
    version: int
    is_published: bool
    has_open_look: bool  # the learner asked for another look, and nobody has answered


class Work(NamedTuple):
    """One learner's answer to one Activity, as submitted last.

    A cohort has tens of thousands of them, and most readers want only the marks: ids and times
    stay the database's text until they are asked for.
    """

    revision_text: str
    number: int
    language: str
    submitted_text: str
    run_text: str | None
    verdicts: Verdicts
    tries: int  # submissions
    first_right: bool | None  # of the first submission; None: a machine checks nothing of it
    graded: Graded | None  # of this revision
    earlier_grades: int  # of revisions before it
    marks: Marks
    drafted_text: str  # when the first submission was begun
    sent_text: str  # when it was handed in

    @property
    def revision(self) -> uuid.UUID:
        return uuid.UUID(self.revision_text)

    @property
    def run(self) -> uuid.UUID | None:
        return uuid.UUID(self.run_text) if self.run_text else None

    @property
    def submitted_at(self) -> datetime:
        return moment(self.submitted_text)

    @property
    def drafted_at(self) -> datetime:
        return moment(self.drafted_text)

    @property
    def sent_at(self) -> datetime:
        return moment(self.sent_text)


def moment(text: str) -> datetime:
    """A time as the database writes it: SQLite in UTC without saying so."""
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def read_grades(
    cohort: Cohort, people: Collection[uuid.UUID] | None, published_only: bool
) -> dict[str, Graded]:
    """By revision (the text of its id), in two queries."""
    rows = Grade.objects.filter(cohort=cohort)
    if people is not None:
        rows = rows.filter(revision__answer__person__in=people)
    if published_only:
        rows = rows.exclude(published_at=None)
    points: dict[int, list[int]] = defaultdict(list)
    for grade, point in GradePoint.objects.filter(grade__in=rows).values_list(
        "grade_id", "point_id"
    ):
        points[grade].append(point)
    fields = (
        "id", Cast("revision_id", TextField()), "adjustment", "is_ungradable", "version",
        "published_at", "second_look__id", "second_look__answered_at",
    )  # fmt: skip
    return {
        revision: Graded(
            key,
            Given(tuple(points[key]), adjustment, is_ungradable),
            version,
            published is not None,
            look is not None and answered is None,
        )
        for key, revision, adjustment, is_ungradable, version, published, look, answered in (
            rows.values_list(*fields)
        )
    }


_Row = tuple[str, str, str, int, str, str, str | None, str, str]
_FIELDS = ("answer__person_id", "answer__activity", "id", "number", "language", "submitted_at",
           "run", "created_at", "verdicts")  # fmt: skip
_number = itemgetter(3)
_PLAIN = ("answer__activity", "number", "language")  # the others are read as text


def read_works(
    cohort: Cohort,
    learning: Collection[uuid.UUID],
    people: Collection[uuid.UUID] | None,
    schemes: Mapping[str, Scheme],
    grades: Mapping[str, Graded],
) -> dict[uuid.UUID, dict[str, Work]]:
    """Every submission is read, as tuples, for the first one says what was right at once."""
    rows = Revision.objects.filter(answer__course=cohort.course, state=State.SUBMITTED)
    if people is None:  # of many: a list of them would be too long for a query
        members = Membership.objects.filter(cohort=cohort, role=Role.LEARNER)
        rows = rows.filter(answer__person__in=members.values("person"))
    else:
        rows = rows.filter(answer__person__in=people)
    fields = [name if name in _PLAIN else Cast(name, TextField()) for name in _FIELDS]
    persons = {text: person for person in learning for text in (person.hex, str(person))}
    found: dict[str, dict[str, list[_Row]]] = {}
    for row in rows.order_by().values_list(*fields):  # sorting the few here is the cheaper way
        if row[0] in persons and row[1] in schemes:
            mine = found.setdefault(row[0], {})
            mine.setdefault(row[1], []).append(row)
    reader = _Reader(schemes)
    return {
        persons[text]: {name: reader.work(name, rows, grades) for name, rows in mine.items()}
        for text, mine in found.items()
    }


class _Reader:
    """Turns submissions into Work. Most answers share a few sets of verdicts: each is parsed and
    added up once."""

    def __init__(self, schemes: Mapping[str, Scheme]) -> None:
        self.schemes = schemes
        self.parsed: dict[str, Verdicts] = {}
        self.machine: dict[tuple[str, str], Marks] = {}  # without a grade
        self.rights: dict[tuple[str, str], bool | None] = {}

    def work(self, activity: str, revisions: Sequence[_Row], grades: Mapping[str, Graded]) -> Work:
        earlier = 0
        if len(revisions) > 1:
            revisions = sorted(revisions, key=_number)
            earlier = sum(row[2] in grades for row in revisions[:-1])
        first = revisions[0]
        _person, _activity, revision, number, language, at, run, _created, text = revisions[-1]
        graded = grades.get(revision)
        if graded:
            marks = self.schemes[activity].marks(self.verdicts(text), graded.given)
        else:
            marks = self.ungraded(activity, text)
        return Work(
            revision, number, language, at, run, self.verdicts(text), len(revisions),
            self.right(activity, first[-1]), graded, earlier, marks, first[-2], first[5],
        )  # fmt: skip

    def verdicts(self, text: str) -> Verdicts:
        if text not in self.parsed:
            self.parsed[text] = json.loads(text)
        return self.parsed[text]

    def ungraded(self, activity: str, text: str) -> Marks:
        key = (activity, text)
        if key not in self.machine:
            self.machine[key] = self.schemes[activity].marks(self.verdicts(text), None)
        return self.machine[key]

    def right(self, activity: str, text: str) -> bool | None:
        key = (activity, text)
        if key not in self.rights:
            verdicts = self.verdicts(text)
            checked = [verdicts.get(f, {}).get("verdict") for f in self.schemes[activity].checked]
            settled = [verdict for verdict in checked if verdict in _SETTLED]
            self.rights[key] = all(v == Verdict.RIGHT for v in settled) if settled else None
        return self.rights[key]
