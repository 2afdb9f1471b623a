"""Going on from a checkpoint: the same bits, its files, a polish, a fork; and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kernels.andrea.history import points
from kernels.events import Outcome
from tests.kernels.andrea.training import SHAPE, TEXT, logs, metrics, reason, train
from tests.kernels.running import run

pytestmark = pytest.mark.training


@pytest.fixture(scope="module")
def two_steps(tmp_path_factory: pytest.TempPathFactory, corpus: str) -> Path:
    folder = tmp_path_factory.mktemp("two")
    train(folder, corpus, steps=2, checkpoint_every=1, sample_every=1)
    return folder


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_stopped_and_resumed_is_straight_to_the_bit(
    tmp_path: Path, corpus: str, precision: str
) -> None:
    said = run("andrea.resume-proof", tmp_path, corpus=corpus, half=2, precision=precision, **SHAPE)
    assert said.end.outcome is Outcome.PASSED
    assert [case.id for case in said.cases] == ["losses", "last-file"]
    rows = said.tables["resume"].rows
    assert [row[0] for row in rows] == [1, 2, 3, 4]
    assert all(row[1] == row[2] and row[3] == "=" for row in rows)


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
    assert [step for step, _ in metrics(said, "loss")] == [3, 4]


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


def test_a_fork_from_before_a_polish_is_the_run_as_it_would_have_gone_on(
    tmp_path: Path, corpus: str
) -> None:
    """Two polishes later, what belongs to the checkpoint is in the first archive."""
    (tmp_path / "other.txt").write_text(TEXT.upper())
    other, old = str(tmp_path / "other.txt"), tmp_path / "old"
    settings = {"steps": 4, "sample_every": 1, "checkpoint_every": 3}
    train(old, corpus, **settings)
    whole = {path.name: path.read_bytes() for path in old.iterdir()}
    for steps, start in ((5, 4), (6, 5)):  # the losses grow by other data and by steps anew
        changes = {"steps": steps, "resume": str(old / f"step_{start:06d}.bin"), "polish": True}
        train(old, other, **{**settings, **changes, "checkpoint_every": 1})
    fork, start = tmp_path / "fork", str(old / "step_000003.bin")
    (old / "step_000003.bin").write_bytes(whole["step_000003.bin"])
    said = train(fork, corpus, **settings, resume=start)
    assert said.end.outcome is Outcome.PASSED
    for name in ("step_000004.bin", "micro.loss.json", "micro.samples.json"):
        assert (fork / name).read_bytes() == whole[name], name
    refused = reason(train(old, corpus, **settings, resume=start))
    assert "an empty folder" in refused and refused.startswith("output: ")


def test_a_fork_takes_only_the_losses_from_before_a_polish_that_went_back(
    tmp_path: Path, corpus: str
) -> None:
    (tmp_path / "other.txt").write_text(TEXT.upper())
    old, fork = tmp_path / "old", tmp_path / "fork"
    settings = {"steps": 4, "checkpoint_every": 1}
    train(old, corpus, **settings)
    before, third = points(old / "micro.loss.json"), (old / "step_000003.bin").read_bytes()
    changes = {"resume": str(old / "step_000001.bin"), "polish": True, "checkpoint_every": 2}
    train(old, str(tmp_path / "other.txt"), **{**settings, **changes})
    assert (old / "step_000003.bin").read_bytes() == third  # only the archive knows of it
    train(fork, corpus, **settings, resume=str(old / "step_000003.bin"))
    assert points(fork / "micro.loss.json") == before


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
def test_a_resume_with_something_else_is_refused_and_nothing_is_written(
    tmp_path: Path, corpus: str, two_steps: Path, changes: dict[str, Any], said: str
) -> None:
    if changes.get("corpus"):
        (tmp_path / "other.txt").write_text(TEXT.upper())
        changes = {"corpus": str(tmp_path / "other.txt")}
    settings = {"steps": 2, "corpus": corpus, "resume": str(two_steps / "step_000001.bin")}
    if "steps" in changes or "width" in changes:
        settings["resume"] = str(two_steps / "step_000002.bin")
    out = tmp_path / "out"
    assert said in reason(train(out, **{**settings, **changes}))
    assert not out.exists()


def test_a_refused_run_leaves_the_folder_of_another_as_it_is(
    tmp_path: Path, corpus: str, two_steps: Path
) -> None:
    (tmp_path / "other.txt").write_text(TEXT.upper())
    before = {path: path.stat().st_mtime_ns for path in two_steps.iterdir()}
    refused = reason(train(two_steps, corpus, steps=2, seed=9))
    assert "output: the run there was made with seed" in refused
    assert "an empty folder" in refused
    resume = str(two_steps / "step_000001.bin")
    reason(train(two_steps, str(tmp_path / "other.txt"), steps=2, resume=resume))
    assert {path: path.stat().st_mtime_ns for path in two_steps.iterdir()} == before


Edit = Callable[[dict[str, Any]], Any]


def entry(name: str, value: Any) -> Edit:
    return lambda content: content["checkpoints"]["1"].update({name: value})


def source(name: str, value: Any) -> Edit:
    return lambda content: content["checkpoints"]["1"]["sources"]["text.txt"].update({name: value})


@pytest.mark.parametrize(
    "edit",
    [
        lambda content: content["checkpoints"]["1"].pop("scale"),
        entry("more", 1),
        entry("applied", "x"),
        entry("applied", 2**31),
        entry("good", -1),
        entry("skipped", True),
        entry("scale", 0),
        entry("scale", float("nan")),
        entry("scale", 10**400),
        entry("sources", []),
        entry("sources", {"text.txt": 3}),
        lambda content: content["checkpoints"]["1"].pop("sources"),
        lambda content: content["checkpoints"].update({"1": None}),
        lambda content: content["checkpoints"].update({"two": {}}),
        lambda content: content["checkpoints"].update({"9" * 5000: {}}),
        lambda content: content.update(checkpoints=[]),
        lambda content: content.update(config=[]),
        lambda content: content.update(corpus="text"),
        lambda content: content.update(card=None),
        lambda content: content.pop("config"),
        source("coverage", "zz"),
        source("ema", "low"),
        source("pulls", 1.5),
        source("epochs", None),
    ],
)
def test_a_state_that_no_run_writes_is_refused_in_a_sentence(
    tmp_path: Path, corpus: str, two_steps: Path, edit: Edit
) -> None:
    content = json.loads((two_steps / "micro.state.json").read_text())
    edit(content)
    refused_beside(tmp_path, corpus, two_steps, {"state": json.dumps(content)})


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("state", '{"config": '),
        ("state", "[1]"),
        ("state", "\udcff"),
        ("state", "[" * 100_000),
        ("samples", '{"a": 1}'),
        ("samples", "[1, 2]"),
        ("samples", '[{"step": -1}]'),
        ("samples", '[{"step": 1, "loss": NaN}]'),
        ("loss", "garbage\n[1, 2]\n"),
        ("loss", "[1, 5.5]\n[2, NaN]\n"),
        ("loss", "[1, 5.5]\n[2, 5.25][3, 5.0]\n"),
        ("loss", '[1, 5.5]\n["2", 5.25]\n'),
        ("loss", "[1]\n"),
        ("loss", f"[1, {10**400}]\n"),
    ],
)
def test_a_file_that_no_run_writes_is_refused_in_a_sentence(
    tmp_path: Path, corpus: str, two_steps: Path, kind: str, text: str
) -> None:
    refused_beside(tmp_path, corpus, two_steps, {kind: text})
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / f"micro.{kind}.json").write_text(text, errors="surrogateescape")
    refused = reason(train(folder, corpus, steps=2))
    assert refused.startswith(f"output: micro.{kind}.json ") and "; accepted: " in refused
    assert len(list(folder.iterdir())) == 1


def refused_beside(folder: Path, corpus: str, good: Path, files: dict[str, str]) -> None:
    """A checkpoint with those files beside it is refused, and nothing is written."""
    start, out = folder / "start", folder / "out"
    start.mkdir()
    for name in ("step_000001.bin", *(f"micro.{kind}.json" for kind in ("loss", "state"))):
        (start / name).write_bytes((good / name).read_bytes())
    for kind, text in files.items():
        (start / f"micro.{kind}.json").write_text(text, errors="surrogateescape")
    said = train(out, corpus, steps=2, resume=str(start / "step_000001.bin"))
    refused = reason(said)
    assert refused.startswith(f"resume: micro.{next(iter(files))}.json "), refused
    assert "; accepted: " in refused and len(refused) < 400
    assert not out.exists()


def test_a_file_that_is_spoilt_meanwhile_is_told_and_not_written_over(
    tmp_path: Path, corpus: str
) -> None:
    def hook(event: Any, made: Any) -> None:
        if getattr(event, "name", "") == "loss" and event.step == 1:
            (tmp_path / "micro.samples.json").write_text("{")
        if getattr(event, "name", "") == "loss" and event.step == 5:
            (tmp_path / "micro.samples.json").unlink()

    said = train(tmp_path, corpus, hook, steps=6, sample_every=2, checkpoint_every=3)
    told = [code for code in logs(said) if code.endswith(("-not-kept", "not-saved"))]
    sample, saved = "log.andrea.sample-not-kept", "log.andrea.not-saved"
    assert told == [sample, saved]  # of the samples that it misses it speaks once
    assert said.end.outcome is Outcome.PASSED
    samples = json.loads((tmp_path / "micro.samples.json").read_text())
    assert [sample["step"] for sample in samples] == [2, 4, 6]
