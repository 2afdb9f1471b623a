"""Training: signals, resuming to the bit, samples, polish; on the interpreter, very small."""

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kernels.andrea import training
from kernels.andrea.checkpoint import load
from kernels.andrea.history import points
from kernels.events import Event, Log, Metric, Outcome, Sample
from kernels.execution import execute
from kernels.registry import get
from tests.kernels.running import Said, context, run

pytestmark = pytest.mark.training

ROOT = Path(__file__).resolve().parents[3]
TEXT = "the cat sat on the mat and the dog sat on the cat. " * 40
TINY: dict[str, Any] = {"width": 16, "layers": 1, "context": 8, "batch": 2, "sample_tokens": 5}
COUNT = 257 * 16 + 8 * 16 + 12 * 16 * 16 + 4 * 16 + 2 * 16
Hook = Callable[[Event, Any], None]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("corpus") / "text.txt"
    file.write_text(TEXT)
    return str(file)


def train(folder: Path, corpus: str, hook: Hook | None = None, **changes: Any) -> Said:
    """andrea.train in this process; `hook` sees each Event with the context it may signal."""
    folder.mkdir(exist_ok=True)
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


def logs(said: Said) -> list[str]:
    return [e.note.code for e in said.events if isinstance(e, Log) and e.note]


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_stopped_and_resumed_is_straight_to_the_bit(
    tmp_path: Path, corpus: str, precision: str
) -> None:
    shape = {name: TINY[name] for name in ("width", "layers", "context", "batch")}
    said = run("andrea.resume-proof", tmp_path, corpus=corpus, half=2, precision=precision, **shape)
    assert said.end.outcome is Outcome.PASSED
    assert [case.id for case in said.cases] == ["losses", "last-file"]
    rows = said.tables["resume"].rows
    assert [row[0] for row in rows] == [1, 2, 3, 4]
    assert all(row[1] == row[2] and row[3] == "=" for row in rows)


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
    assert {"loss", "ema", "learning-rate", "norm", "memory"} <= {
        event.name for event in plain.events if isinstance(event, Metric)
    }


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


def test_steps_made_again_after_a_kill_are_the_same_and_not_noted_twice(
    tmp_path: Path, corpus: str
) -> None:
    train(tmp_path, corpus, steps=4, checkpoint_every=2)
    before = (tmp_path / "micro.loss.json").read_bytes()
    last = (tmp_path / "step_000004.bin").read_bytes()
    (tmp_path / "step_000004.bin").unlink()
    said = train(
        tmp_path, corpus, steps=4, checkpoint_every=2, resume=str(tmp_path / "step_000002.bin")
    )
    assert said.end.outcome is Outcome.PASSED
    assert (tmp_path / "micro.loss.json").read_bytes() == before
    assert (tmp_path / "step_000004.bin").read_bytes() == last


def test_five_low_samples_in_a_row_halt_the_run(tmp_path: Path, corpus: str) -> None:
    said = train(tmp_path, corpus, steps=20, sample_every=1, sample_tokens=1)
    assert said.end.outcome is Outcome.FAILED and code(said) == "end.halted"
    assert logs(said).count("log.andrea.low-sample") == 5
    assert load(tmp_path / "step_000005.bin", COUNT).step == 5


def test_a_polish_archives_and_the_losses_keep_growing(tmp_path: Path, corpus: str) -> None:
    other = tmp_path / "other.txt"
    other.write_text(TEXT.upper())
    train(tmp_path, corpus, steps=2, sample_every=2)
    losses = [(tmp_path / "micro.loss.json").read_bytes()]
    archived = [(tmp_path / "micro.samples.json").read_bytes()]
    for number, steps in ((1, 3), (2, 4)):
        start = str(tmp_path / f"step_{steps - 1:06d}.bin")
        settings = {"steps": steps, "resume": start, "polish": True, "sample_every": 1}
        said = train(tmp_path, str(other), **settings)
        assert "log.andrea.polish" in logs(said)
        assert (tmp_path / f"micro.samples.{number}.json").read_bytes() == archived[-1]
        assert (tmp_path / f"micro.state.{number}.json").exists()
        archived.append((tmp_path / "micro.samples.json").read_bytes())
        losses.append((tmp_path / "micro.loss.json").read_bytes())
        assert losses[-1].startswith(losses[-2]) and len(losses[-1]) > len(losses[-2])
    assert [sample["step"] for sample in json.loads(archived[-1])] == [4]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seed": 2}, "seed = 20261130, not 2; accepted: the same, or polish = true"),
        ({"steps": 9}, "steps = 2, not 9"),
        ({"corpus": "other"}, "corpus.name = 'text.txt', not 'other.txt'"),
        ({"width": 32}, "holds 7408 weights and this model has"),
        ({"steps": 1}, "has made 2 already"),
    ],
    ids=("seed", "steps", "corpus", "width", "over"),
)
def test_a_resume_with_something_else_is_refused(
    tmp_path: Path, corpus: str, two_steps: Path, changes: dict[str, Any], said: str
) -> None:
    if changes.get("corpus"):
        (tmp_path / "other.txt").write_text(TEXT.upper())
        changes = {"corpus": str(tmp_path / "other.txt")}
    settings = {"steps": 2, "corpus": corpus, "resume": str(two_steps / "step_000001.bin")}
    if "steps" in changes or "width" in changes:
        settings["resume"] = str(two_steps / "step_000002.bin")
    ended = train(tmp_path, **{**settings, **changes})
    assert ended.end.note is not None and said in str(ended.end.note.params["reason"])


@pytest.fixture(scope="module")
def two_steps(tmp_path_factory: pytest.TempPathFactory, corpus: str) -> Path:
    folder = tmp_path_factory.mktemp("two")
    train(folder, corpus, steps=2, checkpoint_every=1)
    return folder


def test_a_folder_with_another_run_is_refused(tmp_path: Path, corpus: str, two_steps: Path) -> None:
    ended = train(two_steps, corpus, steps=2, seed=9)
    assert ended.end.note is not None
    assert "output: the run there was made with seed" in str(ended.end.note.params["reason"])
    assert "an empty folder" in str(ended.end.note.params["reason"])


def test_a_full_disk_is_told_and_the_file_before_stays(
    tmp_path: Path, corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = training.checkpoint.save

    def save(path: Path, made: Any) -> None:
        if made.step > 1:
            raise OSError(28, "No space left on device")
        real(path, made)

    monkeypatch.setattr(training.checkpoint, "save", save)
    said = train(tmp_path, corpus, steps=3, checkpoint_every=1)
    assert logs(said).count("log.andrea.not-saved") == 2
    assert said.end.outcome is Outcome.FAILED and code(said) == "end.not-saved"
    assert [path.name for path in tmp_path.glob("*.bin")] == ["step_000001.bin"]
    assert load(tmp_path / "step_000001.bin", COUNT).step == 1


def test_real_signals_save_and_end_with_status_0(tmp_path: Path, corpus: str) -> None:
    """SIGUSR1, then two SIGTERM at once; what was logged is what a straight run logs."""
    plain, out = tmp_path / "plain", tmp_path / "out"
    settings = {**TINY, "steps": 500, "sample_every": 500, "checkpoint_every": 500}
    given = [f"{key}={value}" for key, value in {**settings, "corpus": corpus}.items()]
    command = [sys.executable, "-m", "kernels", "andrea.train", "--device", "cpu", "--json"]
    command += ["--output", str(out), "--set", *given]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        seen = []
        for text in child.stdout:
            seen.append(json.loads(text))
            if is_loss(seen[-1], 2):
                os.kill(child.pid, signal.SIGUSR1)
            if seen[-1]["kind"] == "artifact" and len(files(seen)) == 1:
                os.kill(child.pid, signal.SIGTERM)
                os.kill(child.pid, signal.SIGTERM)
        assert child.wait() == 0
    assert seen[-1]["data"]["note"]["code"] == "end.saved"
    saved, last = files(seen)
    assert load(out / saved, COUNT).step < load(out / last, COUNT).step
    assert list(out.glob(".*")) == []
    step = load(out / last, COUNT).step
    train(plain, corpus, at_step(step - 1, "stop"), steps=500)
    for name in ("micro.loss.json", last):
        assert (plain / name).read_bytes() == (out / name).read_bytes()


def is_loss(event: dict[str, Any], step: int) -> bool:
    data = event["data"]
    return event["kind"] == "metric" and data["name"] == "loss" and data["step"] == step


def files(events: list[dict[str, Any]]) -> list[str]:
    """The checkpoints that were announced."""
    names = [event["data"]["name"] for event in events if event["kind"] == "artifact"]
    return [name for name in names if name.endswith(".bin")]


def test_a_bad_parameter_at_a_terminal_is_2_and_one_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kernels", "andrea.train", "--device", "cpu"]
    out = tmp_path / "out"
    command += ["--output", str(out), "--set", "heads=5"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("heads = 5 does not divide width = 32; accepted: 1, 2, 4")
    assert len(done.stderr.splitlines()) == 1 and done.stdout == ""
    assert not out.exists()


def test_from_another_folder_it_goes_on_as_in_its_own(tmp_path: Path, corpus: str) -> None:
    """As a site does it: the checkpoint and what was written with it, and an empty folder."""
    settings = {"steps": 4, "sample_every": 1, "checkpoint_every": 1}
    train(tmp_path / "whole", corpus, **settings)
    start = tmp_path / "given"
    start.mkdir()
    names = ("step_000002.bin", "micro.loss.json", "micro.samples.json", "micro.state.json")
    for name in names:  # the files of the end, which say more than the checkpoint knows
        (start / name).write_bytes((tmp_path / "whole" / name).read_bytes())
        (start / name).chmod(0o444)
    said = train(tmp_path / "own", corpus, **settings, resume=str(start / "step_000002.bin"))
    assert said.end.outcome is Outcome.PASSED
    for name in ("step_000004.bin", *names[1:]):
        one, other = (tmp_path / folder / name for folder in ("whole", "own"))
        assert one.read_bytes() == other.read_bytes(), name
    assert [e.step for e in said.events if isinstance(e, Metric) and e.name == "loss"] == [3, 4]


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
    rates = [e.value for e in said.events if isinstance(e, Metric) and e.name == "learning-rate"]
    assert rates == [0.01, 0.01, 0.01]
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
