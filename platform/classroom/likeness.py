"""When two answers say the same: numbers by their value, choices and orders by their ids, texts
by their words. A hash names what an answer says, in whatever language it was typed."""

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from lessons.content import structure as s

_TURKIC = str.maketrans({"I": "ı", "İ": "i"})
# What ends or surrounds a sentence. Never - or ( or %: in an answer those may mean something.
_ENDS = " .,;:!?…\"“”„«»‘’'"
_STARTS = " \"“”„«»‘’'"


def likeness(activity: s.Activity, content: Mapping[str, Mapping[str, Any]], language: str) -> str:
    """The same for answers that say the same; 32 hex digits."""
    said = [_said(item, content.get(item.id, {}), language) for item in activity.fields]
    text = json.dumps([activity.id, said], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def normal_text(text: str, language: str) -> str:
    """NFC, without case (i and ı differ in Turkish alone), spaces even, no punctuation around."""
    composed = unicodedata.normalize("NFC", text)
    if language == "tr":
        composed = composed.translate(_TURKIC)
    folded = unicodedata.normalize("NFC", composed.casefold())
    return " ".join(folded.split()).lstrip(_STARTS).rstrip(_ENDS)


def _said(item: s.Field, content: Mapping[str, Any], language: str) -> Any:
    value = content.get("value", content.get("raw", ""))
    match item:
        case s.NumberField():
            try:
                exact = Fraction(value)
            except (ValueError, TypeError, ZeroDivisionError):
                return ["?", str(value)]
            return f"{exact.numerator}/{exact.denominator}"
        case s.ChoiceField():
            return [value] if isinstance(value, str) else sorted(value)
        case s.OrderField():
            return list(value)
        case s.TextField():
            return normal_text(str(value), language)
