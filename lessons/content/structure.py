"""What a course is made of, once its language-neutral files are read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class PassageKind(StrEnum):
    PROSE = "prose"
    EXAMPLE = "example"
    RULE = "rule"
    PERIMETER = "perimeter"


@dataclass(frozen=True)
class Passage:
    """A Markdown block of the step, plain or in one of the three boxes."""

    kind: PassageKind
    block: str


@dataclass(frozen=True)
class Formula:
    latex: str


@dataclass(frozen=True)
class FigureRef:
    """An SVG file of the lesson's `figures` folder."""

    name: str


@dataclass(frozen=True)
class Symbol:
    """A function, class or constant of one of the repository's files."""

    path: str
    name: str

    def __str__(self) -> str:
        return f"{self.path}::{self.name}"


@dataclass(frozen=True)
class SourceRef:
    """A function of the repository, shown as it stands in its file, in one or more versions."""

    versions: Mapping[int, Symbol]
    direction: str | None = None  # "forward" or "backward"
    mark: tuple[str, ...] = ()  # lines holding one of these are highlighted


@dataclass(frozen=True)
class Terminal:
    command: str


@dataclass(frozen=True)
class Ask:
    """Where the Activity stands in the body."""


@dataclass(frozen=True)
class CalculatorRef:
    """A calculator that the reader fills in; `starts` is what its entries hold at first."""

    name: str
    starts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class KernelsRef:
    """The table of all kernels of an engine, made from `kernels/`."""

    engine: str


BodyItem = Passage | Formula | FigureRef | SourceRef | Terminal | CalculatorRef | KernelsRef | Ask


@dataclass(frozen=True)
class Tolerance:
    """|v - value| <= absolute + relative * |value|; both zero means equal."""

    absolute: float = 0.0
    relative: float = 0.0


@dataclass(frozen=True)
class TypicalNumber:
    """A wrong value that people arrive at, and the hint that answers it."""

    value: float
    tolerance: Tolerance
    hint: str


@dataclass(frozen=True)
class NumberField:
    id: str
    answer: float
    accept: tuple[float, ...] = ()  # other right values
    tolerance: Tolerance = Tolerance()
    unit: str | None = None  # of `answer`, and of a number typed without one
    decimals: int | None = None  # how many to show
    typical: tuple[TypicalNumber, ...] = ()
    reveals: str | None = None  # the metric of the step's Run shown beside the hypothesis


@dataclass(frozen=True)
class ChoiceField:
    id: str
    options: tuple[str, ...]
    answer: tuple[str, ...]
    multiple: bool = False
    hints: Mapping[str, str] = field(default_factory=dict)  # option -> hint
    reveals: str | None = None


@dataclass(frozen=True)
class TypicalOrder:
    order: tuple[str, ...]
    hint: str


@dataclass(frozen=True)
class OrderField:
    """Right when it equals `answer`, or satisfies every pair (earlier, later) of `before`."""

    id: str
    items: tuple[str, ...]
    answer: tuple[str, ...]
    before: tuple[tuple[str, str], ...] = ()
    typical: tuple[TypicalOrder, ...] = ()


@dataclass(frozen=True)
class TextField:
    """Waits for an instructor."""

    id: str
    min: int = 1
    max: int = 4000
    rubric: tuple[str, ...] = ()


Field = NumberField | ChoiceField | OrderField | TextField


@dataclass(frozen=True)
class Activity:
    id: str
    fields: tuple[Field, ...]
    predict: bool = False  # the step's Run is locked until this is submitted


@dataclass(frozen=True)
class RunSpec:
    """What the step's button starts; a GPU may be given more to do than the interpreter."""

    procedure: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    version: int = 1
    gpu: "RunSpec | None" = None

    def on(self, device: str) -> "RunSpec":
        return self.gpu if self.gpu is not None and device == "gpu" else self


@dataclass(frozen=True)
class Step:
    id: str
    body: tuple[BodyItem, ...]
    run: RunSpec | None = None
    activity: Activity | None = None


@dataclass(frozen=True)
class Lesson:
    id: str
    folder: str
    minutes: int
    steps: tuple[Step, ...]

    def step(self, step_id: str) -> Step | None:
        return next((step for step in self.steps if step.id == step_id), None)


@dataclass(frozen=True)
class Course:
    id: str
    languages: tuple[str, ...]  # the first is the source
    lessons: tuple[Lesson, ...]
    kernels: Mapping[str, str] = field(default_factory=dict)  # operator -> the step about it

    @property
    def source_language(self) -> str:
        return self.languages[0]

    def lesson(self, lesson_id: str) -> Lesson | None:
        return next((lesson for lesson in self.lessons if lesson.id == lesson_id), None)

    def steps(self) -> Iterator[tuple[Lesson, Step]]:
        for lesson in self.lessons:
            for step in lesson.steps:
                yield lesson, step
