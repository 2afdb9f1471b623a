"""What the form of an Activity holds, read from a POST whose fields bear the fields' ids."""

import unicodedata
import uuid
from dataclasses import dataclass

from django.http import QueryDict

from lessons.checking import Typed
from lessons.content import structure as s


@dataclass(frozen=True)
class Posted:
    typed: dict[str, Typed]
    base: int  # the version of the Answer that the page had seen
    key: uuid.UUID  # the same for every click on one page
    move: tuple[str, str, str] | None  # field, item, "up" or "down": a button without JavaScript
    draft: bool


def read_form(activity: s.Activity, post: QueryDict) -> Posted:
    typed = {field.id: _typed(field, post) for field in activity.fields}
    move = _move(post.get("move", ""))
    if move and move[0] in typed:
        typed[move[0]] = Typed(_moved(typed[move[0]].raw, move[1], move[2]))
    base = post.get("base", "")
    return Posted(
        typed=typed,
        base=int(base) if base.isdecimal() and len(base) < 10 else 0,
        key=_key(post.get("key", "")),
        move=move,
        draft=move is not None or post.get("do") == "draft",
    )


def blank(activity: s.Activity, typed: dict[str, Typed]) -> bool:
    """Whether nothing was typed at all; an order always holds something."""
    return not any(
        typed[field.id].raw for field in activity.fields if not isinstance(field, s.OrderField)
    ) and not any(isinstance(field, s.OrderField) for field in activity.fields)


def _typed(field: s.Field, post: QueryDict) -> Typed:
    match field:
        case s.OrderField():
            return Typed([_clean(value) for value in post.getlist(field.id)])
        case s.ChoiceField(multiple=True):
            return Typed(sorted({_clean(value) for value in post.getlist(field.id)}))
        case s.NumberField():
            raw = _clean(post.get(field.id, "")).strip()
            # A reading chosen for another text than this one no longer holds.
            chosen = (
                post.get(f"{field.id}.reading", "") if raw == post.get(f"{field.id}.of") else ""
            )
            return Typed(raw, _clean(chosen)[:100])
        case _:
            return Typed(_clean(post.get(field.id, "")))


def _clean(text: str) -> str:
    """NFC, one kind of line ending, none of the characters a database refuses."""
    return unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\x00", "")


def _key(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        return uuid.uuid4()


def _move(text: str) -> tuple[str, str, str] | None:
    parts = text.split(":")
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None


def _moved(raw: str | list[str], item: str, way: str) -> list[str]:
    order = list(raw)
    if item in order:
        at = order.index(item)
        to = at - 1 if way == "up" else at + 1
        if 0 <= to < len(order):
            order[at], order[to] = order[to], order[at]
    return order
