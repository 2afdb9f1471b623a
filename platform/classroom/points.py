"""How rubric points are written for a reader."""

from decimal import Decimal

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from classroom.amounts import points as show
from classroom.amounts import signed
from classroom.models import RubricPoint
from classroom.queue import Question
from classroom.rubrics import WHOLE
from lessons.content.page import Renderer
from lessons.content.prose import plain

__all__ = ["point_html", "point_words", "show", "signed", "typed"]


def typed(points: Decimal) -> str:
    """As it stands in a form's field: empty for nothing."""
    return show(points) if points else ""


def point_html(asked: Question, point: RubricPoint, language: str) -> SafeString:
    """The point's words: a grader's own as they are, the lesson's in the reader's language."""
    if point.text:
        return SafeString(escape(point.text))
    if point.key == WHOLE:
        return SafeString(escape(_("It answers the question.")))
    texts = _lesson_texts(asked, language)
    return texts.get((point.field, point.key), SafeString(escape(point.key)))


def point_words(asked: Question, point: RubricPoint, language: str) -> str:
    """The same without markup, for a form's field."""
    if point.text or point.key == WHOLE:
        return point.text
    block = f"{asked.step.id}/ask.{point.field}.rubric.{point.key}"
    return plain(asked.shelf.lesson_texts[asked.lesson.id].get(block, language).markdown)


def _lesson_texts(asked: Question, language: str) -> dict[tuple[str, str], SafeString]:
    """Of every rubric point that the lesson declares, kept until its files change."""
    step = asked.step
    key = ("rubric", asked.shelf.course.id, asked.lesson.id, step.id, language)

    def make() -> dict[tuple[str, str], SafeString]:
        renderer = Renderer(asked.shelf, asked.lesson, step, language)
        written = {
            (item.id, name): renderer.inline(f"ask.{item.id}.rubric.{name}")
            for item in asked.activity.fields
            for name in getattr(item, "rubric", ())
        }
        return {pair: mark_safe(str(text)) for pair, text in written.items() if text}

    return asked.library.keep(key, make)
