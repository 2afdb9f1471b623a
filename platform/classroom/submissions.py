"""Submissions and what they got, read for many learners at once: a query for the submissions and
two for the grades."""

import json
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
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

    given: Given
    is_published: bool


class Work(NamedTuple):
    """One learner's answer to one Activity, as submitted last.

    A cohort has tens of thousands of them, and most readers want only the marks: ids and times
    stay the database's text until they are asked for.
    """

    tries: int  # submissions
    first_right: bool | None  # of the first submission; None: a machine checks nothing of it
    marks: Marks  # where grades are not read: of the machine alone
    graded: Graded | None = None
    revision_text: str = ""
    drafted_text: str = ""  # when the first submission was begun
    sent_text: str = ""  # when it was handed in
    last_text: str = ""  # when the last one was

    @property
    def revision(self) -> uuid.UUID:
        return uuid.UUID(self.revision_text)

    @property
    def drafted_at(self) -> datetime:
        return moment(self.drafted_text)

    @property
    def sent_at(self) -> datetime:
        return moment(self.sent_text)


def moment(text: str) -> datetime:
    """A time as the database writes it: SQLite in UTC without saying so."""
    return datetime.fromisoformat(text if "+" in text else f"{text}+00:00")


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
        "id", Cast("revision_id", TextField()), "adjustment", "is_ungradable", "published_at",
    )  # fmt: skip
    return {
        revision: Graded(
            Given(tuple(points[key]), adjustment, is_ungradable), published is not None
        )
        for key, revision, adjustment, is_ungradable, published in rows.values_list(*fields)
    }


_Row = tuple[str, ...]
_FIELDS = ("answer__person_id", "answer__activity", "number", "verdicts")  # of every row; then
_KEY, _TIMES = ("id",), ("created_at", "submitted_at")
_PLAIN = ("answer__activity", "number")  # the others are read as text
_number = itemgetter(2)


Works = dict[uuid.UUID, dict[str, Work]]  # by person, then by activity


def read_works(
    cohort: Cohort,
    learning: Collection[uuid.UUID],
    people: Collection[uuid.UUID] | None,
    schemes: Mapping[str, Scheme],
    grades: Mapping[str, Graded],
) -> Works:
    """With what they got."""
    rows = _rows(cohort, people, _KEY)
    works, _dropped = _worked(rows, learning, schemes, _Reader(schemes, grades).graded)
    return works


def read_timed(
    cohort: Cohort,
    learning: Collection[uuid.UUID],
    people: Collection[uuid.UUID] | None,
    schemes: Mapping[str, Scheme],
) -> tuple[Works, dict[uuid.UUID, datetime]]:
    """With when each was begun and handed in, and when each person last handed in anything, also
    to a question that is none of these, as one that the course has dropped."""
    rows = _rows(cohort, people, _TIMES)
    works, dropped = _worked(rows, learning, schemes, _Reader(schemes, {}).timed)
    # The database writes times so that their texts sort as they do.
    last = {person: max(work.last_text for work in mine.values()) for person, mine in works.items()}
    for person, row in dropped:
        last[person] = max(last.get(person, ""), row[-1])
    return works, {person: moment(text) for person, text in last.items()}


def _rows(
    cohort: Cohort, people: Collection[uuid.UUID] | None, more: tuple[str, ...]
) -> Iterable[_Row]:
    """Every submission is read, as tuples, for the first one says what was right at once; either
    with what grades are found by, or with its times: each column of tens of thousands of rows
    costs its share."""
    rows = Revision.objects.filter(answer__course=cohort.course, state=State.SUBMITTED)
    if people is None:  # of many: a list of them would be too long for a query
        members = Membership.objects.filter(cohort=cohort, role=Role.LEARNER)
        rows = rows.filter(answer__person__in=members.values("person"))
    else:
        rows = rows.filter(answer__person__in=people)
    fields = [name if name in _PLAIN else Cast(name, TextField()) for name in _FIELDS + more]
    return rows.order_by().values_list(*fields)


def _worked(
    rows: Iterable[_Row],
    learning: Collection[uuid.UUID],
    schemes: Collection[str],
    work: Callable[[_Row, _Row, int], Work],
) -> tuple[Works, list[tuple[uuid.UUID, _Row]]]:
    """`work` makes one of the first submission, the last, and how many there are. Beside them,
    what was submitted to other questions."""
    persons = {text: person for person in learning for text in (person.hex, str(person))}
    once, more, dropped = _gathered(rows, persons, schemes)
    found = {
        persons[text]: {name: work(row, row, 1) for name, row in mine.items()}
        for text, mine in once.items()
        if mine
    }
    for (text, name), several in more.items():
        several.sort(key=_number)  # the few here: cheaper than in the query
        found[persons[text]][name] = work(several[0], several[-1], len(several))
    return found, [(persons[row[0]], row) for row in dropped]


def _gathered(
    rows: Iterable[_Row], persons: Collection[str], schemes: Collection[str]
) -> tuple[dict[str, dict[str, _Row]], dict[tuple[str, str], list[_Row]], list[_Row]]:
    """By person and Activity: one submission of each, and all of those that have several. Last,
    these persons' submissions to any other Activity."""
    once: dict[str, dict[str, _Row]] = {text: {} for text in persons}
    more: dict[tuple[str, str], list[_Row]] = {}
    dropped: list[_Row] = []
    for row in rows:
        text, name = row[0], row[1]
        if text not in once:
            continue
        if name not in schemes:
            dropped.append(row)
            continue
        mine = once[text]
        if name in mine:
            more.setdefault((text, name), [mine[name]]).append(row)
        else:
            mine[name] = row
    return once, more, dropped


class _Reader:
    """Turns submissions into Work. Most answers share a few sets of verdicts: each is parsed and
    added up once."""

    def __init__(self, schemes: Mapping[str, Scheme], grades: Mapping[str, Graded]) -> None:
        self.schemes, self.grades = schemes, grades
        self.parsed: dict[str, Verdicts] = {}
        self.machine: dict[tuple[str, str], tuple[Marks, bool | None]] = {}  # without a grade

    def graded(self, first: _Row, last: _Row, tries: int) -> Work:
        _person, activity, _number, text, revision = last
        marks, right = self.judged(activity, text)
        if first is not last:
            right = self.judged(activity, first[3])[1]
        graded = self.grades.get(revision)
        if graded:
            marks = self.schemes[activity].marks(self.verdicts(text), graded.given)
        return Work(tries, right, marks, graded, revision)

    def timed(self, first: _Row, last: _Row, tries: int) -> Work:
        _person, activity, _number, text, drafted, sent = first
        marks, right = self.judged(activity, text)
        if first is not last:
            marks = self.judged(activity, last[3])[0]
        return Work(tries, right, marks, None, "", drafted, sent, last[5])

    def verdicts(self, text: str) -> Verdicts:
        if text not in self.parsed:
            self.parsed[text] = json.loads(text)
        return self.parsed[text]

    def judged(self, activity: str, text: str) -> tuple[Marks, bool | None]:
        """What the machine gave, and whether all that it could judge was right."""
        found = self.machine.get((activity, text))
        if found is None:
            scheme, verdicts = self.schemes[activity], self.verdicts(text)
            checked = [verdicts.get(name, {}).get("verdict") for name in scheme.checked]
            settled = [verdict for verdict in checked if verdict in _SETTLED]
            right = all(v == Verdict.RIGHT for v in settled) if settled else None
            found = self.machine[activity, text] = scheme.marks(verdicts, None), right
        return found
