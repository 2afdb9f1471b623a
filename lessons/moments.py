"""How a moment is written wherever somebody reads of their work: one style on every page."""

from datetime import UTC, datetime

from babel.dates import format_date
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _


def written(local: datetime) -> str:
    """“December 1, 2026, 23:59” in the reader's language, whatever zone it is in."""
    language = (get_language() or "en").split("-")[0]
    return _("%(date)s, %(time)s") % {
        "date": format_date(local.date(), "long", locale=language),
        "time": local.strftime("%H:%M"),
    }


def element(at: datetime) -> SafeString:
    """In UTC, named; a script puts the reader's own time in its place (static/js/moments.js)."""
    utc = at.astimezone(UTC)
    return format_html('<time datetime="{}" data-when>{} UTC</time>', utc.isoformat(), written(utc))
