"""How the classroom says a moment: in the zone it was set in, named; pages add the reader's own."""

from datetime import datetime
from zoneinfo import ZoneInfo

from babel.dates import format_date
from django.utils.translation import gettext as _

from classroom.models import Deadline, Extension
from lessons.views.found import reading_language


def said(end: Deadline | Extension) -> str:
    """“December 1, 2026, 23:59 (Europe/Paris)” in the reader's language."""
    return wall_said(end.at, end.zone)


def wall_said(at: datetime, zone: str) -> str:
    return _("%(when)s (%(zone)s)") % {
        "when": _date_and_time(at.astimezone(ZoneInfo(zone))),
        "zone": zone.replace("_", " "),
    }


def wall_only(wall: str) -> str:
    """A wall time without its zone."""
    return _date_and_time(datetime.fromisoformat(wall))


def _date_and_time(local: datetime) -> str:
    return _("%(date)s, %(time)s") % {
        "date": format_date(local.date(), "long", locale=reading_language()),
        "time": local.strftime("%H:%M"),
    }
