"""Sizes in bytes: written for people, and as the pieces of a bar 1,000 units wide."""

from collections.abc import Mapping
from dataclasses import dataclass

from lessons.numbers import show_quantity

WIDE = 1000
DECIMAL = (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3))


@dataclass(frozen=True)
class Segment:
    kind: str  # gives its colour
    x: str
    width: str


def stacked(sizes: Mapping[str, int], whole: int) -> tuple[Segment, ...]:
    """Each size as a piece of a bar that stands for `whole`; what goes beyond it is cut off."""
    found, at = [], 0.0
    for kind, size in sizes.items():
        end = min(at + WIDE * size / whole, WIDE)
        if end > at:
            found.append(Segment(kind, f"{at:.2f}", f"{end - at:.2f}"))
        at = end
    return tuple(found)


def human(size: int, language: str) -> str:
    """Decimal units, as the course counts: 1 MB is 1,000,000 bytes."""
    for unit, scale in DECIMAL:
        if size >= scale:
            return show_quantity(size / scale, unit, language, 2)
    return show_quantity(size, "bytes", language)
