"""Checking what was submitted against the key, field by field.

Verdicts: `right`, `wrong` (with a hint where the mistake is a typical one), `waiting` for an
instructor, `ungraded` when our own check failed (that is never "wrong"). Before that, `read`
turns what was typed into values; what cannot be read is a Problem and nothing is submitted.
"""

import hashlib
import logging
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import partial
from typing import Any

from lessons.content import structure as s
from lessons.numbers import Read, Unclear, read_number

log = logging.getLogger(__name__)
SIZE = 30  # values within this factor of each other are of one magnitude; less than sqrt(1000)
INCOMPLETE = "incomplete"  # the hint that every multiple choice has, without an author's words


class Verdict(StrEnum):
    RIGHT = "right"
    WRONG = "wrong"
    WAITING = "waiting"
    UNGRADED = "ungraded"


@dataclass(frozen=True)
class Problem:
    """Why a field cannot be submitted as it stands: a code, and what its sentence needs."""

    code: str
    what: str = ""
    readings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Checked:
    verdict: Verdict
    hint: str | None = None

    def to_json(self) -> dict[str, str]:
        hint = {"hint": self.hint} if self.hint else {}
        return {"verdict": str(self.verdict), **hint}


@dataclass(frozen=True)
class Typed:
    """What the form held for one field: text, or ids for choices and orders."""

    raw: str | list[str]
    reading: str = ""  # which reading of an unclear number was chosen

    def to_json(self) -> dict[str, Any]:
        return {"raw": self.raw, **({"reading": self.reading} if self.reading else {})}


@dataclass(frozen=True)
class Reading:
    """All fields of a submission: their content as stored, and what stands in the way."""

    content: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: dict[str, Problem] = field(default_factory=dict)


def read(
    activity: s.Activity, typed: dict[str, Typed], language: str, *, asks: bool = True
) -> Reading:
    """Values for every field of the activity, and a Problem for each that gives none.

    `asks`: whether somebody is there to say what an unclear number means; else the language does.
    """
    reading = Reading()
    for item in activity.fields:
        given = typed.get(item.id, Typed(""))
        value, problem = _read(item, given, language, asks)
        reading.content[item.id] = given.to_json()
        if problem:
            reading.problems[item.id] = problem
        else:
            reading.content[item.id]["value"] = value
    return reading


def check(activity: s.Activity, content: dict[str, dict[str, Any]]) -> dict[str, Checked]:
    """A verdict for every field of content that `read` found no problem in."""
    return {item.id: _check_safely(item, content.get(item.id, {})) for item in activity.fields}


def key_hash(activity: s.Activity) -> str:
    """Names the key that a revision was checked with."""
    return hashlib.sha256(repr(activity).encode()).hexdigest()[:16]


def _read(item: s.Field, typed: Typed, language: str, asks: bool) -> tuple[Any, Problem | None]:
    raw = typed.raw
    match item:
        case s.NumberField():
            return _read_number(item, typed, language, asks)
        case s.ChoiceField(options=options, multiple=multiple):
            chosen = [raw] if isinstance(raw, str) else list(raw)
            chosen = [option for option in options if option in chosen]
            if not chosen:
                return None, Problem("choose-some" if multiple else "choose-one")
            return (chosen, None) if multiple else (chosen[0], None)
        case s.OrderField(items=items):
            order = [raw] if isinstance(raw, str) else list(raw)
            if sorted(order) != sorted(items):
                return None, Problem("order-all")
            return order, None
        case s.TextField(min=low, max=high):
            text = raw.strip() if isinstance(raw, str) else ""
            if not text:
                return None, Problem("empty-text")
            if len(text) < low:
                return None, Problem("too-short", str(low - len(text)))
            if len(text) > high:
                return None, Problem("text-too-long", str(len(text) - high))
            return text, None


def _read_number(
    item: s.NumberField, typed: Typed, language: str, asks: bool
) -> tuple[Any, Problem | None]:
    raw = typed.raw if isinstance(typed.raw, str) else ""
    fits = partial(_of_its_size, item) if asks else None
    found = read_number(raw, language, item.unit, typed.reading, fits)
    if isinstance(found, Unclear):
        return None, Problem("unclear", readings=found.readings)
    if isinstance(found, Read):
        return f"{found.value.numerator}/{found.value.denominator}", None
    return None, Problem(found.reason, found.what)


def _of_its_size(item: s.NumberField, value: Fraction) -> bool:
    """Whether the value is of the magnitude of a right one: of two readings of one text, one is
    a thousand times the other, so both cannot be."""
    sizes = [abs(Fraction(str(key))) for key in (item.answer, *item.accept)]
    return any(size < SIZE * abs(value) and abs(value) < SIZE * size for size in sizes)


def _check_safely(item: s.Field, content: dict[str, Any]) -> Checked:
    try:
        return _check(item, content["value"])
    except Exception:  # ours, not the learner's: said so, logged, never counted as wrong
        log.exception("field %s could not be checked", item.id)
        return Checked(Verdict.UNGRADED)


def _check(item: s.Field, value: Any) -> Checked:
    match item:
        case s.NumberField():
            return _check_number(item, Fraction(value))
        case s.ChoiceField():
            return _check_choice(item, value)
        case s.OrderField():
            right = value == list(item.answer) or (
                bool(item.before)
                and all(value.index(first) < value.index(then) for first, then in item.before)
            )
            hint = next((t.hint for t in item.typical if list(t.order) == value), None)
            return Checked(Verdict.RIGHT) if right else Checked(Verdict.WRONG, hint)
        case s.TextField():
            return Checked(Verdict.WAITING)


def _check_number(item: s.NumberField, value: Fraction) -> Checked:
    if any(within(value, key, item.tolerance) for key in (item.answer, *item.accept)):
        return Checked(Verdict.RIGHT)
    for typical in item.typical:
        if within(value, typical.value, typical.tolerance):
            return Checked(Verdict.WRONG, typical.hint)
    return Checked(Verdict.WRONG)


def _check_choice(item: s.ChoiceField, value: Any) -> Checked:
    chosen = set(value) if item.multiple else {value}
    if chosen == set(item.answer):
        return Checked(Verdict.RIGHT)
    if chosen < set(item.answer):  # nothing wrong is ticked, but not all that is right
        missing = (item.hints[o] for o in item.answer if o not in chosen and o in item.hints)
        return Checked(Verdict.WRONG, next(missing, INCOMPLETE))
    wrong = [o for o in item.options if o in chosen and o not in item.answer]
    return Checked(Verdict.WRONG, next((item.hints[o] for o in wrong if o in item.hints), None))


def within(value: Fraction, due: float, tolerance: s.Tolerance) -> bool:
    """Exact arithmetic: a key of 0.1 is one tenth, as it was written, not its binary double."""
    key = Fraction(str(due))
    allowed = Fraction(str(tolerance.absolute)) + Fraction(str(tolerance.relative)) * abs(key)
    return abs(value - key) <= allowed
