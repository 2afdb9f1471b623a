"""Training on the interpreter, very small: losses, samples, schedule, and when it is no pass."""

import json
import math
import struct
from pathlib import Path
from typing import Any

import pytest

from kernels.andrea.checkpoint import load
from kernels.andrea.engine import Engine
from kernels.andrea.history import points
from kernels.andrea.scalars import GROWTH
from kernels.andrea.scale import Scale
from kernels.events import Event, Log, Metric, Note, Outcome, Sample
from tests.kernels.andrea.training import COUNT, at_step, code, logs, metrics, train

pytestmark = pytest.mark.training


def test_the_loss_falls_from_chance_and_a_checkpoint_on_the_way_changes_no_bit(
    tmp_path: Path, corpus: str
) -> None:
    settings = {"steps": 12, "learning_rate": 0.03}
    plain = train(tmp_path / "plain", corpus, **settings)
    saving = train(tmp_path / "saving", corpus, at_step(3, "checkpoint"), **settings)
    losses = points(tmp_path / "plain" / "micro.loss.json")
    assert losses[0][1] == pytest.approx(math.log(257), abs=0.05)
    assert losses[-1][1] is not None and losses[-1][1] < math.log(257) - 1
    assert [step for step, _ in losses] == list(range(1, 13))
    beside = ["micro.loss.json", "micro.state.json"]  # what a resume needs comes first
    last = [*beside, "step_000012.bin"]
    assert [a.name for a in saving.artifacts] == [*beside, "step_000004.bin", *last]
    assert [a.name for a in plain.artifacts] == last
    for name in ("step_000012.bin", "micro.loss.json"):
        one, other = (tmp_path / folder / name for folder in ("plain", "saving"))
        assert one.read_bytes() == other.read_bytes()
    assert "log.andrea.no-telemetry" in logs(plain)
    told = {event.name for event in plain.events if isinstance(event, Metric)}
    assert {"loss", "ema", "learning-rate", "norm", "memory", "host-load"} <= told
    assert "loss-scale" not in told


def test_stop_during_a_sample_keeps_the_sample_and_saves(tmp_path: Path, corpus: str) -> None:
    def hook(event: Event, made: Any) -> None:
        if isinstance(event, Sample):
            made.stop.set()
            made.checkpoint.set()

    said = train(tmp_path, corpus, hook, steps=9, sample_every=2)
    assert said.end.outcome is Outcome.CANCELLED and code(said) == "end.saved"
    assert load(tmp_path / "step_000002.bin", COUNT).step == 2
    samples = json.loads((tmp_path / "micro.samples.json").read_text())
    assert [sample["step"] for sample in samples] == [2]
    assert samples[0]["text"] and samples[0]["loss"] == points(tmp_path / "micro.loss.json")[1][1]
    assert list(tmp_path.glob(".*")) == []


def test_five_low_samples_in_a_row_halt_the_run(tmp_path: Path, corpus: str) -> None:
    said = train(tmp_path, corpus, steps=20, sample_every=1, sample_tokens=1)
    assert said.end.outcome is Outcome.FAILED and code(said) == "end.halted"
    assert logs(said).count("log.andrea.low-sample") == 5
    assert load(tmp_path / "step_000005.bin", COUNT).step == 5


def test_the_schedule_is_told_and_each_part_of_it_can_be_left_out(
    tmp_path: Path, corpus: str
) -> None:
    settings = {"steps": 3, "warmup": 0, "floor": 1.0, "clip": 0.0, "decay": 0.0}
    said = train(tmp_path, corpus, **settings, learning_rate=0.01)
    notes = [e.note for e in said.events if isinstance(e, Log) and e.note]
    (schedule,) = [note.params for note in notes if note.code == "log.andrea.schedule"]
    assert schedule == {
        **{"steps": 3, "warmup": 0, "peak": 0.01, "floor": 1.0, "clip": 0.0},
        **{"context": 8, "vocabulary": 257},
    }
    assert [rate for _, rate in metrics(said, "learning-rate")] == [0.01, 0.01, 0.01]
    assert said.end.outcome is Outcome.PASSED
    (entered,) = [note.params for note in notes if note.code == "log.andrea.phase"]
    assert entered == {"phase": "random", "step": 1}


def test_without_clipping_a_gradient_keeps_its_length(tmp_path: Path, corpus: str) -> None:
    """At a threshold far above every norm nothing is clipped, and 0 means the same."""
    high, none = tmp_path / "high", tmp_path / "none"
    train(high, corpus, steps=2, clip=1e6)
    train(none, corpus, steps=2, clip=0.0)
    train(tmp_path / "low", corpus, steps=2, clip=0.01)
    last = "step_000002.bin"
    assert (high / last).read_bytes() == (none / last).read_bytes()
    assert (high / last).read_bytes() != (tmp_path / "low" / last).read_bytes()


def test_a_model_that_is_lost_does_not_pass_and_its_files_are_json(
    tmp_path: Path, corpus: str
) -> None:
    """Weights with a NaN: no loss is finite and no update is made."""
    settings = {"steps": 4, "checkpoint_every": 2, "sample_every": 2}
    train(tmp_path / "good", corpus, at_step(1, "stop"), **settings)
    start = tmp_path / "good" / "step_000002.bin"
    content = start.read_bytes()
    start.write_bytes(
        content[:8] + struct.pack("<f", math.nan) * 16 * 257 + content[8 + 4112 * 4 :]
    )
    said = train(tmp_path / "lost", corpus, **settings, resume=str(start))
    assert said.end.outcome is Outcome.FAILED
    assert said.end.note == Note("end.no-update", {"step": 2})  # the two before are another's
    assert logs(said).count("log.andrea.skipped") == 2
    for kind in ("samples", "state"):
        text = (tmp_path / "lost" / f"micro.{kind}.json").read_text()
        json.loads(text, parse_constant=pytest.fail)  # NaN is no JSON
    assert points(tmp_path / "lost" / "micro.loss.json")[-1] == (4, None)


def test_a_training_whose_last_loss_is_not_finite_does_not_pass(
    tmp_path: Path, corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Engine.step

    def step(engine: Engine, slot: Any) -> None:
        real(engine, slot)
        if int(engine.arena["counters"][0]) == 3:
            slot.report[0] = math.inf

    monkeypatch.setattr(Engine, "step", step)
    said = train(tmp_path, corpus, steps=3)
    assert said.end.outcome is Outcome.FAILED and code(said) == "end.not-finite"


def test_the_loss_scale_of_fp16_is_told_as_the_device_has_it(tmp_path: Path, corpus: str) -> None:
    """A scale so high that gradients overflow: it halves until they do not."""
    settings = {"steps": 8, "checkpoint_every": 1, "precision": "fp16"}
    train(tmp_path / "a", corpus, at_step(2, "stop"), **settings)
    state = tmp_path / "a" / "micro.state.json"
    content = json.loads(state.read_text())
    content["checkpoints"]["2"]["scale"] = 2.0**24
    state.write_text(json.dumps(content))
    start = str(tmp_path / "a" / "step_000002.bin")
    said = train(tmp_path / "b", corpus, **settings, resume=start)
    told = dict(metrics(said, "loss-scale"))
    kept = json.loads((tmp_path / "b" / "micro.state.json").read_text())["checkpoints"]
    scale = 2.0**24
    assert len(told) > 1
    for step in range(3, 9):
        scale = told.get(step, scale)
        assert scale == kept[str(step)]["scale"], step


def test_the_scale_grows_after_as_many_updates_as_on_the_device() -> None:
    scale = Scale(4.0, GROWTH - 2)
    values = []
    for applied in (True, True, False, True):
        scale.follow(applied=applied)
        values.append((scale.value, scale.good))
    assert values == [(4.0, GROWTH - 1), (8.0, 0), (4.0, 0), (4.0, 1)]
    assert [scale.news(step, 3) for step in (1, 2, 3)] == [True, False, False]
    scale.follow(applied=False)
    assert [scale.news(step, 3) for step in (3, 4)] == [False, True]
