"""The cases of a Run: their squares, and each one as text.

static/js/run/cases.js draws the same in the browser.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernels.procedure import Grid
from runner.wording import Wording

WIDEST = 12  # squares side by side, on a phone too


@dataclass
class Square:
    label: str
    verdict: str = ""  # passed, failed, or still to come

    @property
    def looks(self) -> str:
        return {"passed": "cell p", "failed": "cell f"}.get(self.verdict, "cell")


@dataclass
class Row:
    label: str
    squares: list[Square]


@dataclass(frozen=True)
class Bank:
    """Columns of the grid that stand side by side, with their squares of every row."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class CaseView:
    """One case as text: its title, what was measured, and why it failed."""

    id: str
    title: str
    verdict: str
    error: str
    facts: list[tuple[str, str]]
    why: str


def blank(grid: Grid | None, wording: Wording) -> list[Row]:
    """Every square in its place before anything ran."""
    if grid is None:
        return []
    waiting = wording.say("waiting")
    return [
        Row(row, [Square(f"{name}: {waiting}") for name in names(grid, row, wording)])
        for row in grid.rows
    ]


def names(grid: Grid, row: str, wording: Wording) -> list[str]:
    return [
        ", ".join([row, column, *slot_name(grid, slot, wording)])
        for column in columns(grid, wording)
        for slot in grid.slots
    ]


def columns(grid: Grid, wording: Wording) -> list[str]:
    return [wording.named_value(column) for column in grid.columns]


def bank_columns(grid: Grid) -> int:
    """How many columns stand side by side, so that no square is out of sight."""
    return min(len(grid.columns), max(1, WIDEST // len(grid.slots)))


def banks(grid: Grid, rows: list[Row], wording: Wording) -> list[Bank]:
    names, size, slots = columns(grid, wording), bank_columns(grid), len(grid.slots)
    return [
        Bank(
            tuple(names[first : first + size]),
            tuple(
                Row(row.label, row.squares[first * slots : (first + size) * slots]) for row in rows
            ),
        )
        for first in range(0, len(names), size)
    ]


def slot_name(grid: Grid, slot: str, wording: Wording) -> list[str]:
    """A seed, or the tensor that is compared."""
    if len(grid.slots) < 2:
        return []
    return [wording.say("seed", seed=slot) if slot.isdecimal() else slot]


def square_at(rows: list[Row], grid: Grid | None, place: list[int] | None) -> Square | None:
    """None for a case beside the grid, or of a grid that was drawn otherwise when it ran."""
    if grid is None or not place:
        return None
    row, column, slot = place
    within = (range(len(grid.rows)), range(len(grid.columns)), range(len(grid.slots)))
    if not all(index in axis for index, axis in zip(place, within, strict=True)):
        return None
    return rows[row].squares[column * len(grid.slots) + slot]


def case_view(data: Mapping[str, Any], wording: Wording) -> CaseView:
    error = data.get("max_abs_error")
    return CaseView(
        id=data["id"],
        title=title(data, wording),
        verdict=data["verdict"],
        error="" if error is None else wording.number(error, 3),
        facts=facts(data, wording),
        why=wording.note(data.get("why")),
    )


def facts(data: Mapping[str, Any], wording: Wording) -> list[tuple[str, str]]:
    """What was measured of a case, each with its name."""
    found: list[tuple[str, str]] = []
    if worst := data.get("worst"):
        found = [
            (wording.say("worst"), where(worst["index"], wording)),
            (wording.say("got"), wording.number(worst["got"])),
            (wording.say("expected"), wording.number(worst["expected"])),
            (wording.say("allowed"), "± " + wording.number(worst["allowed"], 3)),
        ]
    if (error := data.get("max_abs_error")) is not None:
        found.append((wording.say("error"), wording.number(error, 3)))
    if (atol := data.get("atol")) is not None:
        allowed = wording.say("tolerance_value", atol=atol, rtol=data.get("rtol", 0))
        found.append((wording.say("tolerance"), allowed))
    return found


def title(data: Mapping[str, Any], wording: Wording) -> str:
    """FP32, 17 × 257, seed 1: the labels of a case, read as one line."""
    labels = dict(data["labels"])
    parts = [str(labels.pop("dtype"))] if "dtype" in labels else []
    if "rows" in labels and "columns" in labels:
        parts.append(f"{labels.pop('rows')} × {labels.pop('columns')}")
    for key, value in labels.items():
        if key == "seed":
            parts.append(wording.say("seed", seed=str(value)))
            continue
        column = wording.messages.get(f"column.{key}", "")
        parts.append(f"{column} {wording.named_value(value)}".strip())
    if data.get("what") and not data.get("place"):
        parts.append(wording.named_value(data["what"]))
    return ", ".join(parts)


def where(index: list[int], wording: Wording) -> str:
    if len(index) == 2:
        return wording.say("at_row_column", row=index[0], column=index[1])
    return wording.say("at_index", index=", ".join(map(str, index)))
