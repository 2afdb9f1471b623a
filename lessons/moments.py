"""How a moment is written wherever somebody reads of their work: one style on every page."""

from datetime import UTC, date, datetime

from babel.dates import format_date
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _


def written(local: datetime) -> str:
    """“December 1, 2026, 23:59” in the reader's language, whatever zone it is in."""
    return _("%(date)s, %(time)s") % {
        "date": written_day(local.date()),
        "time": local.strftime("%H:%M"),
    }


def written_day(day: date) -> str:
    """“December 1, 2026”; in French the first of a month is “1er”."""
    language = (get_language() or "en").split("-")[0]
    said = format_date(day, "long", locale=language)
    return f"1er {said.removeprefix('1 ')}" if language == "fr" and day.day == 1 else said


def element(at: datetime) -> SafeString:
    """In UTC, named; a script puts the reader's own time in its place (static/js/moments.js)."""
    utc = at.astimezone(UTC)
    return format_html('<time datetime="{}" data-when>{} UTC</time>', utc.isoformat(), written(utc))


def day_element(at: datetime) -> SafeString:
    """The day alone, where the time of it says nothing: in UTC, and then in the reader's own."""
    utc = at.astimezone(UTC)
    return format_html(
        '<time datetime="{}" data-day>{}</time>', utc.isoformat(), written_day(utc.date())
    )
