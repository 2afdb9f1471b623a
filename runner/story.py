"""What a Run has said, reduced from its Events for a page without a script.

static/js/run/reducer.js does the same in the browser; a test holds both together.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kernels.procedure import Grid
from runner.cases import CaseView, Row, blank, case_view, square_at
from runner.curves import Curves, Earlier, Phases, following
from runner.wording import Wording

LONG_TABLE = 24  # rows; a longer one is folded
EXACT = {"resume"}  # tables whose numbers are there to be compared to the last bit


@dataclass(frozen=True)
class Figure:
    name: str
    value: str
    unit: str


@dataclass(frozen=True)
class Mark:
    """A place where a training went on from a checkpoint."""

    kind: str  # restart: the worker was lost; resume: somebody asked for it
    step: int
    file: str
    attempt: int = 0


@dataclass
class Story:
    rows: list[Row] = field(default_factory=list)
    passed: int = 0
    failed: int = 0
    failure: CaseView | None = None  # the first one
    loose: list[CaseView] = field(default_factory=list)
    progress: tuple[int, int] | None = None
    doing: str = ""
    numbers: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)  # lone ones
    curves: Curves = field(default_factory=Curves)
    before: Earlier = field(default_factory=Earlier)
    lone: list[Figure] = field(default_factory=list)
    lasts: list[Figure] = field(default_factory=list)  # what curves have come to
    tables: list[dict[str, Any]] = field(default_factory=list)
    pictures: list[dict[str, str]] = field(default_factory=list)
    samples: list[dict[str, Any]] = field(default_factory=list)  # as their Events have them
    files: list[dict[str, Any]] = field(default_factory=list)  # the same
    log: list[dict[str, str]] = field(default_factory=list)
    filed_at: str = ""  # when the last file came
    # Of a training
    schedule: Mapping[str, Any] = field(default_factory=dict)
    phases: Phases = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    power_limit: float | None = None
    no_telemetry: bool = False

    @property
    def judged(self) -> int:
        return self.passed + self.failed

    def cut(self, after: int) -> None:
        """Forget what comes once more after that step."""
        self.curves.cut(after)
        self.samples = [sample for sample in self.samples if sample["step"] <= after]
        self.phases = [phase for phase in self.phases if phase[1] <= after]


def tell(events: Iterable[Mapping[str, Any]], grid: Grid | None, wording: Wording) -> Story:
    """The story so far."""
    story = Story(rows=blank(grid, wording))
    for event in events:
        data = event["data"]
        match event["kind"]:
            case "case":
                place(story, data, grid, wording)
            case "progress":
                story.progress = (data["done"], data["total"])
                story.doing = wording.note(data.get("note"))
            case "metric" if data.get("step") is not None:
                story.curves.add(data)
            case "metric":
                story.numbers[data["name"], data.get("series") or ""] = data
            case "table":
                place_table(story, table(data, wording))
            case "figure":
                story.pictures.append(
                    {"artifact": data["artifact"], "alt": wording.note(data["alt"])}
                )
            case "sample":
                story.samples.append(dict(data))
            case "artifact":
                story.filed_at = event["at"]
                story.files.append(dict(data))
            case "log" if (note := data.get("note") or {}).get("code") == "log.restarted":
                story = Story(rows=blank(grid, wording), log=story.log)
                story.log.append(line(data, wording))
            case "log" if note.get("code") != "made":
                learn(story, note)
                story.log.append(line(data, wording))
    story.lone = [
        figure(name, series, data["value"], data.get("unit"), wording)
        for (name, series), data in story.numbers.items()
    ]
    story.lasts = [
        figure(curve.name, curve.series, curve.last, curve.unit, wording) for curve in story.curves
    ]
    return story


def learn(story: Story, note: Mapping[str, Any]) -> None:
    """What a line of the log tells of a training."""
    params = note.get("params", {})
    match note.get("code"):
        case "log.andrea.schedule":
            story.schedule = params
        case "log.andrea.phase":
            story.phases = following(story.phases, [(params["phase"], params["step"])])
        case "log.andrea.no-telemetry":
            story.no_telemetry = True
        case "log.andrea.power-limit":
            story.power_limit = params["watts"]
        case "log.resumed-after-restart":
            story.cut(params["step"])
            mark = Mark("restart", params["step"], params["file"], params["attempt"])
            story.marks.append(mark)
        case "log.andrea.resumed":
            # After a restart the training says so as well; it is one place, marked once.
            if all(mark.step != params["step"] for mark in story.marks):
                story.marks.append(Mark("resume", params["step"], params["file"]))


def line(data: Mapping[str, Any], wording: Wording) -> dict[str, str]:
    text = (data.get("text") or wording.note(data.get("note"))).removesuffix("\n")
    return {"level": data.get("level", "info"), "text": text}


def place_table(story: Story, shown: dict[str, Any]) -> None:
    """A training that goes on after a restart says its plan again; it is shown once."""
    restarted = any(mark.kind == "restart" for mark in story.marks)
    if not (restarted and any(one["caption"] == shown["caption"] for one in story.tables)):
        story.tables.append(shown)


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


def figure(name: str, series: str, value: Any, unit: str | None, wording: Wording) -> Figure:
    label = wording.named(f"metric.{name}", name)
    if series:
        label = f"{label} · {wording.named_value(series)}"
    return Figure(label, wording.cell(value), wording.unit(unit))


def table(data: Mapping[str, Any], wording: Wording) -> dict[str, Any]:
    columns = [
        {
            "name": wording.named(f"column.{column['key']}", column["key"]),
            "unit": wording.unit(column.get("unit")),
            "number": any(isinstance(row[index], int | float) for row in data["rows"]),
        }
        for index, column in enumerate(data["columns"])
    ]
    digits = 9 if data["name"] in EXACT else 7
    rows = [
        [{"text": wording.cell(cell, digits), "number": not isinstance(cell, str)} for cell in row]
        for row in data["rows"]
    ]
    caption = wording.named(f"table.{data['name']}", data["name"])
    long = len(rows) > LONG_TABLE
    return {"caption": caption, "columns": columns, "rows": rows, "long": long}
