"""An answer said in words, line by line: in a conflict, in an earlier revision, or as a
hypothesis beside what the Run measured."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.template.defaultfilters import linebreaksbr
from django.utils.html import escape, format_html_join
from django.utils.safestring import SafeString

from lessons import sentences
from lessons.answers import Content, History, Stored
from lessons.checking import Verdict
from lessons.content import structure as s
from lessons.content.parts import AskTexts, FieldTexts
from lessons.content.written import Written
from lessons.outcomes import Measured
from runner.pages import number as show_metric


@dataclass(frozen=True)
class Line:
    """One field of an answer."""

    label: Written
    said: SafeString
    reveals: str = ""  # the metric that the outcome is
    outcome: str = ""
    verdict: str = ""
    word: str = ""
    sign: str = ""


def answer_lines(activity: s.Activity, texts: AskTexts, content: Content) -> tuple[Line, ...]:
    """Every field as the person gave it; choices and orders by the words of their options."""
    return tuple(
        _line(item, texts.fields[item.id], content.get(item.id, {})) for item in activity.fields
    )


def comparison(
    activity: s.Activity,
    texts: AskTexts,
    history: History,
    measured: Measured | None,
    language: str,
) -> tuple[Line, ...]:
    """Each hypothesis as it stood when the Run was asked for, beside what was measured."""
    before = [old for old in history.submitted if measured and old.at <= measured.asked_at]
    hypothesis = before[-1] if before else history.last
    if hypothesis is None:
        return ()
    found = []
    for item in activity.fields:
        if isinstance(item, s.NumberField | s.ChoiceField) and item.reveals:
            line = _line(item, texts.fields[item.id], hypothesis.content.get(item.id, {}))
            line = dataclasses.replace(line, reveals=item.reveals)
            value = measured.metrics.get(item.reveals) if measured else None
            found.append(
                line if value is None else _compared(line, item, hypothesis, value, language)
            )
    return tuple(found)


def _compared(line: Line, item: s.Field, hypothesis: Stored, value: Any, language: str) -> Line:
    verdict = hypothesis.verdicts.get(item.id, {}).get("verdict", Verdict.UNGRADED)
    return dataclasses.replace(
        line,
        outcome=show_metric(value, language),
        verdict=verdict,
        word=sentences.verdict_word(verdict),
        sign=sentences.verdict_sign(verdict),
    )


def _line(item: s.Field, texts: FieldTexts, content: Mapping[str, Any]) -> Line:
    raw = content.get("raw", "")
    if isinstance(item, s.NumberField | s.TextField):
        return Line(texts.label, linebreaksbr(escape(raw)))
    chosen = [raw] if isinstance(raw, str) else raw
    joint = " → " if isinstance(item, s.OrderField) else ", "
    words = ((texts.options[option].html,) for option in chosen if option in texts.options)
    return Line(texts.label, format_html_join(joint, "{}", words))
