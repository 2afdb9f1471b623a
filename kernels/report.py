"""Events at a terminal: a progress bar while they come, then the table of cases and the rest."""

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table as Grid

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
from kernels.execution import mistaken
from kernels.messages import MESSAGES, sentence
from kernels.procedure import Procedure

EXACT = 2.0**53
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
        shown = Grid(title=MESSAGES.get(f"table.{table.name}", table.name), title_justify="left")
        for column in table.columns:
            title = MESSAGES.get(f"column.{column.key}", column.key)
            shown.add_column(f"{title} ({column.unit})" if column.unit else title)
        for row in table.rows:
            shown.add_row(*(escape(cell(value)) for value in row))
        self.console.print(shown)

    def print_cases(self) -> None:
        placed = [case for case in self.cases if case.place is not None]
        if placed and self.procedure.grid is not None:
            self.print_grid(placed)
        loose = [case for case in self.cases if case.place is None]
        if loose:
            shown = Grid("case", "verdict", "max error", "why")
            for case in loose:
                style = CELL_STYLES[case.verdict is Verdict.PASSED]
                error = "" if case.max_abs_error is None else f"{case.max_abs_error:.2e}"
                why = sentence(case.why) if case.why else ""
                shown.add_row(
                    escape(case.id), f"[{style}]{case.verdict.value}[/]", error, escape(why)
                )
            self.console.print(shown)
        for case in placed:
            if case.verdict is Verdict.FAILED:
                self.print_failure(case)

    def print_grid(self, placed: list[Case]) -> None:
        grid = self.procedure.grid
        assert grid is not None
        shown = Grid("", *grid.columns, title="passed / cases, largest error", title_justify="left")
        for i, row in enumerate(grid.rows):
            cells = [
                [case for case in placed if case.place and case.place[:2] == (i, j)]
                for j in range(len(grid.columns))
            ]
            shown.add_row(row, *map(square, cells))
        self.console.print(shown)

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
        shown = Grid("metric", "series", "last value", "unit")
        for (name, series), metric in self.metrics.items():
            title = MESSAGES.get(f"metric.{name}", name)
            value = figure(metric.value)
            shown.add_row(escape(title), escape(series), value, metric.unit or "")
        self.console.print(shown)

    def print_end(self) -> None:
        """The outcome and its sentence, or the sentence alone where it says both. What a person
        gave wrongly is told by the terminal."""
        if self.end is None or mistaken(self.end):
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


def square(cases: list[Case]) -> str:
    if not cases:
        return ""
    passed = sum(case.verdict is Verdict.PASSED for case in cases)
    error = max(case.max_abs_error or 0.0 for case in cases)
    return f"[{CELL_STYLES[passed == len(cases)]}]{passed}/{len(cases)}[/]  {error:.1e}"


def figure(value: float) -> str:
    """A count to its last digit, any other number to seven."""
    whole = float(value).is_integer() and abs(value) < EXACT
    return str(int(value)) if whole else f"{value:.7g}"


def cell(value: str | int | float | None) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
