"""Cells of exported tables, so that a spreadsheet shows them and runs none of them.

A text cell that begins like a formula is given an apostrophe in front, as OWASP advises; quotes
and spaces before the sign do not hide it. Numbers stay numbers: in a CSV they are written as the
reader's own spreadsheet reads them (see `Dialect`), in an XLSX they are numbers by themselves.
"""

import csv
import io
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from tempfile import SpooledTemporaryFile
from typing import IO

from asgiref.sync import sync_to_async
from xlsxwriter import Workbook

BOM = "\ufeff"  # without it a spreadsheet takes UTF-8 for an old code page
_SIGNS = tuple("=+-@\t\r\n＝＋－＠")  # the wide ones too: some programs fold them
_HIDING = " \u00a0\u202f\u200b\ufeff\"'`"
_LONGEST = 32_000  # characters that an XLSX cell holds
_PART = 64 * 1024

Value = str | int | Decimal | None


@dataclass(frozen=True)
class Dialect:
    """How a CSV is written. A French or Turkish spreadsheet splits at semicolons and reads 2,5
    as a number and 2.5 as a text or the second of May: so their readers get those. `PLAIN` is
    for programs: commas, and points in numbers."""

    separator: str
    point: str


PLAIN = Dialect(",", ".")
_CONTINENTAL = Dialect(";", ",")


def dialect_of(language: str) -> Dialect:
    return _CONTINENTAL if language in ("fr", "tr") else PLAIN


@dataclass(frozen=True)
class Sheet:
    """A table on its way out; its rows are made while it is sent."""

    name: str
    headers: Sequence[str]
    rows: Iterable[Sequence[Value]]


def neutral(text: str) -> str:
    """The text, harmless in a cell: no control characters, and no beginning of a formula."""
    clean = "".join(c for c in text if c in "\t\r\n" or (c >= " " and c != "\x7f"))[:_LONGEST]
    shown = clean.lstrip(_HIDING)
    if clean.startswith(_SIGNS) or shown.startswith(_SIGNS):
        return f"'{clean}"
    return clean


def bare(text: str) -> str:
    """What `neutral` made harmless, read back."""
    if text.startswith("'") and text[1:].lstrip(_HIDING).startswith(_SIGNS):
        return text[1:]
    return text


def csv_pieces(sheet: Sheet, dialect: Dialect) -> Iterator[str]:
    """The file line by line, its BOM first."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=dialect.separator, lineterminator="\r\n")
    yield BOM
    for row in chain([sheet.headers], sheet.rows):
        writer.writerow([_written(value, dialect) for value in row])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def xlsx_file(sheets: Iterable[Sheet]) -> IO[bytes]:
    """A workbook, row by row through a temporary file; nothing in it is a formula or a link."""
    file: IO[bytes] = SpooledTemporaryFile(max_size=4 * 1024 * 1024)
    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False,
               "strings_to_numbers": False}  # fmt: skip
    book = Workbook(file, options)
    bold = book.add_format({"bold": True, "text_wrap": True, "valign": "top"})
    for sheet in sheets:
        page = book.add_worksheet(_sheet_name(sheet.name))
        page.freeze_panes(1, 2)
        for column, header in enumerate(sheet.headers):
            page.write_string(0, column, neutral(header), bold)
        for place, row in enumerate(sheet.rows, start=1):
            for column, value in enumerate(row):
                if isinstance(value, str):
                    page.write_string(place, column, neutral(value))
                elif value is not None:
                    page.write_number(place, column, value)
    book.close()
    file.seek(0)
    return file


class Streamed:
    """Pieces of text for a response, sent in parts while they are made."""

    def __init__(self, pieces: Iterator[str], *, zipped: bool) -> None:
        self._pieces, self._zipped = pieces, zipped

    async def __aiter__(self) -> AsyncIterator[bytes]:
        packer = zlib.compressobj(wbits=31)  # one gzip stream; the middleware makes many
        while part := await sync_to_async(self._next_part)():
            yield packer.compress(part) if self._zipped else part
        if self._zipped:
            yield packer.flush()

    def _next_part(self) -> bytes:
        part, size = [], 0
        for piece in self._pieces:
            part.append(piece)
            size += len(piece)
            if size >= _PART:
                break
        return "".join(part).encode()


def _written(value: Value, dialect: Dialect) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return neutral(value)
    plain = f"{value.normalize():f}" if isinstance(value, Decimal) else str(value)
    return plain.replace(".", dialect.point)


def _sheet_name(name: str) -> str:
    """A name that a spreadsheet takes for a sheet."""
    return "".join(c for c in name if c not in "[]:*?/\\'")[:31].strip() or "1"
