"""A table that somebody uploads, CSV or XLSX, read into rows of text. Nothing in it is trusted.

What cannot be read raises Unreadable with a sentence that says what to do about it.
"""

import csv
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import IO, Any
from xml.etree.ElementTree import ParseError

from django.utils.translation import gettext as _
from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

MOST_BYTES = 1000 * 1000
MOST_ROWS = 5000
MOST_COLUMNS = 40
_MOST_UNPACKED = 20 * 1000 * 1000  # bytes of a workbook, all its parts together
_MOST_PARTS = 300
_MOST_CELLS = 1000 * 1000  # empty ones counted
_LONGEST_CELL = 2000
_DOCTYPE = re.compile(rb"<!\s*(doctype|entity)", re.IGNORECASE)
_ZIP = b"PK\x03\x04"
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"


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
                yield _row(reader.line_num, cells, count)
    except csv.Error as error:
        raise Unreadable(
            _("Line %(line)d cannot be read: a quote is opened and not closed, or stands alone.")
            % {"line": reader.line_num}
        ) from error


def _decoded(data: bytes) -> str:
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(
            _(
                "The file is not in UTF-8, so its letters would be guessed. In the spreadsheet "
                "choose “CSV UTF-8”, or .xlsx."
            )
        ) from error
    if "\x00" in text:
        raise Unreadable(_("This is not a table: the file holds binary data."))
    return text


def _xlsx(data: bytes) -> Iterator[Row]:
    _require_harmless(data)
    try:
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=False, keep_links=False)
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # what the file says of its size is not believed
        count = seen = 0
        for number, cells in enumerate(sheet.iter_rows(), start=1):
            seen += len(cells)
            if (
                number > MOST_ROWS * 4 or seen > _MOST_CELLS
            ):  # one far away, and empty ones up to it
                raise Unreadable(_too_many_rows())
            if any(cell.value is not None for cell in cells[MOST_COLUMNS:]):
                raise Unreadable(_too_many_columns(number))
            said = [_said(cell.value) for cell in cells[:MOST_COLUMNS]]
            if any(text.strip() for text in said):
                count += 1
                formula = any(cell.data_type == "f" for cell in cells)
                yield _row(number, said, count, formula)
    except Unreadable:
        raise
    except _BROKEN as error:
        raise Unreadable(
            _("The workbook cannot be opened: it is damaged, or it is no spreadsheet.")
        ) from error


# What openpyxl raises over files that are not what they seem, beside its own exception.
_BROKEN = (InvalidFileException, zipfile.BadZipFile, ParseError, KeyError, IndexError, ValueError,
           TypeError, AttributeError, OSError, EOFError, NotImplementedError, RuntimeError,
           AssertionError, OverflowError)  # fmt: skip


def _require_harmless(data: bytes) -> None:
    """No bomb, no macros, no entities; before anything is unpacked by others."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as box:
            parts = box.infolist()
            if len(parts) > _MOST_PARTS or sum(p.file_size for p in parts) > _MOST_UNPACKED:
                raise Unreadable(_("The workbook unpacks to far more than a table needs."))
            if any("vbaproject" in part.filename.lower() for part in parts):
                raise Unreadable(
                    _("The workbook holds macros. Save it as .xlsx without them, or as .csv.")
                )
            for part in parts:  # a part's reader stops at the size that was counted above
                if part.filename.lower().endswith((".xml", ".rels")):
                    if _DOCTYPE.search(box.read(part)):
                        raise Unreadable(_("The workbook declares XML entities, which no "
                                           "spreadsheet does."))  # fmt: skip
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
        raise Unreadable(
            _("The workbook cannot be opened: it is damaged, or it is no spreadsheet.")
        ) from error


def _said(value: Any) -> str:
    """A cell as its reader would type it."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{round(value, 9):.12g}"  # 0.30000000000000004 was 0.3 on the screen
    return str(value)


def _row(number: int, cells: list[str], count: int, has_formula: bool = False) -> Row:
    while cells and not cells[-1].strip():
        cells.pop()
    if count > MOST_ROWS + 1:
        raise Unreadable(_too_many_rows())
    if len(cells) > MOST_COLUMNS:
        raise Unreadable(_too_many_columns(number))
    if any(len(cell) > _LONGEST_CELL for cell in cells):
        raise Unreadable(
            _("Line %(line)d has a cell of more than %(n)d characters.")
            % {"line": number, "n": _LONGEST_CELL}
        )
    return Row(number, tuple(cell.strip() for cell in cells), has_formula)


def _too_many_rows() -> str:
    return _("The file has more than %(n)d rows. Send a part of them at a time.") % {"n": MOST_ROWS}


def _too_many_columns(line: int) -> str:
    return _("Line %(line)d has more than %(n)d columns.") % {"line": line, "n": MOST_COLUMNS}
