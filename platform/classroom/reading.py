"""A table that somebody uploads, CSV or XLSX, read into rows of text. Nothing in it is trusted.

What cannot be read raises Unreadable with a sentence that says what to do about it.
"""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import IO

from django.utils.translation import gettext as _

MOST_BYTES = 1000 * 1000
MOST_ROWS = 5000
MOST_COLUMNS = 40
_LONGEST_CELL = 2000
_ZIP = b"PK\x03\x04"
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # in no text


class Unreadable(Exception):
    """The file is no table that is taken; the message is a sentence for who sent it."""


@dataclass(frozen=True)
class Row:
    """A line of the file, by its number in it, as its cells say it."""

    number: int
    cells: tuple[str, ...]
    has_formula: bool = False


def read_table(name: str, file: IO[bytes], size: int) -> list[Row]:
    """Every row that says anything, the head too. Raises Unreadable."""
    if size > MOST_BYTES:
        raise Unreadable(_("The file is larger than 1 MB. Send a part of it at a time."))
    data = file.read(MOST_BYTES + 1)
    if not data.strip():
        raise Unreadable(_("The file is empty."))
    ending = PurePath(name).suffix.lower()
    if ending in (".xlsm", ".xltm", ".xlsb", ".xls") or data.startswith(_OLD_EXCEL):
        raise Unreadable(
            _("Old Excel files and files with macros are not taken. Save it as .xlsx or .csv.")
        )
    if ending in (".xlsx", ".xltx") and not data.startswith(_ZIP) and _is_binary(data):
        raise Unreadable(
            _(
                "This is no workbook, whatever its name says. Save the table as .xlsx or .csv in "
                "a spreadsheet."
            )
        )
    rows = list(_xlsx(data) if data.startswith(_ZIP) else _csv(data))
    if not rows:
        raise Unreadable(_("The file is empty."))
    return rows


def _csv(data: bytes) -> Iterator[Row]:
    text = _decoded(data)
    head = text.lstrip("\r\n").split("\n", 1)[0]
    separator = max(";,\t", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    count = 0
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                count += 1
                yield row(reader.line_num, cells, count)
    except csv.Error as error:
        raise Unreadable(
            _("Line %(line)d cannot be read: a quote is opened and not closed, or stands alone.")
            % {"line": reader.line_num}
        ) from error


def _decoded(data: bytes) -> str:
    encoding = "utf-16" if data.startswith(_UTF_16) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding == "utf-16" or _is_binary(data):
            raise Unreadable(binary()) from error
        raise Unreadable(
            _(
                "The file is not in UTF-8, so its letters would be guessed. In the spreadsheet "
                "choose “CSV UTF-8”, or .xlsx."
            )
        ) from error
    if "\x00" in text:
        raise Unreadable(binary())
    return text


def _is_binary(data: bytes) -> bool:
    """A picture, a program, …: it holds what no text does, in whatever encoding."""
    return not data.startswith(_UTF_16) and bool(_CONTROLS.search(data))


def binary() -> str:
    return _("This is not a table: the file holds binary data.")


def _xlsx(data: bytes) -> Iterator[Row]:
    # Imported with the first workbook: openpyxl takes NumPy with it, which no page needs.
    found: Iterator[Row] = import_module("classroom.workbooks").rows(data)
    return found


def row(number: int, cells: list[str], count: int, has_formula: bool = False) -> Row:
    """The `count`th row that says anything. Raises Unreadable."""
    while cells and not cells[-1].strip():
        cells.pop()
    if count > MOST_ROWS + 1:
        raise Unreadable(too_many_rows())
    if len(cells) > MOST_COLUMNS:
        raise Unreadable(too_many_columns(number))
    if any(len(cell) > _LONGEST_CELL for cell in cells):
        raise Unreadable(
            _("Line %(line)d has a cell of more than %(n)d characters.")
            % {"line": number, "n": _LONGEST_CELL}
        )
    return Row(number, tuple(cell.strip() for cell in cells), has_formula)


def too_many_rows() -> str:
    return _("The file has more than %(n)d rows. Send a part of them at a time.") % {"n": MOST_ROWS}


def too_many_columns(line: int) -> str:
    return _("Line %(line)d has more than %(n)d columns.") % {"line": line, "n": MOST_COLUMNS}
