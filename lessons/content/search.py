"""Search over the lessons in the reader's language: title before heading before prose.

Every word of the query must be found in a step, at the beginning of a word there; the last
letter of a longer word may differ, because it does in Turkish (çekirdek, çekirdeğin).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from lessons.content import structure as s
from lessons.content.folding import fold
from lessons.content.library import Library, Shelf
from lessons.content.prose import plain

_WORD = re.compile(r"\w+")
_AROUND = 90  # letters shown on each side of a match
_LONGEST_QUERY = 100
_MOST_WORDS = 8  # each costs a look through every lesson


@dataclass(frozen=True)
class Passage:
    text: str
    language: str
    weight: float
    folded: str
    places: list[int]
    shown: bool  # may stand as the excerpt: the titles of step and lesson stand above it already


@dataclass(frozen=True)
class Entry:
    """One step as it is searched."""

    course: str
    lesson: str
    step: str
    title: str
    lesson_title: str
    course_title: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True)
class Hit:
    entry: Entry
    score: float
    title: SafeString
    excerpt: SafeString
    language: str  # of the excerpt


def search(library: Library, query: str, language: str) -> list[Hit]:
    """Every step that has the words, the best first."""
    folded = fold(query[:_LONGEST_QUERY], language)[0]
    words = list(dict.fromkeys(_WORD.findall(folded)))[:_MOST_WORDS]
    if not words:
        return []
    pattern = re.compile(r"\b(?:" + "|".join(_pattern(word) for word in words) + r")\w*")
    entries = library.keep(("search", language), lambda: tuple(_entries(library, language)))
    hits = [hit for entry in entries if (hit := _hit(entry, words, pattern))]
    return sorted(hits, key=lambda hit: -hit.score)


def _pattern(word: str) -> str:
    return re.escape(word[:-1]) + r"\w?" if len(word) >= 6 else re.escape(word)


def _hit(entry: Entry, words: list[str], pattern: re.Pattern[str]) -> Hit | None:
    score = 0.0
    for word in words:
        found = re.compile(rf"\b{_pattern(word)}(\w*)")
        best = 0.0
        for passage in entry.passages:
            for match in found.finditer(passage.folded):
                exact = 1.5 if match[0] == word else 1.0
                best = max(best, passage.weight * exact)
        if not best:
            return None
        score += best
    counted = sum(len(pattern.findall(passage.folded)) for passage in entry.passages)
    shown = [passage for passage in entry.passages if passage.shown]
    matching = (passage for passage in shown if pattern.search(passage.folded))
    excerpted = next(matching, shown[0] if shown else entry.passages[0])
    return Hit(
        entry,
        score + min(counted, 20) / 100,
        _marked(entry.passages[0], pattern),
        _excerpt(excerpted, pattern),
        excerpted.language,
    )


def _excerpt(passage: Passage, pattern: re.Pattern[str]) -> SafeString:
    first = pattern.search(passage.folded)
    at = passage.places[first.start()] if first else 0
    start = max(0, at - _AROUND)
    if start:
        start = passage.text.find(" ", start) + 1 or start
    end = min(len(passage.text), at + 2 * _AROUND)
    if end < len(passage.text):
        end = max(passage.text.rfind(" ", 0, end), at + 1)
    html = _marked(passage, pattern, start, end)
    return format_html(
        "{}{}{}", "… " if start else "", html, " …" if end < len(passage.text) else ""
    )


def _marked(
    passage: Passage, pattern: re.Pattern[str], start: int = 0, end: int | None = None
) -> SafeString:
    text = passage.text
    stop = len(text) if end is None else end
    html, at = "", start
    for match in pattern.finditer(passage.folded):
        low, high = passage.places[match.start()], passage.places[match.end() - 1] + 1
        if low < at or high > stop:
            continue
        html += f"{escape(text[at:low])}<mark>{escape(text[low:high])}</mark>"
        at = high
    return mark_safe(html + escape(text[at:stop]))


def _entries(library: Library, language: str) -> Iterator[Entry]:
    for shelf in library.shelves.values():
        for lesson, step in shelf.course.steps():
            if lesson.id not in shelf.broken:
                yield _entry(shelf, lesson, step, language)


def _entry(shelf: Shelf, lesson: s.Lesson, step: s.Step, language: str) -> Entry:
    texts = shelf.lesson_texts[lesson.id]

    def passage(block: str, weight: float, shown: bool = True) -> Passage | None:
        text = texts.get(block, language)
        words = plain(re.sub(r"(?<!\\)\$[^$]+\$", " ", text.markdown))
        return _passage(words, text.language, weight, shown) if words else None

    lesson_title = plain(texts.get("title", language).markdown)
    course_title = plain(shelf.texts.get("title", language).markdown)
    title = plain(texts.get(f"{step.id}/title", language).markdown)
    found = [
        _passage(title, language, 8, shown=False),
        passage(f"{step.id}/lede", 4),
        *(passage(f"{step.id}/{block}", 1) for block in _searched(step)),
        passage(f"{step.id}/ask.title", 4),
        # The lesson's own words come last: the excerpt is the step's, where it has the word.
        passage("title", 4, shown=False),
        passage("lede", 2),
    ]
    passages = tuple(item for item in found if item is not None)
    ids = (shelf.course.id, lesson.id, step.id)
    return Entry(*ids, title, lesson_title, course_title, passages)


def _searched(step: s.Step) -> Iterator[str]:
    """Prose, captions and the question; never hints, rubrics or the explanation of the key."""
    for item in step.body:
        if isinstance(item, s.Passage):
            yield item.block
        elif isinstance(item, s.FigureRef):
            yield f"figure.{item.name}.caption"
    if step.activity:
        yield "ask.prompt"


def _passage(text: str, language: str, weight: float, shown: bool) -> Passage:
    folded, places = fold(text, language)
    return Passage(text, language, weight, folded, places, shown)
