"""A judgement as a form holds it: read from a POST, with a sentence for each thing that is wrong.

Nothing typed is lost: what cannot be taken is in `raw` as it was, to be shown again.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import zip_longest
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from classroom import passages
from classroom.amounts import whole
from classroom.grading import LONGEST_COMMENT, LONGEST_REPLY, Judgement
from classroom.passages import Misplaced, Passage
from classroom.rubrics import Unfit, read_points

_PARTS = ("field", "start", "end", "quote", "text")


@dataclass(frozen=True)
class RawPassage:
    """One comment on a passage as the form holds it; `start` and `end` may be missing."""

    field: str = ""
    start: str = ""
    end: str = ""
    quote: str = ""
    text: str = ""


@dataclass(frozen=True)
class Posted:
    judgement: Judgement
    seen: int
    revision: uuid.UUID | None
    adjustment: str  # as typed
    passages: tuple[RawPassage, ...]
    reply: str
    problems: Mapping[str, str] = field(default_factory=dict)  # adjustment, comment, passages, …


def read_judgement(data: QueryDict, content: Mapping[str, Any] | None) -> Posted:
    """`content` is that of the revision commented on; None where passages make no sense."""
    problems: dict[str, str] = {}
    typed = data.get("adjustment", "").strip()
    adjustment = Decimal(0)
    try:
        adjustment = read_points(typed) if typed else adjustment
    except Unfit as unfit:
        problems["adjustment"] = str(unfit)
    comment = data.get("comment", "").replace("\r\n", "\n").strip()
    if len(comment) > LONGEST_COMMENT:
        problems["comment"] = _too_long(len(comment) - LONGEST_COMMENT)
    reply = data.get("reply", "").replace("\r\n", "\n").strip()
    if len(reply) > LONGEST_REPLY:
        problems["reply"] = _too_long(len(reply) - LONGEST_REPLY)
    raw = _raw_passages(data) if content is not None else ()
    placed: tuple[Passage, ...] = ()
    if content is not None:
        try:
            placed = _placed(content, raw)
        except Unfit as unfit:
            problems["passages"] = str(unfit)
    return Posted(
        Judgement(
            points=frozenset(
                point for typed in data.getlist("point") if (point := whole(typed)) is not None
            ),
            adjustment=adjustment,
            comment=comment,
            is_ungradable="ungradable" in data,
            passages=placed,
        ),
        seen=whole(data.get("seen", "")) or 0,
        revision=_uuid(data.get("revision", "")),
        adjustment=typed,
        passages=raw,
        reply=reply,
        problems=problems,
    )


def _raw_passages(data: QueryDict) -> tuple[RawPassage, ...]:
    """The form's parallel lists. One whose comment was emptied is taken away."""
    columns = [data.getlist(f"passage-{part}") for part in _PARTS]
    rows = (RawPassage(*row) for row in zip_longest(*columns, fillvalue=""))
    return tuple(row for row in rows if row.text.strip())


def _placed(content: Mapping[str, Any], raw: tuple[RawPassage, ...]) -> tuple[Passage, ...]:
    if len(raw) > passages.MOST_PASSAGES:
        raise Unfit(
            _("One answer takes at most %(n)d comments on passages.")
            % {"n": passages.MOST_PASSAGES}
        )
    found = []
    for row in raw:
        text = row.text.replace("\r\n", "\n").strip()
        if len(text) > passages.LONGEST_TEXT:
            raise Unfit(_too_long(len(text) - passages.LONGEST_TEXT))
        start, end = whole(row.start), whole(row.end)
        try:
            found.append(passages.place(dict(content), row.field, row.quote, start, end, text))
        except Misplaced as lost:
            raise Unfit(
                _(
                    "The words “%(quote)s” do not stand in this answer: it may have changed since "
                    "you marked them. Your comment is kept below; mark the passage again."
                )
                % {"quote": lost.quote[:80]}
            ) from None
    return tuple(sorted(found, key=lambda p: (p.field, p.start, p.end, p.text)))


def _too_long(by: int) -> str:
    return ngettext(
        "This is too long by %(n)d character.", "This is too long by %(n)d characters.", by
    ) % {"n": by}


def _uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None
