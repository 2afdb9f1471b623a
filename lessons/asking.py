"""The question of a step as one person sees it: what they typed, what was stored, what it got."""

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from lessons import sentences
from lessons.answers import History, Stored
from lessons.checking import Problem, Typed, Verdict
from lessons.content import structure as s
from lessons.content.parts import AskTexts, FieldTexts
from lessons.content.written import Written
from lessons.lines import Line, answer_lines, comparison
from lessons.numbers import show_quantity
from lessons.outcomes import Measured
from lessons.units import label as unit_label


@dataclass(frozen=True)
class Option:
    id: str
    text: Written
    chosen: bool


@dataclass(frozen=True)
class FieldView:
    id: str
    kind: str
    label: Written
    raw: str
    options: tuple[Option, ...] = ()  # in the order shown
    multiple: bool = False
    unit: str = ""
    longest: int = 0
    error: str = ""
    reading: str = ""  # the one chosen of an unclear number
    readings: tuple[tuple[str, str], ...] = ()  # of an unclear number: value, in words
    understood: str = ""
    verdict: str = ""
    word: str = ""
    sign: str = ""
    hint: Written | None = None


@dataclass(frozen=True)
class Earlier:
    stored: Stored
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Attempt:
    """What a POST that was not taken had typed, and why it was not taken."""

    typed: Mapping[str, Typed]
    problems: Mapping[str, Problem] = field(default_factory=dict)
    conflict: Stored | None = None


@dataclass(frozen=True)
class AskView:
    texts: AskTexts
    predict: bool
    base: int
    key: uuid.UUID
    fields: tuple[FieldView, ...]
    stored: Stored | None  # draft or submission that the form shows
    submitted: Stored | None
    held: bool  # a hypothesis whose outcome is still to come
    explain: Written | None
    explain_open: bool
    lines: tuple[Line, ...]  # hypothesis and outcome side by side
    earlier: tuple[Earlier, ...]
    conflict: tuple[Line, ...]
    problems: int

    @property
    def has_buttons(self) -> bool:
        """Whether fields hold buttons: Enter presses the first of a form, which must send it."""
        return any(field.kind == "order" or field.readings for field in self.fields)


def ask_view(
    activity: s.Activity,
    texts: AskTexts,
    history: History,
    language: str,
    *,
    measured: Measured | None = None,
    held: bool = False,
    attempt: Attempt | None = None,
) -> AskView:
    """`held` keeps verdicts and explanation back until the Run has shown the outcome."""
    last = history.last
    verdicts = {} if held or last is None else last.verdicts
    asker = _Asker(activity, texts, history, language, verdicts, attempt)
    settled = bool(last) and not held
    wrong = any(item.get("verdict") == Verdict.WRONG for item in verdicts.values())
    return AskView(
        texts=texts,
        predict=activity.predict,
        base=history.version,
        key=uuid.uuid4(),
        fields=tuple(asker.field(item) for item in activity.fields),
        stored=history.current,
        submitted=last,
        held=held and last is not None,
        explain=texts.explain if settled and texts.explain else None,
        explain_open=not wrong,
        lines=comparison(activity, texts, history, measured, language) if activity.predict else (),
        earlier=tuple(
            Earlier(old, answer_lines(activity, texts, old.content)) for old in history.earlier
        ),
        conflict=(
            answer_lines(activity, texts, attempt.conflict.content)
            if attempt and attempt.conflict
            else ()
        ),
        problems=len(attempt.problems) if attempt else 0,
    )


def shown_order(activity: s.Activity, field: s.OrderField) -> tuple[str, ...]:
    """The items as first shown: mixed the same way for everybody, and never as the answer."""

    def weight(item: str) -> str:
        return hashlib.sha256(f"{activity.id}/{field.id}/{item}".encode()).hexdigest()

    mixed = tuple(sorted(field.items, key=weight))
    return mixed if mixed != field.answer else (*mixed[1:], mixed[0])


class _Asker:
    def __init__(
        self,
        activity: s.Activity,
        texts: AskTexts,
        history: History,
        language: str,
        verdicts: Mapping[str, Mapping[str, str]],
        attempt: Attempt | None,
    ) -> None:
        self.activity, self.texts, self.history = activity, texts, history
        self.language, self.verdicts, self.attempt = language, verdicts, attempt

    def field(self, item: s.Field) -> FieldView:
        texts = self.texts.fields[item.id]
        content = self.content(item)
        raw = content.get("raw", "")
        problem = self.attempt.problems.get(item.id) if self.attempt else None
        shown: dict[str, Any] = self.verdict(item, texts, raw)
        if problem:
            shown["error"] = sentences.problem_sentence(problem)
            shown["readings"] = tuple(
                (reading, sentences.reading(reading, self.language)) for reading in problem.readings
            )
        match item:
            case s.NumberField():
                unit = unit_label(item.unit, self.language) if item.unit else ""
                if not problem:
                    shown["understood"] = understood(item, content, self.language)
                shown |= {"unit": unit, "reading": content.get("reading", "")}
                return FieldView(item.id, "number", texts.label, raw, **shown)
            case s.ChoiceField():
                chosen = [raw] if isinstance(raw, str) else raw
                options = tuple(Option(o, texts.options[o], o in chosen) for o in item.options)
                return FieldView(
                    item.id, "choice", texts.label, "", options, item.multiple, **shown
                )
            case s.OrderField():
                whole = sorted(raw) == sorted(item.items)
                order = raw if whole else shown_order(self.activity, item)
                options = tuple(Option(o, texts.options[o], False) for o in order)
                return FieldView(item.id, "order", texts.label, "", options, **shown)
            case s.TextField():
                return FieldView(item.id, "text", texts.label, raw, longest=item.max, **shown)

    def content(self, item: s.Field) -> dict[str, Any]:
        if self.attempt:
            return self.attempt.typed.get(item.id, Typed("")).to_json()
        current = self.history.current
        return current.content.get(item.id, {}) if current else {}

    def verdict(self, item: s.Field, texts: FieldTexts, raw: Any) -> dict[str, Any]:
        """The verdict of what was submitted, while the form still shows just that."""
        last = self.history.last
        found = self.verdicts.get(item.id)
        if last is None or found is None or last.content.get(item.id, {}).get("raw") != raw:
            return {}
        return {
            "verdict": found["verdict"],
            "word": sentences.verdict_word(found["verdict"]),
            "sign": sentences.verdict_sign(found["verdict"]),
            "hint": texts.hints.get(found.get("hint", "")),
        }


def understood(item: s.NumberField, content: Mapping[str, Any], language: str) -> str:
    """The number as the site read it, where that is not simply what was typed."""
    if "value" not in content:
        return ""
    shown = show_quantity(Fraction(content["value"]), item.unit, language)
    return "" if shown == content["raw"] else sentences.understood(shown)
