"""What a run must remember beyond a checkpoint, and the reading of it from JSON. Needs no torch.

A state file is read as what a person may have edited, cut or mixed up: everything in it is looked
at, and the first thing that is not what a run writes is named.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

LARGEST = 2**31 - 1  # of a count that the device keeps too
ABOUT = ("config", "corpus", "version")  # what a state says of its run
LOSSES_BEFORE = "losses_before"  # lines of .loss.json when the polish of this state began


class Malformed(ValueError):
    """Not what a run writes; the message says where and how."""


@dataclass(frozen=True)
class Source:
    """What the run remembers of one source of text."""

    ema: float | None = None  # of its loss
    pulls: int = 0  # sequences drawn from it
    epochs: float = 0.0  # tokens drawn over tokens there are
    coverage: str = "0" * 64  # hexadecimal: which 256ths of the text were drawn from


@dataclass(frozen=True)
class State:
    """The state at one checkpoint. The loss scale counts: it decides what FP16 rounds."""

    scale: float
    good: int  # updates since the scale last changed
    applied: int  # updates made: what the bias correction counts
    skipped: int  # updates left out because the gradient's norm was not finite
    failures: int = 0  # samples in a row that scored too low
    sources: dict[str, Source] = field(default_factory=dict)


def require_content(content: Any) -> None:
    """Look at a whole state file. Raises Malformed."""
    mapping("the file", content)
    for step, entry in mapping("checkpoints", content.get("checkpoints", {})).items():
        if not (step.isascii() and step.isdigit() and len(step) <= 10 and int(step) <= LARGEST):
            raise Malformed(f"checkpoints has {shown(step)}, which is no step")
        state_of(f"checkpoints.{step}", entry)
    for name in ("config", "corpus"):
        mapping(name, content.get(name, {}))
    if not isinstance(content.get("card", ""), str):
        raise Malformed(f"card is {shown(content['card'])}, not a name")
    if not is_count(content.get(LOSSES_BEFORE, 0)):
        raise Malformed(f"{LOSSES_BEFORE} is {shown(content[LOSSES_BEFORE])}, not {COUNT[1]}")


def require_about(content: Mapping[str, Any]) -> None:
    """A run's state says what made it. Raises Malformed."""
    for name in ABOUT:
        if name not in content:
            raise Malformed(f"{name} is missing")


def state_of(where: str, entry: Any) -> State:
    """Raises Malformed."""
    values = checked(where, entry, STATE)
    sources = {
        name: Source(**checked(f"{where}.sources.{name}", source, SOURCE))
        for name, source in values.pop("sources").items()
    }
    return State(**values, sources=sources)


def require_samples(content: Any) -> None:
    """Look at a whole file of samples. Raises Malformed."""
    for index, sample in enumerate(content):
        if not isinstance(sample, dict) or not is_count(sample.get("step")):
            raise Malformed(f"sample {index + 1} has no step")


def checked(where: str, entry: Any, rules: Mapping[str, "Rule"]) -> dict[str, Any]:
    """Exactly the keys of the rules, each with a value that its rule takes."""
    mapping(where, entry)
    for name in entry:
        if name not in rules:
            raise Malformed(f"{where} has {shown(name)}, which no run writes")
    for name, (holds, due) in rules.items():
        if name not in entry:
            raise Malformed(f"{where}.{name} is missing")
        if not holds(entry[name]):
            raise Malformed(f"{where}.{name} is {shown(entry[name])}, not {due}")
    return dict(entry)


def mapping(where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Malformed(f"{where} is {shown(value)}, not a mapping")
    return value


def shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


def is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST


def is_number(value: Any) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # JSON has whole numbers that no float holds
        return False


Rule = tuple[Callable[[Any], bool], str]
COUNT: Rule = (is_count, "a whole number")
STATE: dict[str, Rule] = {
    "scale": (lambda value: is_number(value) and value > 0, "a finite number above 0"),
    **{name: COUNT for name in ("good", "applied", "skipped", "failures")},
    "sources": (lambda value: isinstance(value, dict), "a mapping"),
}
SOURCE: dict[str, Rule] = {
    "ema": (lambda value: value is None or is_number(value), "a finite number or null"),
    "pulls": (lambda value: isinstance(value, int) and value >= 0, "a whole number"),
    "epochs": (lambda value: is_number(value) and value >= 0, "a finite number of at least 0"),
    "coverage": (
        lambda value: isinstance(value, str) and bool(re.fullmatch(r"[0-9a-f]{64}", value)),
        "64 hexadecimal digits",
    ),
}
