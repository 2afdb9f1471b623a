"""How the classroom says a moment: in the zone it was set in, named; pages add the reader's own."""

from datetime import datetime
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from classroom.models import Deadline, Extension
from lessons.moments import written


def said(end: Deadline | Extension) -> str:
    """“December 1, 2026, 23:59 (Europe/Paris)” in the reader's language."""
    return wall_said(end.at, end.zone)


def said_in(end: Deadline | Extension, zone: str) -> str:
    """The same on a page that has named this zone: only another one is named beside the time."""
    return written(end.at.astimezone(ZoneInfo(zone))) if end.zone == zone else said(end)


def wall_said(at: datetime, zone: str) -> str:
    return _("%(when)s (%(zone)s)") % {
        "when": written(at.astimezone(ZoneInfo(zone))),
        "zone": zone.replace("_", " "),
    }


def wall_only(wall: str) -> str:
    """A wall time without its zone."""
    return written(datetime.fromisoformat(wall))
