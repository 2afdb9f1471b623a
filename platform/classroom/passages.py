"""Comments on a passage of an answer: which characters, what stood there, what is said of it.

Places count characters (code points) of the text in NFC. A passage whose words are not the ones
at its place is refused: the comment would stand beside something else.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

LONGEST_TEXT = 4_000
MOST_PASSAGES = 20  # of one answer


@dataclass(frozen=True)
class Passage:
    field: str
    start: int
    end: int
    quote: str
    text: str


@dataclass(frozen=True)
class Segment:
    """A run of characters with the same passages over it; `marks` are their places, from 1."""

    text: str
    marks: tuple[int, ...] = ()

    @property
    def numbers(self) -> str:
        return " ".join(str(number) for number in self.marks)


class Misplaced(Exception):
    """The quoted words are not in the answer (any more)."""

    def __init__(self, quote: str) -> None:
        super().__init__("the passage is not in the answer")
        self.quote = quote


def text_of(content: dict[str, Any], field: str) -> str:
    """A text field as passages count it."""
    raw = content.get(field, {}).get("raw", "")
    tidy = raw.replace("\r\n", "\n").replace("\r", "\n") if isinstance(raw, str) else ""
    return unicodedata.normalize("NFC", tidy)


def place(
    content: dict[str, Any], field: str, quote: str, start: int | None, end: int | None, text: str
) -> Passage:
    """The passage, found by its place or else by its words. Raises Misplaced."""
    whole = text_of(content, field)
    wanted = unicodedata.normalize("NFC", quote.replace("\r\n", "\n"))
    if start is not None and end is not None:
        if not wanted or whole[start:end] != wanted or not 0 <= start < end:
            raise Misplaced(quote)
        return Passage(field, start, end, wanted, text)
    wanted = wanted.strip()
    found = whole.find(wanted) if wanted else -1
    if found < 0:
        raise Misplaced(quote)
    return Passage(field, found, found + len(wanted), wanted, text)


def segments(text: str, passages: Iterable[tuple[int, int, int]]) -> Sequence[Segment]:
    """The text cut at the borders of (number, start, end); passages may overlap."""
    spans = list(passages)
    borders = sorted({0, len(text), *(b for _, start, end in spans for b in (start, end))})
    borders = [border for border in borders if border <= len(text)]
    return [
        Segment(text[low:high], tuple(n for n, start, end in spans if start <= low < end))
        for low, high in zip(borders, borders[1:], strict=False)
    ]
