"""Events at a terminal: a progress bar while they come, then the table of cases and the rest."""

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table as Grid
from rich.text import Text

from kernels.events import (
    Artifact,
    Case,
    End,
    Event,
    Log,
    Metric,
    Outcome,
    Progress,
    Sample,
    Table,
    Verdict,
)
from kernels.execution import NO_GPU, refused
from kernels.fitting import fitted, in_lines
from kernels.messages import MESSAGES, sentence
from kernels.procedure import Procedure

EXACT = 2.0**53
EXACT_DIGITS, SHORT_DIGITS = 6, 3  # of a table's numbers; the second where there is little room
CELL_STYLES = {True: "green", False: "bold red"}


class Report:
    def __init__(self, procedure: Procedure, console: Console | None = None) -> None:
        self.procedure = procedure
        self.console = console or Console()
        self.cases: list[Case] = []
        self.metrics: dict[tuple[str, str], Metric] = {}
        self.wrote: set[str] = set()
        self.end: End | None = None

    def show(self, events: Iterable[Event]) -> End | None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        with Bar(*columns, console=self.console, transient=True) as bar:
            task = bar.add_task(self.procedure.name, total=None)
            for event in events:
                if isinstance(event, Progress):
                    bar.update(task, completed=event.done, total=event.total)
                self.take(event)
        self.print_cases()
        self.print_metrics()
        self.print_end()
        return self.end

    def take(self, event: Event) -> None:
        match event:
            case Log(note=note) if note and note.params.get("device_name") == NO_GPU:
                pass  # it is refused for that, in a sentence that says so
            case Log(note=note, text=text, level=level):
                line = escape(sentence(note) if note else text or "")
                self.console.print(line, style={"error": "red", "warning": "yellow"}.get(level))
            case Case():
                self.cases.append(event)
            case Metric(name=name, series=series):
                self.metrics[name, series or ""] = event
            case Table():
                self.print_table(event)
            case Sample(step=step, text=text):
                self.console.print(f"step {step}: {escape(text)}", highlight=False)
            case Artifact(name=name, bytes=size) if name not in self.wrote:
                self.wrote.add(name)  # a training announces its losses again and again
                self.console.print(f"wrote {escape(name)} ({size} bytes)")
            case End():
                self.end = event
            case _:
                pass

    def print_table(self, table: Table) -> None:
        headers = []
        for column in table.columns:
            header = MESSAGES.get(f"column.{column.key}", column.key)
            headers.append(f"{header} ({column.unit})" if column.unit else header)
        exact, short = (
            [[Text(cell(value, digits)) for value in row] for row in table.rows]
            for digits in (EXACT_DIGITS, SHORT_DIGITS)
        )
        numbers = {
            i for row in table.rows for i, value in enumerate(row) if isinstance(value, int | float)
        }
        title = MESSAGES.get(f"table.{table.name}", table.name)
        self.print_first(
            (
                fitted(self.console, headers, rows, title=title, whole=numbers)
                for rows in (exact, short)
            ),
            title,
            in_lines(headers, exact),
        )

    def print_first(
        self, tables: Iterable[Grid | None], title: str, otherwise: Iterable[Text]
    ) -> None:
        """The first table that has room; where none has, lines that wrap."""
        if (shown := next(filter(None, tables), None)) is not None:
            self.console.print(shown)
            return
        if title:
            self.console.print(Text(title), style="italic")
        for line in otherwise:
            self.console.print(line, highlight=False)

    def print_cases(self) -> None:
        placed = [case for case in self.cases if case.place is not None]
        if placed and self.procedure.grid is not None:
            self.print_grid(placed)
        if loose := [case for case in self.cases if case.place is None]:
            self.print_loose(loose)
        for case in placed:
            if case.verdict is Verdict.FAILED:
                self.print_failure(case)

    def print_loose(self, loose: list[Case]) -> None:
        headers = ("case", "verdict", "max error", "why")
        rows = [
            (
                Text(case.id),
                Text(case.verdict.value, CELL_STYLES[case.verdict is Verdict.PASSED]),
                Text("" if case.max_abs_error is None else f"{case.max_abs_error:.2e}"),
                Text(sentence(case.why) if case.why else ""),
            )
            for case in loose
        ]
        shown = fitted(self.console, headers, rows, whole={0, 1, 2})
        self.print_first((shown,), "", in_lines(headers, rows))

    def print_grid(self, placed: list[Case]) -> None:
        """Rows and columns as declared, or turned where that has room, or with cells of two
        lines."""
        grid = self.procedure.grid
        assert grid is not None
        title = "passed / cases, largest error"

        def filled(between: str, *, across: bool) -> tuple[list[str], list[list[Text]]]:
            cells = [
                [
                    square(
                        [case for case in placed if case.place and case.place[:2] == (i, j)],
                        between,
                    )
                    for j in range(len(grid.columns))
                ]
                for i in range(len(grid.rows))
            ]
            heads, names = (grid.rows, grid.columns) if across else (grid.columns, grid.rows)
            lines = [list(line) for line in zip(*cells, strict=True)] if across else cells
            rows = [[Text(name), *line] for name, line in zip(names, lines, strict=True)]
            return ["", *heads], rows

        forms = [
            filled(between, across=across) for between in ("  ", "\n") for across in (False, True)
        ]
        self.print_first(
            (
                fitted(self.console, heads, rows, title=title, whole=range(len(heads)))
                for heads, rows in forms
            ),
            title,
            in_lines(*forms[0]),
        )

    def print_failure(self, case: Case) -> None:
        self.console.print(f"[bold red]failed[/] {escape(case.id)} ({case.what})", highlight=False)
        if case.why is not None:
            self.console.print(f"  {escape(sentence(case.why))}", highlight=False)
        if case.worst is not None:
            worst = case.worst
            self.console.print(
                f"  worst element {worst.index}: got {worst.got:.7g}, due {worst.expected:.7g}, "
                f"allowed error {worst.allowed:.2e}",
                highlight=False,
            )

    def print_metrics(self) -> None:
        if not self.metrics:
            return
        headers = ("metric", "series", "last value", "unit")
        rows = [
            (
                Text(MESSAGES.get(f"metric.{name}", name)),
                *map(Text, (series, figure(metric.value), metric.unit or "")),
            )
            for (name, series), metric in self.metrics.items()
        ]
        shown = fitted(self.console, headers, rows, whole={1, 2, 3})
        self.print_first((shown,), "", in_lines(headers, rows))

    def print_end(self) -> None:
        """The outcome and its sentence, or the sentence alone where it says both. What was
        refused is told by the terminal."""
        if self.end is None or refused(self.end):
            return
        code = self.end.note.code if self.end.note is not None else ""
        style = CELL_STYLES[self.end.outcome is Outcome.PASSED]
        outcome = MESSAGES[f"outcome.{self.end.outcome.value}"]
        note = sentence(self.end.note) if self.end.note else outcome
        alone = code.startswith("refusal.") or note.startswith(outcome.partition(".")[0])
        words = [f"[{style}]{escape(note if alone else outcome)}[/]"]
        if not alone:
            words.append(escape(note))
        self.console.print(*words)


def square(cases: list[Case], between: str) -> Text:
    if not cases:
        return Text()
    passed = sum(case.verdict is Verdict.PASSED for case in cases)
    error = max(case.max_abs_error or 0.0 for case in cases)
    style = CELL_STYLES[passed == len(cases)]
    return Text.assemble((f"{passed}/{len(cases)}", style), f"{between}{error:.1e}")


def figure(value: float) -> str:
    """A count to its last digit, any other number to seven."""
    whole = float(value).is_integer() and abs(value) < EXACT
    return str(int(value)) if whole else f"{value:.7g}"


def cell(value: str | int | float | None, digits: int) -> str:
    if value is None:
        return ""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
