"""Tables at a terminal that cut nothing: text wraps between words, a number stays whole.

A table that cannot stand so in the width there is, is None; its maker then has another form.
"""

from collections.abc import Collection, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

BORDER, BETWEEN = 1, 3  # what the lines of a table take, and each column beside its cells


def fitted(
    console: Console,
    headers: Sequence[str],
    rows: Sequence[Sequence[Text]],
    *,
    title: str | None = None,
    whole: Collection[int] = (),
) -> Table | None:
    """The columns of `whole` are broken nowhere, not even between words."""
    columns = [[Text(header), *(row[i] for row in rows)] for i, header in enumerate(headers)]
    least = [
        max(map(longest_line if i in whole else longest_word, column[1:]), default=0)
        for i, column in enumerate(columns)
    ]
    least = [
        max(width, longest_word(column[0])) for width, column in zip(least, columns, strict=True)
    ]
    most = [max(map(longest_line, column)) for column in columns]
    room = console.width - BORDER - BETWEEN * len(columns)
    if sum(least) > room:
        return None
    shown = Table(title=title and Text(title), title_justify="left")
    for header, width in zip(headers, shared(least, most, room), strict=True):
        shown.add_column(Text(header), width=width, overflow="fold")
    for row in rows:
        shown.add_row(*row)
    return shown


def longest_line(text: Text) -> int:
    return max((line.cell_len for line in text.split()), default=0)


def longest_word(text: Text) -> int:
    return max((Text(word).cell_len for word in text.plain.split()), default=0)


def shared(least: Sequence[int], most: Sequence[int], room: int) -> list[int]:
    """A width for every column: what is over goes to the one that lacks most."""
    widths = list(least)
    for _ in range(room - sum(least)):
        lacks = [full - width for full, width in zip(most, widths, strict=True)]
        if max(lacks) <= 0:
            break
        widths[lacks.index(max(lacks))] += 1
    return widths


def in_lines(headers: Sequence[str], rows: Sequence[Sequence[Text]]) -> list[Text]:
    """Where no table has room: a line a row, each cell after what its column is called."""
    return [
        Text("; ").join(
            Text.assemble(f"{header}: " if header else "", " ".join(cell.plain.split()))
            for header, cell in zip(headers, row, strict=True)
            if cell.plain
        )
        for row in rows
    ]
