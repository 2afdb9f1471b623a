"""An answer as a grader reads it: the question and its key, what was given, what came before."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language_info, gettext

from classroom.models import Grade, PassageComment
from classroom.passages import Segment, segments, text_of
from classroom.queue import Question
from lessons import sentences
from lessons.asking import understood
from lessons.content import structure as s
from lessons.content.page import step_page
from lessons.content.parts import AskTexts, FieldTexts
from lessons.content.written import Written
from lessons.models import Revision
from lessons.numbers import show_quantity

GIST = 220  # characters of a text in a list


@dataclass(frozen=True)
class FieldPaper:
    """One field: what is asked, what was given, what is right."""

    id: str
    label: Written
    said: SafeString  # of a number, a choice, an order
    segments: Sequence[Segment]  # of a text, cut where passages begin and end
    is_text: bool
    understood: str
    verdict: str
    word: str
    sign: str
    hint: Written | None
    key: SafeString


@dataclass(frozen=True)
class Paper:
    """One revision on paper."""

    revision: uuid.UUID
    number: int
    language: str
    language_name: str
    submitted_at: datetime
    run: uuid.UUID | None
    fields: tuple[FieldPaper, ...]
    content: dict[str, Any]

    @property
    def texts(self) -> list[FieldPaper]:
        """What a grader reads first."""
        return [item for item in self.fields if item.is_text]

    @property
    def checked(self) -> list[FieldPaper]:
        return [item for item in self.fields if not item.is_text]


def ask_texts(asked: Question, language: str) -> AskTexts:
    page = step_page(asked.library, asked.shelf, asked.lesson, asked.step, language)
    assert page.ask is not None  # a Question's step asks
    return page.ask


def paper(
    asked: Question, revision: Revision, language: str, passages: Sequence[PassageComment] = ()
) -> Paper:
    texts = ask_texts(asked, language)
    return Paper(
        revision=revision.pk,
        number=revision.number,
        language=revision.language,
        language_name=language_name(revision.language),
        submitted_at=revision.submitted_at or revision.saved_at,
        run=revision.run,
        fields=tuple(
            _field(item, texts.fields[item.id], revision, language, passages)
            for item in asked.activity.fields
        ),
        content=revision.content,
    )


def gist(asked: Question, revision: Revision, texts: AskTexts) -> SafeString:
    """An answer in a line, for lists: its words first, then what a machine checked."""
    words, bits = [], []
    for item in asked.activity.fields:
        content = revision.content.get(item.id, {})
        if isinstance(item, s.TextField):
            words.append(format_html("{} ", str(content.get("raw", ""))[:GIST]))
            continue
        verdict = revision.verdicts.get(item.id, {}).get("verdict", "")
        sign = sentences.verdict_sign(verdict) if verdict else ""
        said = _said(item, texts.fields[item.id], content)
        bits.append(format_html('<span class="bit {}">{} {}</span>', verdict, sign, said))
    return SafeString("".join([*words, *bits]))


def language_name(code: str) -> str:
    """In the reader's language; a code that is no language we know stands for itself."""
    try:
        return gettext(get_language_info(code)["name_translated"])
    except KeyError:
        return code


def _field(
    item: s.Field,
    texts: FieldTexts,
    revision: Revision,
    language: str,
    passages: Sequence[PassageComment],
) -> FieldPaper:
    content = revision.content.get(item.id, {})
    found: Mapping[str, str] = revision.verdicts.get(item.id, {})
    verdict = found.get("verdict", "")
    is_text = isinstance(item, s.TextField)
    spans = [
        (place, passage.start, passage.end)
        for place, passage in enumerate(passages, start=1)
        if passage.field == item.id
    ]
    return FieldPaper(
        id=item.id,
        label=texts.label,
        said=SafeString("") if is_text else _said(item, texts, content),
        segments=segments(text_of(revision.content, item.id), spans) if is_text else (),
        is_text=is_text,
        understood=(understood(item, content, language) if isinstance(item, s.NumberField) else ""),
        verdict=verdict,
        word=sentences.verdict_word(verdict) if verdict else "",
        sign=sentences.verdict_sign(verdict) if verdict else "",
        hint=texts.hints.get(found.get("hint", "")),
        key=key_of(item, texts, language),
    )


def _said(item: s.Field, texts: FieldTexts, content: Mapping[str, Any]) -> SafeString:
    raw = content.get("raw", "")
    if isinstance(item, s.NumberField):
        return format_html('<span dir="ltr">{}</span>', raw)
    return _options(texts, [raw] if isinstance(raw, str) else raw, isinstance(item, s.OrderField))


def key_of(item: s.Field, texts: FieldTexts, language: str) -> SafeString:
    """What is right, in words; nothing for a text."""
    match item:
        case s.NumberField():
            values = [
                show_quantity(Fraction(str(value)), item.unit, language, item.decimals)
                for value in (item.answer, *item.accept)
            ]
            return format_html_join(" · ", '<span dir="ltr">{}</span>', ((v,) for v in values))
        case s.ChoiceField():
            return _options(texts, item.answer, ordered=False)
        case s.OrderField():
            return _options(texts, item.answer, ordered=True)
        case s.TextField():
            return SafeString("")


def _options(texts: FieldTexts, chosen: Sequence[str], ordered: bool) -> SafeString:
    words = ((texts.options[option].html,) for option in chosen if option in texts.options)
    return format_html_join(" → " if ordered else ", ", "{}", words)


@dataclass(frozen=True)
class EarlierPaper:
    """A submission before the one shown, with the grade it had."""

    paper: Paper
    grade: Grade | None
    marks: str
    comment: SafeString
