"""What a page says of a Run without a script: numbers, sentences, and the story of its Events."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

import kernels
from kernels.names import NAMES
from kernels.procedure import Grid
from kernels.registry import PROCEDURES
from runner import api
from runner.cases import WIDEST, bank_columns, banks
from runner.story import tell
from runner.wording import Wording, number

GRID = Grid(rows=("FP32 · 1", "FP32 · 17"), columns=("N = 31", "N = 257"), slots=("1", "2"))


def wording(language: str = "en") -> Wording:
    return Wording(language, api.messages(language))


@pytest.mark.parametrize(
    ("value", "language", "shown"),
    [
        (257, "en", "257"),
        (4096, "fr", "4096"),
        (131584, "en", "131,584"),
        (131584, "fr", "131\u202f584"),
        (131584, "tr", "131.584"),
        (0.501953125, "fr", "0,5019531"),
        (-1.5, "en", "−1.5"),
        (0.0, "en", "0"),
        (1.0, "fr", "1"),
        (2.4841810031261957e-07, "en", "2.48 × 10⁻⁷"),
        (1e-06, "fr", "1 × 10⁻⁶"),
        (float("inf"), "en", "∞"),
        ("nan", "tr", "NaN"),
        ("-inf", "en", "−∞"),
    ],
)
def test_a_number_stands_as_its_reader_writes_it(value: Any, language: str, shown: str) -> None:
    assert number(value, language) == shown


def test_what_depends_on_a_number_is_chosen_by_the_language() -> None:
    assert wording().say("count_passed", n=1) == "1 passed"
    assert wording().say("count_passed", n=66) == "66 passed"


def test_a_code_without_a_sentence_shows_itself() -> None:
    assert (
        wording().note({"code": "why.unheard-of", "params": {"n": 2.5}}) == "why.unheard-of n=2.5"
    )


def event(kind: str, **data: Any) -> dict[str, Any]:
    return {"seq": 1, "kind": kind, "at": "", "data": data}


def a_case(verdict: str, place: tuple[int, int, int] | None, **labels: Any) -> dict[str, Any]:
    labels = {"dtype": "FP32", "rows": 17, "columns": 257} | labels
    return event("case", id=str(place), verdict=verdict, labels=labels, place=place)


def test_every_square_is_there_before_anything_ran() -> None:
    rows = tell([], GRID, wording()).rows
    assert [len(row.squares) for row in rows] == [4, 4]
    assert rows[1].squares[3].label == "FP32 · 17, N = 257, seed 2: still to come"


def test_a_column_that_is_a_word_is_said_in_the_reader_s_and_a_tensor_is_no_seed() -> None:
    grid = Grid(rows=("FP32",), columns=("1 × 3", "tiles-of-infinity"), slots=("losses", "dlogits"))
    labels = [square.label for square in tell([], grid, wording("fr")).rows[0].squares]
    assert labels[1] == "FP32, 1 × 3, dlogits: à venir"
    assert labels[2] == "FP32, des tuiles entières de −∞, losses: à venir"


GRIDS = [procedure.grid for procedure in PROCEDURES.values() if procedure.grid]


def test_every_grid_has_its_width_in_the_style_sheet() -> None:
    """And no more squares side by side than can be seen at once."""
    sheet = (settings.BASE_DIR / "static/css/bench.css").read_text()
    for grid in GRIDS:
        squares = bank_columns(grid) * len(grid.slots)
        assert squares <= WIDEST
        assert f".cols-{squares} {{" in sheet and f".slots-{len(grid.slots)} {{" in sheet


def test_the_banks_of_a_grid_hold_each_square_once_and_in_order() -> None:
    grid = Grid(rows=("a", "b"), columns=tuple("12345"), slots=tuple("xyzuv"))
    rows = tell([], grid, wording()).rows
    found = banks(grid, rows, wording())
    assert [bank.columns for bank in found] == [("1", "2"), ("3", "4"), ("5",)]
    for index, row in enumerate(rows):
        assert [square for bank in found for square in bank.rows[index].squares] == row.squares


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
def test_every_column_of_every_grid_is_a_size_or_has_a_name(language: str) -> None:
    said = wording(language)
    for column in {column for grid in GRIDS for column in grid.columns}:
        is_size = re.fullmatch(r"(N = )?[\d ×·]+", column)
        assert is_size or f"name.{column}" in said.messages, column


def test_a_case_turns_its_own_square() -> None:
    story = tell([a_case("passed", (1, 1, 0), seed=1)], GRID, wording())
    square = story.rows[1].squares[2]
    assert (square.verdict, square.label) == ("passed", "FP32 · 17, N = 257, seed 1: passed")
    assert sum(bool(s.verdict) for row in story.rows for s in row.squares) == 1
    assert (story.passed, story.failed, story.failure) == (1, 0, None)


def test_the_first_failure_is_the_one_that_is_opened() -> None:
    events = [a_case("failed", (0, 0, 1), seed=2), a_case("failed", (0, 1, 0), seed=1)]
    story = tell(events, GRID, wording())
    assert story.failure and story.failure.title == "FP32, 17 × 257, seed 2"


def test_a_case_without_a_place_stands_below() -> None:
    story = tell([a_case("passed", None, input="row-of-zeros")], GRID, wording())
    assert len(story.loose) == 1 and story.passed == 1 and story.failed == 0


@pytest.mark.parametrize("place", [(2, 0, 0), (0, 2, 0), (0, 0, 2), (-1, 0, 0)])
def test_a_case_of_a_grid_that_was_drawn_otherwise_stands_below(
    place: tuple[int, int, int],
) -> None:
    story = tell([a_case("failed", place)], GRID, wording())
    assert len(story.loose) == 1 and story.failed == 1
    assert not any(square.verdict for row in story.rows for square in row.squares)


def test_a_case_with_a_place_and_no_grid_stands_below() -> None:
    assert len(tell([a_case("passed", (0, 0, 0))], None, wording()).loose) == 1


@pytest.mark.parametrize(
    ("unit", "language", "shown"),
    [
        ("us", "en", "µs"),
        ("us", "tr", "µs"),
        ("ms", "fr", "ms"),
        ("s", "en", "s"),
        ("%", "en", "%"),
        ("bytes", "en", "bytes"),
        ("B", "fr", "octets"),
        ("bytes", "fr", "octets"),
        ("bytes", "tr", "bayt"),
        ("W", "fr", "W"),
        (None, "en", ""),
    ],
)
def test_a_unit_is_named_in_figures_and_in_tables(
    unit: str | None, language: str, shown: str
) -> None:
    events = [
        event("metric", name="m", value=1.5, unit=unit),
        event("table", name="t", columns=[{"key": "c", "unit": unit}], rows=[[1]]),
    ]
    story = tell(events, None, wording(language))
    assert story.lone[0].unit == shown
    assert story.tables[0]["columns"][0]["unit"] == shown


def test_every_unit_that_a_procedure_gives_has_a_name_or_is_a_symbol() -> None:
    sources = "".join(file.read_text() for file in Path(kernels.__file__).parent.rglob("*.py"))
    written = r"""Metric\([^()]*unit="([^"]+)"|Column\("[^"]+", "([^"]+)"\)"""
    found = {unit for pair in re.findall(written, sources) for unit in pair if unit}
    assert {"us", "B", "bytes", "%"} <= found
    assert found - {code.removeprefix("unit.") for code in NAMES} == set()


def test_a_curve_is_told_by_its_last_value() -> None:
    points = [
        event("metric", name="loss", series="kernel", step=n, value=1 / n) for n in range(1, 5)
    ]
    assert [figure.value for figure in tell(points, None, wording()).lasts] == ["0.25"]


def test_what_is_missing_in_a_table_is_a_dash() -> None:
    columns = [{"key": "call"}, {"key": "median", "unit": "µs"}]
    told = tell(
        [event("table", name="t", columns=columns, rows=[["forward", None]])], None, wording()
    )
    assert [cell["text"] for cell in told.tables[0]["rows"][0]] == ["forward", "–"]
