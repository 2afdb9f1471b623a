"""Answers as people would type them, made in bulk: the demonstration stands on it, and the tests.

What is made is read and checked as a submission is, so that nothing here can say "right" of what
the key calls wrong.
"""

import random
import re
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from lessons import checking
from lessons.answers import content_hash
from lessons.checking import Typed
from lessons.content import structure as s
from lessons.models import Answer, Revision, State

TEXT = (
    "The mean is taken over N elements; the masked lanes hold zeros, so dividing by BLOCK makes "
    "it too small, and only a size that is no power of two shows that."
)


class NotTaken(ValueError):
    """What was typed would not have been taken as a submission."""


def right(activity: s.Activity, language: str = "en", text: str = TEXT) -> dict[str, Typed]:
    """What somebody types who knows it, in their language; `text` in each text field."""
    return {item.id: _right(item, language, text) for item in activity.fields}


def wrong(
    activity: s.Activity,
    language: str = "en",
    text: str = TEXT,
    chance: random.Random | None = None,
) -> dict[str, Typed]:
    """The same with one field wrong where one can be: a typical error where the key names one."""
    chance = chance or random.Random(activity.id)
    typed = right(activity, language, text)
    checked = [item for item in activity.fields if not isinstance(item, s.TextField)]
    if checked:
        item = chance.choice(checked)
        typed[item.id] = _wrong(item, language, chance)
    return typed


def number(value: float, language: str) -> str:
    """The value as it is typed in that language, without thousands: never unclear."""
    plain = f"{value:.10g}"
    if re.fullmatch(r"-?\d{1,3}\.\d{3}", plain):
        plain += "0"  # three decimals may be thousands
    return plain if language == "en" else plain.replace(".", ",")


def submitted(
    answer: Answer,
    activity: s.Activity,
    typed: Mapping[str, Typed],
    at: datetime,
    *,
    language: str = "en",
    number: int = 1,
    run: uuid.UUID | None = None,
) -> Revision:
    """A revision handed in at that time, checked, not yet saved. Raises NotTaken."""
    reading = checking.read(activity, dict(typed), language)
    if reading.problems:
        raise NotTaken(f"{activity.id}: {reading.problems}")
    verdicts = checking.check(activity, reading.content)
    return Revision(
        answer=answer,
        number=number,
        state=State.SUBMITTED,
        content=reading.content,
        content_hash=content_hash(_raw(typed)),
        language=language,
        key=uuid.uuid4(),
        verdicts={name: verdict.to_json() for name, verdict in verdicts.items()},
        checked_as=checking.key_hash(activity),
        run=run,
        created_at=at,
        saved_at=at,
        submitted_at=at,
    )


def drafted(
    answer: Answer, typed: Mapping[str, Typed], at: datetime, language: str, number: int = 1
) -> Revision:
    """A draft last saved at that time, not yet saved here."""
    content = _raw(typed)
    return Revision(
        answer=answer,
        number=number,
        state=State.DRAFT,
        content=content,
        content_hash=content_hash(content),
        language=language,
        created_at=at,
        saved_at=at,
    )


def _raw(typed: Mapping[str, Typed]) -> dict[str, dict[str, Any]]:
    return {name: item.to_json() for name, item in typed.items()}


def _right(item: s.Field, language: str, text: str) -> Typed:
    match item:
        case s.NumberField(answer=answer):
            return Typed(number(answer, language))
        case s.ChoiceField(answer=answer, multiple=multiple):
            return Typed(sorted(answer) if multiple else answer[0])
        case s.OrderField(answer=answer):
            return Typed(list(answer))
        case s.TextField(min=low, max=high):
            return Typed(text.ljust(low, ".")[:high])


def _wrong(item: s.Field, language: str, chance: random.Random) -> Typed:
    match item:
        case s.NumberField(typical=typical, answer=answer):
            known = [error.value for error in typical]
            return Typed(number(chance.choice([*known, *known, answer * 3 + 7]), language))
        case s.ChoiceField(options=options, answer=answer, multiple=multiple):
            others = [option for option in options if option not in answer]
            if not multiple:
                return Typed(chance.choice(others))
            kept = sorted(answer)[: max(1, len(answer) - 1)]
            return Typed(sorted({*kept, chance.choice(others)}) if others else kept)
        case s.OrderField(answer=answer, typical=typical):
            orders = [list(error.order) for error in typical]
            return Typed(chance.choice([*orders, [*answer[1:], answer[0]]]))
        case s.TextField():
            raise AssertionError("a text is not wrong by itself")
