"""Uploaded tables: what is read of them, and the sentences over those that are none."""

import io
import zipfile
from typing import Any

import pytest
from openpyxl import Workbook

from classroom.reading import MOST_BYTES, MOST_ROWS, Unreadable, read_table

HEAD = "key,lesson,points\n"
PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 40


def read(data: bytes, name: str = "a.csv") -> list[tuple[str, ...]]:
    return [row.cells for row in read_table(name, io.BytesIO(data), len(data))]


def refusal(data: bytes, name: str = "a.csv") -> str:
    with pytest.raises(Unreadable) as caught:
        read(data, name)
    return str(caught.value)


def workbook(rows: list[list[Any]]) -> bytes:
    book = Workbook()
    for row in rows:
        book.worksheets[0].append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def changed(data: bytes, **parts: bytes) -> bytes:
    """The workbook with parts put in place of its own."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        for item in old.infolist():
            new.writestr(item.filename, parts.pop(item.filename, old.read(item)))
        for name, content in parts.items():
            new.writestr(name, content, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def zipped(**parts: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as box:
        for name, content in parts.items():
            box.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        "key,lesson\na,é\n".encode(),
        "key,lesson\na,é\n".encode("utf-8-sig"),
        "key;lesson\r\na;é\r\n".encode(),
        "key\tlesson\na\té\n".encode(),
        "key\tlesson\r\na\té\r\n".encode("utf-16"),
        '\n\n"key","lesson"\n\n" a ","é"\n'.encode(),
    ],
)
def test_a_csv_is_read_with_any_usual_separator_and_encoding(data: bytes) -> None:
    assert read(data) == [("key", "lesson"), ("a", "é")]


def test_lines_are_numbered_as_an_editor_numbers_them() -> None:
    data = b'key,lesson\n\n"two\nlines",b\nc,d\n'
    assert [row.number for row in read_table("a.csv", io.BytesIO(data), len(data))] == [1, 4, 5]


def test_a_workbook_is_read_as_its_cells_are_seen() -> None:
    data = workbook([["key", "points"], ["a", 2.5], ["b", 0.1 + 0.2], ["c", 3], [None, None]])
    assert read(data) == [("key", "points"), ("a", "2.5"), ("b", "0.3"), ("c", "3")]


def test_a_workbook_is_known_by_what_it_is_and_not_by_its_name() -> None:
    assert read(workbook([["key"]]), "a.csv") == [("key",)]


def test_a_formula_is_read_as_one() -> None:
    data = workbook([["key"], ["=1+1"]])
    rows = read_table("a.xlsx", io.BytesIO(data), len(data))
    assert [row.has_formula for row in rows] == [False, True]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"\n \n", "empty"),
        (b",,\n , \n", "empty"),
        ("key,lesson\né,1\n".encode("latin-1"), "UTF-8"),
        (b"key\x00,lesson\n", "binary"),
        (PNG, "binary"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n\x01\x02" + HEAD.encode(), "binary"),
        (b"\xff\xfek\x00e", "binary"),  # UTF-16 that breaks off in a letter
        (HEAD.encode() + b'"open,1,2\n', "Line 2"),
        (HEAD.encode() + b'a"b,"c"d,2\n', "Line 2"),
        (HEAD.encode() + b"a,b,1\n" * (MOST_ROWS + 1), "5000 rows"),
        (b"," * 200 + b"x\n", "columns"),
        (b"x" * 5000 + b"\n", "characters"),
        (b"a" * (MOST_BYTES + 1), "1 MB"),
        (b"PK\x03\x04 and no more", "damaged"),
        (b"\xd0\xcf\x11\xe0" + b"\x00" * 100, "Old Excel"),
    ],
)
def test_what_is_no_table_is_refused_with_a_sentence(data: bytes, words: str) -> None:
    assert words in refusal(data)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.xlsx", PNG, "no workbook, whatever its name says"),
        ("A.XLSX", b"\x7fELF" + b"\x00" * 40, "no workbook, whatever its name says"),
        ("a.csv", PNG, "binary"),
        ("a.png", PNG, "binary"),
        ("a.xlsx", "key,lesson\né,1\n".encode("latin-1"), "UTF-8"),
        ("a.docx", zipped(**{"word/document.xml": b"<document/>"}), "no spreadsheet"),
        ("a.xlsx", zipped(**{"word/document.xml": b"<document/>"}), "no spreadsheet"),
    ],
)
def test_a_file_is_refused_for_what_it_is_and_not_for_its_letters(
    name: str, data: bytes, words: str
) -> None:
    assert words in refusal(data, name)


def test_text_in_a_file_called_a_workbook_is_read_as_text() -> None:
    assert read(b"key,lesson\na,b\n", "a.xlsx") == [("key", "lesson"), ("a", "b")]


def test_a_cell_with_a_quote_in_it_that_runs_on_is_refused() -> None:
    assert "131072" not in refusal(b'"' + b"x" * 200_000 + b"\n")


@pytest.mark.parametrize("name", ["a.xlsm", "a.xls", "a.XLSB"])
def test_a_name_of_a_file_with_macros_is_refused(name: str) -> None:
    assert "macros" in refusal(workbook([["key"]]), name)


def test_macros_are_refused_whatever_the_file_is_called() -> None:
    assert "macros" in refusal(changed(workbook([["key"]]), **{"xl/vbaProject.bin": b"x"}))


def test_a_workbook_that_unpacks_to_far_more_is_refused_unread() -> None:
    bomb = changed(workbook([["key"]]), **{"xl/worksheets/sheet1.xml": b" " * 30_000_000})
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(bomb)) as old, zipfile.ZipFile(packed, "w") as new:
        for item in old.infolist():
            new.writestr(item.filename, old.read(item), zipfile.ZIP_DEFLATED)
    assert len(packed.getvalue()) < MOST_BYTES
    assert "unpacks" in refusal(packed.getvalue())


def test_entities_in_a_workbook_are_refused() -> None:
    sheet = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]><worksheet>&a;</worksheet>'
    assert "entities" in refusal(
        changed(workbook([["key"]]), **{"xl/worksheets/sheet1.xml": sheet})
    )


@pytest.mark.parametrize(
    "sheet",
    [
        b"<worksheet",
        b"not xml",
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        b'<row r="x"><c r="A1" t="s"><v>99</v></c></row></sheetData></worksheet>',
    ],
)
def test_a_workbook_with_broken_parts_is_refused(sheet: bytes) -> None:
    data = changed(workbook([["key"]]), **{"xl/worksheets/sheet1.xml": sheet})
    assert "damaged" in refusal(data)


def test_a_cell_far_away_is_refused_before_a_million_rows_are_made() -> None:
    sheet = (
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        b'<dimension ref="A1:XFD1048576"/><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>key'
        b'</t></is></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
        b"</worksheet>"
    )
    assert "5000 rows" in refusal(changed(workbook([["x"]]), **{"xl/worksheets/sheet1.xml": sheet}))


def test_a_column_too_many_is_refused_in_a_workbook_too() -> None:
    assert "columns" in refusal(workbook([["key"], [*[None] * 41, "x"]]))
