"""What a Procedure says while it runs: one frozen dataclass per kind of Event.

A Procedure yields these; whoever listens (the terminal, the child process of a worker)
turns one into the envelope ``{seq, kind, at, data}`` with `to_data`. Text a person reads is
a `Note`: a message code with parameters, whose sentence lives in `kernels.messages` and is
translated by the site. Floats that JSON cannot hold become "nan", "inf" or "-inf".
"""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar


class Kind(StrEnum):
    LOG = "log"
    PROGRESS = "progress"
    CASE = "case"
    METRIC = "metric"
    TABLE = "table"
    FIGURE = "figure"
    SAMPLE = "sample"
    ARTIFACT = "artifact"
    OUTCOME = "outcome"


class Outcome(StrEnum):
    """How a Run ended. Each has a sentence of its own in every language."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR_IN_CODE = "error_in_code"
    OUT_OF_MEMORY = "out_of_memory"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    INFRASTRUCTURE_FAILURE = "infrastructure_failure"


class Verdict(StrEnum):
    PASSED = "passed"
    FAILED = "failed"


@dataclass(frozen=True)
class Note:
    """A sentence: its code in `kernels.messages.MESSAGES` and what fills its placeholders."""

    code: str
    params: Mapping[str, str | int | float] = field(default_factory=dict)


@dataclass(frozen=True)
class Log:
    """A line of the log: a translated `note`, or raw `text` (output of code, never translated)."""

    kind: ClassVar[Kind] = Kind.LOG
    note: Note | None = None
    text: str | None = None
    level: str = "info"  # info, warning, error


@dataclass(frozen=True)
class Progress:
    kind: ClassVar[Kind] = Kind.PROGRESS
    done: int
    total: int
    note: Note | None = None


@dataclass(frozen=True)
class Worst:
    """The element with the largest error: where, what came, what was due, what was allowed."""

    index: tuple[int, ...]
    got: float
    expected: float
    allowed: float


@dataclass(frozen=True)
class Case:
    """One input of a check with its verdict.

    `place` is (row, column, slot) in the Procedure's `Grid`, or None when it has no grid.
    `labels` says what the input was (dtype, shape, seed, or the name of a refusal).
    `what` names the tensor compared (y, dx, dgamma) where it matters.
    """

    kind: ClassVar[Kind] = Kind.CASE
    id: str
    verdict: Verdict
    labels: Mapping[str, str | int]
    place: tuple[int, int, int] | None = None
    what: str | None = None
    max_abs_error: float | None = None
    atol: float | None = None
    rtol: float | None = None
    worst: Worst | None = None
    why: Note | None = None


@dataclass(frozen=True)
class Metric:
    """One point of a curve (`step` counts optimizer steps or samples), or a lone number."""

    kind: ClassVar[Kind] = Kind.METRIC
    name: str
    value: float
    step: int | None = None
    unit: str | None = None
    series: str | None = None  # tells curves of one metric apart: "reference", "kernel"


@dataclass(frozen=True)
class Column:
    key: str  # a message code "column.<key>" names it for people
    unit: str | None = None


@dataclass(frozen=True)
class Table:
    kind: ClassVar[Kind] = Kind.TABLE
    name: str  # a message code "table.<name>" is its caption
    columns: tuple[Column, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]


@dataclass(frozen=True)
class Figure:
    """A picture made by the Run, stored as the Artifact of the same `artifact` name."""

    kind: ClassVar[Kind] = Kind.FIGURE
    name: str
    artifact: str
    alt: Note


@dataclass(frozen=True)
class Sample:
    kind: ClassVar[Kind] = Kind.SAMPLE
    step: int
    text: str
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Artifact:
    """A file the Run wrote in its output folder; `name` is its path relative to that folder."""

    kind: ClassVar[Kind] = Kind.ARTIFACT
    name: str
    media: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class End:
    """The last Event of a Run."""

    kind: ClassVar[Kind] = Kind.OUTCOME
    outcome: Outcome
    note: Note | None = None
    passed: int | None = None
    failed: int | None = None


Event = Log | Progress | Case | Metric | Table | Figure | Sample | Artifact | End


def to_data(event: Event) -> dict[str, Any]:
    """The JSON-safe `data` of an event; fields that are None are left out."""
    return {
        name: value
        for f in dataclasses.fields(event)
        if (value := json_safe(getattr(event, name := f.name))) is not None
    }


def json_safe(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            f.name: safe
            for f in dataclasses.fields(value)
            if (safe := json_safe(getattr(value, f.name))) is not None
        }
    if isinstance(value, Mapping):
        return {key: json_safe(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [json_safe(item) for item in value]
    return value
