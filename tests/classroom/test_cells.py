"""Cells that a spreadsheet shows and does not run."""

import csv
import io
from decimal import Decimal
from typing import Any

import pytest
from openpyxl import load_workbook

from classroom import cells
from classroom.cells import Sheet, Value, bare, dialect_of, neutral

HOSTILE = [
    "=1+1",
    "=cmd|'/c calc'!A0",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    " =1+1",
    "\u00a0=1+1",
    "\u200b=1+1",
    '"=1+1',
    "'=1+1",
    "' =1+1",
    "＝1+1",
    "＋1",
    "－1",
    "＠SUM(A1)",
    "\x00=1+1",
    '=HYPERLINK("https://evil.example","me")',
]
HARMLESS = [
    "",
    "Ada",
    "O’Brien",
    "İpek Çağlar",
    "a=b",
    "3 - 2",
    "Zoë (she)",
    "“=1+1”",
    "%35",
    "|x|",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_that_begins_like_a_formula_is_given_an_apostrophe(text: str) -> None:
    made = neutral(text)
    assert made.startswith("'")
    assert "\x00" not in made
    assert bare(made) == text.replace("\x00", "")


@pytest.mark.parametrize("text", HARMLESS)
def test_any_other_text_stays_as_it_is(text: str) -> None:
    assert neutral(text) == text
    assert bare(text) == text


@pytest.mark.parametrize(
    ("language", "line"),
    [("en", "Ada,2.5,-1,"), ("fr", "Ada;2,5;-1;"), ("tr", "Ada;2,5;-1;")],
)
def test_a_csv_is_written_as_the_reader_s_spreadsheet_reads_it(language: str, line: str) -> None:
    rows: list[list[Value]] = [["Ada", Decimal("2.50"), -1, None]]
    text = "".join(cells.csv_pieces(Sheet("s", ["a", "b", "c", "d"], rows), dialect_of(language)))
    assert text.startswith(cells.BOM)
    assert text.splitlines()[1] == line


def test_separators_quotes_and_line_ends_stay_in_their_cell() -> None:
    said = 'semi;colon, comma, "quote"\r\nline'
    text = "".join(cells.csv_pieces(Sheet("s", ["a"], [[said]]), dialect_of("fr")))
    assert list(csv.reader(io.StringIO(text, newline=""), delimiter=";"))[1] == [said]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_in_a_workbook_is_a_formula(text: str) -> None:
    (cell,) = read_back([[text]])[1]
    assert cell.data_type == "s"
    assert not str(cell.value).startswith("=")


def test_numbers_in_a_workbook_are_numbers() -> None:
    row = read_back([[Decimal("2.5"), 3, None, "007"]])[1]
    assert [cell.value for cell in row] == [2.5, 3, None, "007"]
    assert [cell.data_type for cell in row][:2] == ["n", "n"]


def test_a_sheet_s_name_is_one_that_spreadsheets_take() -> None:
    book = load_workbook(cells.xlsx_file([Sheet("[a]/b:c*d?" + "x" * 60, ["h"], [])]))
    assert book.sheetnames == ["abcd" + "x" * 27]


def read_back(rows: list[list[Value]]) -> Any:
    file = cells.xlsx_file([Sheet("s", [str(n) for n in range(len(rows[0]))], rows)])
    return list(load_workbook(file)["s"].iter_rows())
