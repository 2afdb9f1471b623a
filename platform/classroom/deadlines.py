"""When a lesson closes: a wall time in a zone, as people say it, and the instant it stands for.

Twice a year a wall time is not one instant. In the hour that is skipped it is none, and is
refused with the nearest two that exist. In the hour that comes twice it is two: the first is
taken, and said.
"""

import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django.db.models import FilteredRelation, Q, QuerySet

from classroom.models import Cohort, Deadline, Extension, Membership, Role

WALL = "%Y-%m-%dT%H:%M"
YEARS = range(1971, 9999)  # beyond them an instant may not have a wall time
_DATED = re.compile(r"\d{4,6}-\d\d-\d\dT\d\d:\d\d")  # what browsers take for a date and time


class BadWall(ValueError):
    """What was typed is no date and time."""


class FarYear(ValueError):
    """A date and time of a year outside YEARS."""


class BadZone(ValueError):
    """There is no time zone of that name."""


class SkippedHour(ValueError):
    """The clocks jump over that time; `earlier` and `later` are the nearest that exist."""

    def __init__(self, wall: str, zone: str, earlier: str, later: str) -> None:
        super().__init__(f"{wall} does not exist in {zone}")
        self.wall, self.zone, self.earlier, self.later = wall, zone, earlier, later


@dataclass(frozen=True)
class Moment:
    """A wall time that exists, and the instant (UTC) it stands for."""

    wall: str
    zone: str
    at: datetime
    is_doubled: bool = False  # the clocks show it twice; `at` is the first


def moment(wall: str, zone: str) -> Moment:
    """Raises BadWall, FarYear, BadZone or SkippedHour."""
    there = zone_of(zone)
    wall = wall.strip()
    if _DATED.fullmatch(wall) and int(wall.split("-")[0]) not in YEARS:
        raise FarYear(wall)
    try:
        naive = datetime.strptime(wall, WALL)
    except ValueError as error:
        raise BadWall(wall) from error
    first, second = (naive.replace(tzinfo=there, fold=fold) for fold in (0, 1))
    if _at(first).astimezone(there).replace(tzinfo=None) != naive:
        # Before the jump the clocks ran on the offset of fold 0, after it on that of fold 1.
        jump = _jump(first, second, there)
        earlier = (jump - timedelta(minutes=1)).astimezone(there)
        later = jump.astimezone(there)
        raise SkippedHour(naive.strftime(WALL), zone, earlier.strftime(WALL), later.strftime(WALL))
    doubled = first.utcoffset() != second.utcoffset()
    return Moment(naive.strftime(WALL), zone, _at(first), doubled)


def zone_of(name: str) -> ZoneInfo:
    """Raises BadZone."""
    if name not in zone_names():
        raise BadZone(name)
    return ZoneInfo(name)


@cache
def zone_names() -> frozenset[str]:
    """Names a person may choose: places and UTC, none of the old abbreviations."""
    return frozenset(
        name
        for name in available_timezones()
        if name == "UTC" or ("/" in name and not name.startswith(("Etc/", "SystemV/", "US/")))
    )


@dataclass(frozen=True)
class Closings:
    """Every deadline and extension of a cohort, read at once."""

    deadlines: Mapping[str, Deadline] = field(default_factory=dict)
    extensions: Mapping[tuple[uuid.UUID, str], Extension] = field(default_factory=dict)

    def of(self, person_id: uuid.UUID, lesson: str) -> Deadline | Extension | None:
        """What closes the lesson for that learner, whichever is later; None: it stays open."""
        deadline = self.deadlines.get(lesson)
        return _later(deadline, self.extensions.get((person_id, lesson))) if deadline else None

    def at(self, person_id: uuid.UUID, lesson: str) -> datetime | None:
        end = self.of(person_id, lesson)
        return end.at if end else None


def closings(cohort: Cohort, person: Any = None) -> Closings:
    """In two queries, whatever the size of the cohort; of one person alone where they are named."""
    return closings_of([cohort.pk], person)[cohort.pk]


def closings_of(cohorts: Iterable[uuid.UUID], person: Any = None) -> dict[uuid.UUID, Closings]:
    """The same of several cohorts, in as many queries as of one."""
    deadlines: dict[uuid.UUID, dict[str, Deadline]] = {cohort: {} for cohort in cohorts}
    longer: dict[uuid.UUID, dict[tuple[uuid.UUID, str], Extension]] = {c: {} for c in deadlines}
    for row in Deadline.objects.filter(cohort__in=list(deadlines)):
        deadlines[row.cohort_id][row.lesson] = row
    extensions = Extension.objects.filter(cohort__in=list(deadlines))
    if person is not None:
        extensions = extensions.filter(person=person)
    for extension in extensions:
        longer[extension.cohort_id][extension.person_id, extension.lesson] = extension
    return {cohort: Closings(deadlines[cohort], longer[cohort]) for cohort in deadlines}


def closes(person: Any, cohort: Cohort, lesson: str) -> Deadline | Extension | None:
    """What closes the lesson for this learner. None: nothing does."""
    deadline = Deadline.objects.filter(cohort=cohort, lesson=lesson).first()
    if deadline is None:
        return None
    extension = Extension.objects.filter(cohort=cohort, person=person, lesson=lesson).first()
    return _later(deadline, extension)


def last_ends(person: Any, course: str) -> dict[str, Deadline | Extension]:
    """By lesson, what closes it for who learns the course in one cohort or several: the last
    that does. A lesson which one of them leaves open has no end. In three queries at most."""
    cohorts = list(_learning(person, course).values_list("cohort_id", flat=True))
    return _last(person, list(closings_of(cohorts, person).values())) if cohorts else {}


def last_end(person: Any, course: str, lesson: str) -> Deadline | Extension | None:
    """The same of one lesson, in one query: a step's page asks it."""
    ends: list[Deadline | Extension] = []
    rows = _learning(person, course).annotate(
        mine=FilteredRelation("cohort__deadlines", condition=Q(cohort__deadlines__lesson=lesson)),
        longer=FilteredRelation(
            "cohort__extensions",
            condition=Q(cohort__extensions__lesson=lesson, cohort__extensions__person=person),
        ),
    )
    fields = ("mine__at", "mine__zone", "longer__at", "longer__zone", "longer__reason")
    for at, zone, later, its_zone, reason in rows.values_list(*fields):
        if at is None:
            return None  # one of the cohorts leaves it open
        deadline = Deadline(lesson=lesson, at=at, zone=zone)
        extension = later and Extension(lesson=lesson, at=later, zone=its_zone, reason=reason)
        ends.append(_later(deadline, extension or None))
    return max(ends, key=lambda end: end.at, default=None)


def _learning(person: Any, course: str) -> QuerySet[Membership]:
    """Where the person learns the course; in an archived cohort no deadline holds."""
    return Membership.objects.filter(
        person=person, role=Role.LEARNER, cohort__course=course, cohort__archived_at=None
    )


def _last(person: Any, ends: Sequence[Closings]) -> dict[str, Deadline | Extension]:
    common = set.intersection(*(set(each.deadlines) for each in ends))
    return {
        lesson: max(
            (end for each in ends if (end := each.of(person.pk, lesson))), key=lambda end: end.at
        )
        for lesson in common
    }


def closes_at(person: Any, cohort: Cohort, lesson: str) -> datetime | None:
    """The instant after which this learner's answers in the lesson are refused."""
    end = closes(person, cohort, lesson)
    return end.at if end else None


def _later(deadline: Deadline, extension: Extension | None) -> Deadline | Extension:
    return extension if extension and extension.at > deadline.at else deadline


def _at(local: datetime) -> datetime:
    return local.astimezone(UTC)


def _jump(first: datetime, second: datetime, there: ZoneInfo) -> datetime:
    """The instant at which the clocks jump over the wall time of `first` and `second`.

    Of a time that is skipped, fold 0 is an instant after the jump and fold 1 one before it.
    """
    before, after = _at(second), _at(first)
    offset = before.astimezone(there).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = before + (after - before) / 2
        if middle.astimezone(there).utcoffset() == offset:
            before = middle
        else:
            after = middle
    return after.replace(microsecond=0)
