"""Tables at a terminal of any width: no number, label or name is cut."""

import io

import pytest
from rich.console import Console

from kernels.events import Case, Column, Event, Metric, Note, Table, Verdict
from kernels.registry import PROCEDURES
from kernels.report import Report


def printed(name: str, width: int, *events: Event) -> str:
    console = Console(file=io.StringIO(), width=width)
    Report(PROCEDURES[name], console).show(iter(events))
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def require_whole(text: str, width: int) -> None:
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width, text


@pytest.mark.parametrize("width", [80, 40])
@pytest.mark.parametrize("name", [name for name, one in PROCEDURES.items() if one.grid])
def test_a_grid_of_cases_loses_no_number_and_no_label(name: str, width: int) -> None:
    grid = PROCEDURES[name].grid
    assert grid is not None
    cases, due = [], []
    for i in range(len(grid.rows)):
        for j in range(len(grid.columns)):
            error = (i * 10 + j + 11) * 1e-7
            due.append(f"{error:.1e}")
            cases += [
                Case("a", Verdict.PASSED, {}, place=(i, j, k), max_abs_error=error)
                for k in range(len(grid.slots))
            ]
    text = printed(name, width, *cases)
    require_whole(text, width)
    assert all(number in text for number in due)
    if width == 80:
        assert all(label in text for label in (*grid.rows, *grid.columns))
        assert "┏" in text  # a table, not yet lines


@pytest.mark.parametrize("width", [80, 60, 30])
def test_no_table_cuts_a_number_or_a_name(width: int) -> None:
    ids = ("fp32-1x31-1", "without-zero-grads-differs", "one-micro-batch-cannot-show-it")
    why = Note("why.overwritten", {"count": 12, "total": 4096})
    cases = [Case(name, Verdict.FAILED, {}, max_abs_error=3.94e-12, why=why) for name in ids]
    columns = (Column("series"), *(Column(key, "ms") for key in ("median", "low", "high")),
               Column("rate"), Column("peak", "bytes"))  # fmt: skip
    row = ("max-autotune-deterministic", 12.3456, 12.1234, 13.9876, 123456.7, 98_765_432_101)
    table = Table("training-speed", columns, (row,))
    metrics = [Metric("norm-before", -1.234567e-12, unit="bytes", series=ids[2])]
    text = printed("andrea.train", width, table, Table("resume", columns, ()), *cases, *metrics)
    require_whole(text, width)
    for word in (*ids, "3.94e-12", "98765432101", row[0], "-1.234567e-12"):
        assert str(word) in text, word
