"""A calculator as one reader sees it: what the address or a cookie asks of it, and the answer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.conf import settings
from django.utils.functional import Promise

from lessons.calculators import CALCULATORS
from lessons.calculators.entries import LONGEST, Entry, Refused, read
from lessons.numbers import show_number

IN = "in"  # the language that the numbers of an address are written in
LONGEST_STATE = 1500  # of what a cookie keeps


@dataclass(frozen=True)
class Line:
    """One entry as its form field."""

    entry: Entry
    key: str  # in the address
    id: str  # in the page
    typed: str
    start: str
    hint: Promise | str
    error: str

    @property
    def options(self) -> tuple[tuple[str, Promise | str, bool], ...]:
        return tuple((name, label, name == self.typed) for name, label in self.entry.options)

    @property
    def said(self) -> Promise | str:
        """What was typed or chosen, in words."""
        return dict(self.entry.options).get(self.typed, self.typed)


@dataclass(frozen=True)
class Shown:
    name: str
    title: Promise
    template: str  # of the result
    language: str
    lines: tuple[Line, ...]
    result: Any  # what the template shows; None where an entry has an error

    @property
    def id(self) -> str:
        return f"calc-{self.name}"

    @property
    def language_key(self) -> str:
        return key(self.name, IN)

    def state(self, *, whole: bool) -> str:
        """What was typed, as a query: all of it, or what differs from the start."""
        pairs = [(line.key, line.typed) for line in self.lines if whole or line.typed != line.start]
        return urlencode([(self.language_key, self.language), *pairs])

    @property
    def swapped(self) -> str:
        """What htmx replaces beside the result: the sentences, which stay where they stand."""
        names = [f"{self.id}-says"]
        for line in self.lines:
            names += [f"{line.id}-error", *([f"{line.id}-hint"] if line.hint else [])]
        return ",".join(f"#{name}:innerHTML" for name in names)


def shown(
    name: str, starts: Mapping[str, str], query: Mapping[str, str], kept: str, language: str
) -> Shown:
    """`starts` are in plain notation; `kept` is an earlier state, for an address without one."""
    calculator = CALCULATORS[name]
    given = given_of(name, query, kept)
    written = given.get(IN, language)
    written = written if written in dict(settings.LANGUAGES) else language
    lines, values = [], {}
    for entry in calculator.entries:
        start = plainly(entry, starts.get(entry.name, entry.start), language)
        typed = given.get(entry.name, start).strip()[:LONGEST]
        value, error = read(entry, typed, written if entry.name in given else language)
        if not error and written != language and isinstance(value, int | float):
            typed = show_number(value, language)
        values[entry.name] = value
        ids = key(name, entry.name), f"calc-{name}-{entry.name.replace('_', '-')}"
        lines.append(Line(entry, *ids, typed, start, entry.hint, error))
    hints = calculator.hints(values, language)
    lines = [replace(line, hint=hints.get(line.entry.name, line.hint)) for line in lines]
    result = None
    if not any(line.error for line in lines):
        try:
            result = calculator.compute(values, language)
        except Refused as refusal:
            lines = list(refused(lines, refusal))
    return Shown(name, calculator.title, calculator.template, language, tuple(lines), result)


def given_of(name: str, query: Mapping[str, str], kept: str) -> dict[str, str]:
    """What the address says of this calculator; `calc.<name>` alone means: as at the start."""
    prefix = key(name, "")
    pairs = list(query.items())
    if not any(k.startswith(prefix) for k, _value in pairs) and prefix.rstrip(".") not in query:
        pairs = parse_qsl(kept[:LONGEST_STATE], keep_blank_values=True)
    return {k.removeprefix(prefix): value for k, value in pairs if k.startswith(prefix)}


def refused(lines: list[Line], refusal: Refused) -> Iterator[Line]:
    for line in lines:
        yield replace(line, error=refusal.sentence) if line.entry.name == refusal.entry else line


def plainly(entry: Entry, start: str, language: str) -> str:
    """What an entry holds at first, as the reader would type it."""
    return start if entry.options or not start else show_number(Fraction(start), language)


def key(name: str, entry: str) -> str:
    return f"calc.{name}.{entry}"
