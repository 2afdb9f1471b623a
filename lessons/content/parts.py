"""The parts of a rendered step, each with the template that shows it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from django.utils.safestring import SafeString

from lessons.calculators.shown import Shown
from lessons.content.kernel_table import KernelTable
from lessons.content.structure import Symbol
from lessons.content.written import Written


@dataclass(frozen=True)
class PassagePart:
    template: ClassVar[str] = "lessons/parts/passage.html"
    kind: str  # prose, example, rule, perimeter
    text: Written


@dataclass(frozen=True)
class FormulaPart:
    template: ClassVar[str] = "lessons/parts/formula.html"
    mathml: SafeString


@dataclass(frozen=True)
class FigurePart:
    template: ClassVar[str] = "lessons/parts/figure.html"
    name: str
    svg: SafeString
    caption: Written


@dataclass(frozen=True)
class SourceVersion:
    number: int
    symbol: Symbol
    lines: SafeString


@dataclass(frozen=True)
class SourcePart:
    template: ClassVar[str] = "lessons/parts/source.html"
    name: str  # unique in the page
    direction: str | None
    versions: tuple[SourceVersion, ...]
    current: int  # the version that shows; the others wait behind their tabs


@dataclass(frozen=True)
class TerminalPart:
    template: ClassVar[str] = "lessons/parts/terminal.html"
    command: str


@dataclass(frozen=True)
class CalculatorPart:
    """Stands for a calculator; the view fills in what the reader asked of it."""

    template: ClassVar[str] = "lessons/parts/calculator.html"
    name: str
    starts: Mapping[str, str]
    shown: Shown | None = None
    kept: tuple[tuple[str, str], ...] = ()  # what else the address says


@dataclass(frozen=True)
class KernelsPart:
    template: ClassVar[str] = "lessons/parts/kernels.html"
    table: KernelTable


@dataclass(frozen=True)
class AskPart:
    """Stands for the Activity; the view fills in what the person answered."""

    template: ClassVar[str] = "lessons/parts/ask.html"


Part = (
    PassagePart
    | FormulaPart
    | FigurePart
    | SourcePart
    | TerminalPart
    | CalculatorPart
    | KernelsPart
    | AskPart
)


@dataclass(frozen=True)
class FieldTexts:
    label: Written
    options: dict[str, Written] = field(default_factory=dict)  # or the items of an order
    hints: dict[str, Written] = field(default_factory=dict)

    @property
    def listed(self) -> list[Written]:
        # For templates, where `options.values` would be an option of that name.
        return list(self.options.values())


@dataclass(frozen=True)
class AskTexts:
    title: Written
    prompt: Written
    explain: Written
    fields: dict[str, FieldTexts]

    @property
    def listed(self) -> list[FieldTexts]:
        return list(self.fields.values())


@dataclass(frozen=True)
class Definition:
    id: str
    word: str
    text: Written


@dataclass(frozen=True)
class StepPage:
    """A step in one language, the same for everybody who reads it."""

    goal: Written | None  # of the lesson, on its first step
    title: Written
    lede: Written
    parts: tuple[Part, ...]
    ask: AskTexts | None
    definitions: tuple[Definition, ...]
    mistakes: tuple[str, ...]
