"""Small plots drawn on the server: bars that stand beside their numbers.

They hold no text (a phone would shrink it); what they show is said in `aria-label` and in the
table around them. Blue is what went forward; green and red are verdicts, and the words beside the
bar say which.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

_WIDTH, _HEIGHT = 200, 10


@dataclass(frozen=True)
class Part:
    """A stretch of a bar; `kind` is its class: done, reached, pass, fail, other."""

    kind: str
    count: float


def nested(total: int, parts: Sequence[Part], label: str) -> SafeString:
    """Parts of one whole that hold each other, the largest first, all from the left."""
    pieces = [(part.kind, 0.0, _scaled(part.count, total)) for part in parts]
    return _bar(pieces, label)


def stacked(total: int, parts: Sequence[Part], label: str) -> SafeString:
    """Parts of one whole, one after the other."""
    pieces, at = [], 0.0
    for part in parts:
        width = _scaled(part.count, total)
        pieces.append((part.kind, at, width))
        at += width
    return _bar(pieces, label)


def _scaled(count: float, total: int) -> float:
    return min(count / total, 1.0) * _WIDTH if total else 0.0


def _bar(pieces: Sequence[tuple[str, float, float]], label: str) -> SafeString:
    rects = format_html_join(
        "",
        '<rect class="{}" x="{}" width="{}" height="{}"/>',
        (
            (kind, f"{at:.2f}", f"{max(width - (0.8 if at else 0), 0.8):.2f}", _HEIGHT)
            for kind, at, width in pieces
            if width > 0
        ),
    )
    return format_html(
        '<svg class="bar-plot" role="img" aria-label="{}" viewBox="0 0 {} {}" '
        'preserveAspectRatio="none" xmlns="http://www.w3.org/2000/svg">'
        '<rect class="whole" width="{}" height="{}"/>{}</svg>',
        label,
        _WIDTH,
        _HEIGHT,
        _WIDTH,
        _HEIGHT,
        rects,
    )
