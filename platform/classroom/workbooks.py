"""A workbook that somebody uploads, read by openpyxl once nothing in it can do harm."""

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import ParseError

from django.utils.translation import gettext as _
from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from classroom.reading import (
    MOST_COLUMNS,
    MOST_ROWS,
    Row,
    Unreadable,
    row,
    too_many_columns,
    too_many_rows,
)

_MOST_UNPACKED = 20 * 1000 * 1000  # bytes, all parts together
_MOST_PARTS = 300
_MOST_CELLS = 1000 * 1000  # empty ones counted
_DOCTYPE = re.compile(rb"<!\s*(doctype|entity)", re.IGNORECASE)
# What openpyxl raises over files that are not what they seem, beside its own exception.
_BROKEN = (InvalidFileException, zipfile.BadZipFile, ParseError, KeyError, IndexError, ValueError,
           TypeError, AttributeError, OSError, EOFError, NotImplementedError, RuntimeError,
           AssertionError, OverflowError)  # fmt: skip


def rows(data: bytes) -> Iterator[Row]:
    """Every row of the first sheet that says anything. Raises Unreadable."""
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
                raise Unreadable(too_many_rows())
            if any(cell.value is not None for cell in cells[MOST_COLUMNS:]):
                raise Unreadable(too_many_columns(number))
            said = [_said(cell.value) for cell in cells[:MOST_COLUMNS]]
            if any(text.strip() for text in said):
                count += 1
                formula = any(cell.data_type == "f" for cell in cells)
                yield row(number, said, count, formula)
    except Unreadable:
        raise
    except _BROKEN as error:
        raise Unreadable(
            _("The workbook cannot be opened: it is damaged, or it is no spreadsheet.")
        ) from error


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
