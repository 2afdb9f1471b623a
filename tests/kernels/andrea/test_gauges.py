"""What is measured beside the training."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from kernels.andrea import gauges
from kernels.andrea.gauges import Gauges


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    now = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(gauges.time, "monotonic", lambda: now.seconds)
    return now


def made(monkeypatch: pytest.MonkeyPatch, clock: SimpleNamespace) -> Gauges:
    """Of a training on a card: 8 sequences of 1,024 tokens a step."""
    config = SimpleNamespace(micro_batches=1, rows=8 * 1024)
    engine: Any = SimpleNamespace(device=torch.device("cuda"), config=config)
    found = Gauges(engine)
    found.readings.now = lambda: clock.seconds
    monkeypatch.setattr(found, "memory", lambda: 1.0)
    return found


def speeds(found: Gauges, step: int) -> list[float]:
    return [m.value for m in found.read(step) if m.name == "tokens-per-second"]


def test_what_is_done_aside_slows_no_tokens_a_second(
    monkeypatch: pytest.MonkeyPatch, clock: SimpleNamespace
) -> None:
    found = made(monkeypatch, clock)
    assert speeds(found, 1) == []  # there is nothing yet to compare with
    clock.seconds += 1.0
    with found.aside():
        clock.seconds += 2.5  # a sample is written
    clock.seconds += 1.0
    assert speeds(found, 101) == pytest.approx([100 * 8192 / 2.0])
    clock.seconds += 4.0
    assert speeds(found, 201) == pytest.approx([100 * 8192 / 4.0])
