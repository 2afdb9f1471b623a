"""What a reader fills in: choices and numbers, each with its bounds, read in their language."""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from lessons import sentences
from lessons.checking import Problem
from lessons.numbers import Read, Unclear, Unread, read_number, show_number

LONGEST = 80


class Refused(Exception):
    """Values, each good by itself, that do not go together: the entry to change, and why."""

    def __init__(self, entry: str, sentence: str) -> None:
        super().__init__(sentence)
        self.entry, self.sentence = entry, sentence


@dataclass(frozen=True)
class Entry:
    """One line of a calculator: a choice when it has `options`, else a number.

    `start` is what it holds at first, as text. An optional number may be left empty; its value is
    then None, and `hint` says what is taken instead.
    """

    name: str
    label: Promise
    start: str = ""
    options: tuple[tuple[str, Promise | str], ...] = ()
    low: float = 1
    high: float = 1
    whole: bool = True
    optional: bool = False
    hint: Promise | str = ""

    @property
    def choices(self) -> tuple[str, ...]:
        return tuple(name for name, _label in self.options)

    def accepts(self, start: str) -> bool:
        """Whether it can hold this, in plain notation, at first."""
        return not read(self, start, "en")[1]


def read(entry: Entry, typed: str, language: str) -> tuple[Any, str]:
    """The value that was typed, or a sentence that says what to change."""
    if entry.options:
        return (typed, "") if typed in entry.choices else (None, _("Choose one of these."))
    if not typed and entry.optional:
        return None, ""
    found = read_number(typed, language, fits=partial(_holds, entry))
    if isinstance(found, Unclear):  # 1.234 in English where a whole number belongs: no other fits
        (other,) = set(found.readings) - {found.usual}
        found = read_number(typed, language, reading=other)
    if isinstance(found, Read):
        return within(entry, found.value, language)
    assert isinstance(found, Unread)
    return None, sentences.problem_sentence(Problem(found.reason, found.what))


def _holds(entry: Entry, value: Fraction) -> bool:
    low, high = Fraction(str(entry.low)), Fraction(str(entry.high))  # as written, not as doubles
    return low <= value <= high and (value.denominator == 1 or not entry.whole)


def within(entry: Entry, value: Fraction, language: str) -> tuple[Any, str]:
    if not _holds(entry, value):
        bounds = {
            "low": show_number(entry.low, language),
            "high": show_number(entry.high, language),
        }
        if entry.whole:
            return None, _("Write a whole number from %(low)s to %(high)s.") % bounds
        return None, _("Write a number from %(low)s to %(high)s.") % bounds
    return (int(value) if entry.whole else float(value)), ""
