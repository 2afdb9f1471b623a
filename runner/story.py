"""What a Run has said, reduced from its Events for a page without a script.

static/js/run/reducer.js does the same in the browser; a test holds both together.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kernels.procedure import Grid
from runner.wording import Wording

LOG_LINES = 200


@dataclass
class Square:
    label: str
    verdict: str = ""  # passed, failed, or still to come

    @property
    def looks(self) -> str:
        return {"passed": "cell p", "failed": "cell f"}.get(self.verdict, "cell")


@dataclass
class Row:
    label: str
    squares: list[Square]


@dataclass(frozen=True)
class CaseView:
    """One case as text: its title, what was measured, and why it failed."""

    id: str
    title: str
    verdict: str
    error: str
    facts: list[tuple[str, str]]
    why: str


@dataclass(frozen=True)
class Figure:
    name: str
    value: str
    unit: str


@dataclass
class Story:
    rows: list[Row] = field(default_factory=list)
    passed: int = 0
    failed: int = 0
    failure: CaseView | None = None  # the first one
    loose: list[CaseView] = field(default_factory=list)
    progress: tuple[int, int] | None = None
    doing: str = ""
    figures: list[Figure] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    pictures: list[dict[str, str]] = field(default_factory=list)
    samples: list[dict[str, Any]] = field(default_factory=list)
    log: list[dict[str, str]] = field(default_factory=list)
    filed_at: str = ""  # when the last file came

    @property
    def judged(self) -> int:
        return self.passed + self.failed


def blank(grid: Grid | None, wording: Wording) -> list[Row]:
    """Every square in its place before anything ran."""
    if grid is None:
        return []
    waiting = wording.say("waiting")
    return [
        Row(row, [Square(f"{name}: {waiting}") for name in names(grid, row, wording)])
        for row in grid.rows
    ]


def names(grid: Grid, row: str, wording: Wording) -> list[str]:
    return [
        ", ".join([row, column, *slot_name(grid, slot, wording)])
        for column in grid.columns
        for slot in grid.slots
    ]


def slot_name(grid: Grid, slot: str, wording: Wording) -> list[str]:
    return [wording.say("seed", seed=slot)] if len(grid.slots) > 1 else []


def tell(events: Iterable[Mapping[str, Any]], grid: Grid | None, wording: Wording) -> Story:
    """The story so far. Curves are told by their last value."""
    story = Story(rows=blank(grid, wording))
    metrics: dict[tuple[str, str], Mapping[str, Any]] = {}
    for event in events:
        data = event["data"]
        match event["kind"]:
            case "case":
                place(story, data, grid, wording)
            case "progress":
                story.progress = (data["done"], data["total"])
                story.doing = wording.note(data.get("note"))
            case "metric":
                metrics[data["name"], data.get("series", "")] = data
            case "table":
                story.tables.append(table(data, wording))
            case "figure":
                story.pictures.append(
                    {"artifact": data["artifact"], "alt": wording.note(data["alt"])}
                )
            case "sample":
                label = wording.say("step", step=data["step"])
                story.samples.append({"label": label, "text": data["text"]})
            case "artifact":
                story.filed_at = event["at"]
            case "log" if (data.get("note") or {}).get("code") != "made":
                text = (data.get("text") or wording.note(data.get("note"))).removesuffix("\n")
                story.log.append({"level": data.get("level", "info"), "text": text})
    story.figures = [
        figure(name, series, data, wording) for (name, series), data in metrics.items()
    ]
    return story


def place(story: Story, data: Mapping[str, Any], grid: Grid | None, wording: Wording) -> None:
    """Count the case, turn its square; its text is made only where it is shown."""
    passed = data["verdict"] == "passed"
    story.passed += passed
    story.failed += not passed
    if not passed and story.failure is None:
        story.failure = case_view(data, wording)
    square = square_at(story.rows, grid, data.get("place"))
    if square is None:
        story.loose.append(case_view(data, wording))
        return
    square.verdict = data["verdict"]
    square.label = f"{square.label.rpartition(':')[0]}: {wording.say(data['verdict'])}"
    if not passed and (error := data.get("max_abs_error")) is not None:
        square.label += f", {wording.say('error')} {wording.number(error, 3)}"


def square_at(rows: list[Row], grid: Grid | None, place: list[int] | None) -> Square | None:
    """None for a case beside the grid, or of a grid that was drawn otherwise when it ran."""
    if grid is None or not place:
        return None
    row, column, slot = place
    within = (range(len(grid.rows)), range(len(grid.columns)), range(len(grid.slots)))
    if not all(index in axis for index, axis in zip(place, within, strict=True)):
        return None
    return rows[row].squares[column * len(grid.slots) + slot]


def case_view(data: Mapping[str, Any], wording: Wording) -> CaseView:
    error = data.get("max_abs_error")
    return CaseView(
        id=data["id"],
        title=title(data, wording),
        verdict=data["verdict"],
        error="" if error is None else wording.number(error, 3),
        facts=facts(data, wording),
        why=wording.note(data.get("why")),
    )


def facts(data: Mapping[str, Any], wording: Wording) -> list[tuple[str, str]]:
    """What was measured of a case, each with its name."""
    found: list[tuple[str, str]] = []
    if worst := data.get("worst"):
        found = [
            (wording.say("worst"), where(worst["index"], wording)),
            (wording.say("got"), wording.number(worst["got"])),
            (wording.say("expected"), wording.number(worst["expected"])),
            (wording.say("allowed"), "± " + wording.number(worst["allowed"], 3)),
        ]
    if (error := data.get("max_abs_error")) is not None:
        found.append((wording.say("error"), wording.number(error, 3)))
    if (atol := data.get("atol")) is not None:
        allowed = wording.say("tolerance_value", atol=atol, rtol=data.get("rtol", 0))
        found.append((wording.say("tolerance"), allowed))
    return found


def title(data: Mapping[str, Any], wording: Wording) -> str:
    """FP32, 17 × 257, seed 1: the labels of a case, read as one line."""
    labels = dict(data["labels"])
    parts = [str(labels.pop("dtype"))] if "dtype" in labels else []
    if "rows" in labels and "columns" in labels:
        parts.append(f"{labels.pop('rows')} × {labels.pop('columns')}")
    for key, value in labels.items():
        if key == "seed":
            parts.append(wording.say("seed", seed=str(value)))
            continue
        column = wording.messages.get(f"column.{key}", "")
        parts.append(f"{column} {wording.named_value(value)}".strip())
    if data.get("what") and not data.get("place"):
        parts.append(wording.named_value(data["what"]))
    return ", ".join(parts)


def where(index: list[int], wording: Wording) -> str:
    if len(index) == 2:
        return wording.say("at_row_column", row=index[0], column=index[1])
    return wording.say("at_index", index=", ".join(map(str, index)))


def figure(name: str, series: str, data: Mapping[str, Any], wording: Wording) -> Figure:
    label = wording.named(f"metric.{name}", name)
    if series:
        label = f"{label} · {wording.named_value(series)}"
    return Figure(label, wording.number(data["value"]), wording.unit(data.get("unit")))


def table(data: Mapping[str, Any], wording: Wording) -> dict[str, Any]:
    columns = [
        {
            "name": wording.named(f"column.{column['key']}", column["key"]),
            "unit": wording.unit(column.get("unit")),
            "number": any(isinstance(row[index], int | float) for row in data["rows"]),
        }
        for index, column in enumerate(data["columns"])
    ]
    rows = [
        [{"text": cell_text(cell, wording), "number": not isinstance(cell, str)} for cell in row]
        for row in data["rows"]
    ]
    caption = wording.named(f"table.{data['name']}", data["name"])
    return {"caption": caption, "columns": columns, "rows": rows}


def cell_text(value: Any, wording: Wording) -> str:
    return "–" if value is None else wording.named_value(value)
