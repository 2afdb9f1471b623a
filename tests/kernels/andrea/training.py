"""Trainings of a model so small that the interpreter makes a step in a tenth of a second."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernels.events import Event, Log, Metric
from kernels.execution import execute
from kernels.registry import get
from tests.kernels.running import Said, context

ROOT = Path(__file__).resolve().parents[3]
TEXT = "the cat sat on the mat and the dog sat on the cat. " * 40
SHAPE: dict[str, Any] = {"width": 16, "layers": 1, "context": 8, "batch": 2}
TINY: dict[str, Any] = {**SHAPE, "sample_tokens": 5}
COUNT = 257 * 16 + 8 * 16 + 12 * 16 * 16 + 4 * 16 + 2 * 16
Hook = Callable[[Event, Any], None]


def train(folder: Path, corpus: str, hook: Hook | None = None, **changes: Any) -> Said:
    """andrea.train in this process; `hook` sees each Event with the context it may signal."""
    rare = {"sample_every": 1000, "checkpoint_every": 1000}
    made = context("andrea.train", folder, corpus=corpus, **{**TINY, **rare, **changes})
    events = []
    for event in execute(get("andrea.train"), made, sandbox="none"):
        events.append(event)
        if hook is not None:
            hook(event, made)
    return Said(events)


def at_step(step: int, flag: str) -> Hook:
    """Raise that flag when the loss of that step is told."""

    def hook(event: Event, made: Any) -> None:
        if isinstance(event, Metric) and event.name == "loss" and event.step == step:
            getattr(made, flag).set()

    return hook


def code(said: Said) -> str:
    assert said.end.note is not None
    return said.end.note.code


def reason(said: Said) -> str:
    """What a refusal says."""
    assert said.end.note is not None and said.end.note.code.startswith("end.refused")
    return str(said.end.note.params["reason"])


def logs(said: Said) -> list[str]:
    return [e.note.code for e in said.events if isinstance(e, Log) and e.note]


def metrics(said: Said, name: str) -> list[tuple[int | None, float]]:
    return [(e.step, e.value) for e in said.events if isinstance(e, Metric) and e.name == name]


def command(name: str, out: Path, *options: str, **given: Any) -> list[str]:
    """A Procedure of the course as a process of its own."""
    made = [sys.executable, "-m", "kernels", f"andrea.{name}", "--device", "cpu", *options]
    pairs = [f"{key}={value}" for key, value in given.items()]
    return [*made, "--output", str(out), *(["--set", *pairs] if pairs else [])]


def short(corpus: str, **changes: Any) -> dict[str, Any]:
    return {**TINY, "steps": 2, "corpus": corpus, **changes}
