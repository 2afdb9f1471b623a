"""How the classroom writes points, shares and times, in the reader's language."""

import re
from decimal import Decimal
from functools import lru_cache

from django.utils.translation import gettext as _

from lessons.numbers import show_number, show_quantity
from lessons.views.found import reading_language

NOTHING = "–"
_TYPED = re.compile(r"[-+−]?(?:[0-9]{1,4}(?:[.,][0-9]{1,2})?|[.,][0-9]{1,2})")


def points(value: Decimal | None) -> str:
    """2.5 or 2,5; a dash where there are none to say."""
    return NOTHING if value is None else _shown(value, reading_language())


def number(value: float) -> str:
    """To two digits: 1.4 or 1,4."""
    return show_number(round(value, 1), reading_language())


def read(typed: str, most: Decimal) -> Decimal | None:
    """Points as people type them: 1, +0,5, −2. None where they are none, or more than `most`."""
    text = "".join(typed.split())
    if not _TYPED.fullmatch(text):
        return None
    value = Decimal(text.replace("−", "-").replace(",", "."))
    return value if abs(value) <= most else None


def unread(typed: str, most: Decimal) -> str:
    """What is wrong with points that cannot be read."""
    return _(
        "“%(typed)s” is no number of points: write one like 1, 0.5 or -2, at most %(most)d, with "
        "at most two decimals."
    ) % {"typed": typed[:20], "most": most}


def whole(typed: str) -> int | None:
    """A number of something as forms and addresses name it; None where it is none."""
    return int(typed) if typed.isascii() and typed.isdecimal() and len(typed) < 10 else None


def signed(value: Decimal) -> str:
    """With its sign: +1, −0.5."""
    return f"+{points(value)}" if value > 0 else points(value)


def share(part: int | Decimal, whole: int | Decimal) -> str:
    """35%, 35 % or %35; a dash of nothing."""
    if not whole:
        return NOTHING
    return show_quantity(round(float(part) / float(whole) * 100), "percent", reading_language(), 0)


def duration(seconds: float | None) -> str:
    """Seconds, minutes, hours or days: the two largest that say something."""
    if seconds is None:
        return NOTHING
    whole = round(seconds)
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if minutes < 1:
        return _("%(n)d s") % {"n": whole}
    if hours < 1:
        return _("%(n)d min") % {"n": minutes}
    if days < 1:
        return _("%(hours)d h %(minutes)s min") % {"hours": hours, "minutes": f"{minutes % 60:02}"}
    return _("%(days)d d %(hours)d h") % {"days": days, "hours": hours % 24}


@lru_cache(maxsize=4096)  # a table of thousands of cells holds few different numbers
def _shown(value: Decimal, language: str) -> str:
    return show_number(float(value), language)
