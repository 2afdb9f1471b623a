"""Setting deadlines and extensions: what was typed, read; all of it stored, or nothing.

A form says what it had seen of each lesson. What nobody touched is not written, and what
somebody else has set since is not overwritten.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from classroom import audit
from classroom.deadlines import YEARS, BadWall, BadZone, FarYear, Moment, SkippedHour, moment
from classroom.models import Cohort, Deadline, Extension, Membership
from classroom.wording import said, wall_only, wall_said

LONGEST_REASON = 300


@dataclass(frozen=True)
class Typed:
    """A lesson's line of the form: what it had seen, and what it asks for. Both may be empty."""

    seen: str
    wall: str
    reason: str = ""
    seen_reason: str = ""

    @property
    def is_changed(self) -> bool:
        return (self.wall, self.reason) != (self.seen, self.seen_reason)


@dataclass(frozen=True)
class Trouble:
    """Why a line was refused; `instead` are times that exist, to be taken by a button."""

    sentence: str
    instead: tuple[tuple[str, str], ...] = ()  # wall time, and how it is said


@dataclass(frozen=True)
class Outcome:
    troubles: Mapping[str, Trouble] = field(default_factory=dict)  # by lesson; any: nothing stored
    changed: int = 0
    notes: tuple[str, ...] = ()  # sentences about what was stored


def set_deadlines(cohort: Cohort, actor: Any, lines: Mapping[str, Typed]) -> Outcome:
    """One deadline a lesson, by the wall clock of the cohort's zone; empty takes it away."""

    def write(lesson: str, typed: Typed, made: Moment | None) -> None:
        rows = Deadline.objects.filter(cohort=cohort, lesson=lesson)
        if made is None:
            rows.delete()
        else:
            Deadline.objects.update_or_create(cohort=cohort, lesson=lesson, defaults=_columns(made))
        audit.record(cohort, actor, "deadline-set", lesson, **_told(typed, made))

    with transaction.atomic():
        Cohort.objects.select_for_update().get(pk=cohort.pk)
        stored = {row.lesson: (row.wall, "") for row in Deadline.objects.filter(cohort=cohort)}
        return _apply(cohort, lines, stored, write)


def extend(cohort: Cohort, actor: Any, member: Membership, lines: Mapping[str, Typed]) -> Outcome:
    """A later end for one learner, lesson by lesson; empty takes it away."""

    def write(lesson: str, typed: Typed, made: Moment | None) -> None:
        mine = Extension.objects.filter(cohort=cohort, person=member.person, lesson=lesson)
        if made is None:
            mine.delete()
        else:
            Extension.objects.update_or_create(
                cohort=cohort,
                person=member.person,
                lesson=lesson,
                defaults={**_columns(made), "reason": typed.reason},
            )
        audit.record(cohort, actor, "extended", f"{member.ref}/{lesson}", **_told(typed, made))

    with transaction.atomic():
        Cohort.objects.select_for_update().get(pk=cohort.pk)
        rows = Extension.objects.filter(cohort=cohort, person=member.person)
        stored = {row.lesson: (row.wall, row.reason) for row in rows}
        common = {row.lesson: row for row in Deadline.objects.filter(cohort=cohort)}
        return _apply(cohort, lines, stored, write, common)


def _apply(
    cohort: Cohort,
    lines: Mapping[str, Typed],
    stored: Mapping[str, tuple[str, str]],
    write: Any,
    common: Mapping[str, Deadline] | None = None,
) -> Outcome:
    """`common`, by lesson: what a time must be later than, or it would give nobody more."""
    changed = {lesson: typed for lesson, typed in lines.items() if typed.is_changed}
    troubles: dict[str, Trouble] = {}
    moments: dict[str, Moment | None] = {}
    for lesson, typed in changed.items():
        if stored.get(lesson, ("", "")) != (typed.seen, typed.seen_reason):
            troubles[lesson] = Trouble(
                _("Somebody has changed this since you opened the page. Reload to see it.")
            )
            continue
        result = _read(typed, cohort.zone)
        if common and isinstance(result, Moment):
            result = _in_vain(result, common.get(lesson)) or result
        if isinstance(result, Trouble):
            troubles[lesson] = result
        else:
            moments[lesson] = result
    if troubles:
        return Outcome(troubles)
    for lesson, made in moments.items():
        write(lesson, changed[lesson], made)
    notes = tuple(_doubled(made) for made in moments.values() if made and made.is_doubled)
    if common is not None and any(made and name not in common for name, made in moments.items()):
        notes += (
            _("A lesson without a deadline stays open: a time given there counts once it has one."),
        )
    return Outcome(changed=len(moments), notes=notes)


def _read(typed: Typed, zone: str) -> Moment | Trouble | None:
    if not typed.wall:
        if typed.reason and not typed.seen:
            return Trouble(_("Say until when, too: a reason alone gives no more time."))
        return None
    if len(typed.reason) > LONGEST_REASON:
        return Trouble(
            _("The reason is too long: %(n)d characters at most.") % {"n": LONGEST_REASON}
        )
    try:
        return moment(typed.wall, zone)
    except BadWall:
        return Trouble(_("This is no date and time. Write it like 2026-12-01T23:59."))
    except FarYear:
        return Trouble(
            _("That year is too far away: take one from %(first)d to %(last)d.")
            % {"first": YEARS[0], "last": YEARS[-1]}
        )
    except BadZone:
        return Trouble(_("The cohort’s time zone is not known here. Choose one in its settings."))
    except SkippedHour as skipped:
        instead = tuple((wall, wall_only(wall)) for wall in (skipped.earlier, skipped.later))
        return Trouble(
            _("The clocks skip %(time)s on that day in %(zone)s. Take one of these instead:")
            % {"time": skipped.wall[11:], "zone": zone.replace("_", " ")},
            instead,
        )


def _in_vain(made: Moment, deadline: Deadline | None) -> Trouble | None:
    if deadline is None or made.at > deadline.at:
        return None
    return Trouble(
        _("This gives no more time: the deadline for everybody is %(when)s. Take a later time.")
        % {"when": said(deadline)}
    )


def _columns(made: Moment) -> dict[str, str | datetime]:
    return {"wall": made.wall, "zone": made.zone, "at": made.at}


def _told(typed: Typed, made: Moment | None) -> dict[str, str]:
    return {
        "before": typed.seen,
        "after": made.wall if made else "",
        "zone": made.zone if made else "",
    }


def _doubled(made: Moment) -> str:
    return _("The clocks show %(when)s twice: the first time was taken (%(utc)s).") % {
        "when": wall_said(made.at, made.zone),
        "utc": f"{made.at:%H:%M} UTC",
    }
