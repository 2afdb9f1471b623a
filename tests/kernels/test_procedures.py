"""The other Procedures of RMSNorm, run on the interpreter."""

import threading
from pathlib import Path

import pytest
import torch

from kernels.artifacts import MEDIA
from kernels.events import Figure, Metric, Outcome, Table, Verdict
from kernels.execution import execute
from kernels.procedure import BadParameter
from kernels.procedures.rmsnorm import benchmark, checks
from kernels.procedures.rmsnorm.inputs import places
from kernels.registry import get
from tests.kernels.running import Said, context, run

WORKED = {
    "sum-squares": 257,
    "mean-n": 1,
    "mean-block": 0.501953125,
    "denominator-n": 1.0000005,
    "denominator-block": 0.708487,
    "output-n": 0.9999995,
    "output-block": 1.411458,
}
SECOND_PART = {
    "dx-right-right": 1.0e-6,
    "dx-right-block": 0.498,
    "dx-block-right": -1.40,
    "dx-block-block": 2.8e-6,
}


def test_the_environment_says_what_it_is_and_that_it_computes(tmp_path: Path) -> None:
    said = run("rmsnorm.environment", tmp_path)
    assert said.end.outcome is Outcome.PASSED
    assert ("kernels", "interpreter") in said.tables["environment"].rows
    assert {case.id for case in said.cases} == {"torch", "triton", "oracle"}


def test_the_oracle_passes_gradcheck_and_the_partitions_are_three(tmp_path: Path) -> None:
    said = run("rmsnorm.reference", tmp_path)
    assert said.end.outcome is Outcome.PASSED
    assert [row[:2] for row in said.tables["partitions"].rows] == [
        ("train", 2048),
        ("validation", 256),
        ("test", 256),
    ]
    assert said.metric("gradcheck") < 1e-7


def test_the_exercise_gives_the_numbers_of_the_lesson(tmp_path: Path) -> None:
    said = run("rmsnorm.exercise", tmp_path)
    for name, value in WORKED.items():
        assert said.metric(name) == pytest.approx(value, abs=1e-6), name
    for name, value in SECOND_PART.items():
        assert said.metric(name) == pytest.approx(value, rel=0.01, abs=3e-7), name
    assert said.metric("inflation") == pytest.approx((512 / 257) ** 0.5, rel=1e-5)


def test_a_wrong_pair_that_agrees_with_itself_is_seen_by_the_oracle_alone(tmp_path: Path) -> None:
    said = run("rmsnorm.exercise", tmp_path)
    assert said.end.outcome is Outcome.PASSED
    assert said.tables["judges"].rows == (
        ("right", "right", "accepts", "accepts"),
        ("right", "block", "objects", "objects"),
        ("block", "right", "objects", "objects"),
        ("block", "block", "objects", "accepts"),
    )


def test_at_256_nobody_sees_anything(tmp_path: Path) -> None:
    said = run("rmsnorm.exercise", tmp_path, n=256)
    assert said.end.outcome is Outcome.PASSED
    assert said.metric("output-n") == said.metric("output-block")
    assert {row[2:] for row in said.tables["judges"].rows} == {("accepts", "accepts")}


@pytest.mark.training
def test_the_two_paths_train_alike_and_the_weights_come_back(tmp_path: Path) -> None:
    said = run("rmsnorm.train-integration", tmp_path, steps=8, examples=16)
    assert said.end.outcome is Outcome.PASSED
    assert said.metric("initial-output-error") < 1e-6
    assert said.metric("initial-gradient-error") < 1e-6
    assert said.metric("reload-difference") == 0
    assert said.metric("calls", "forward") == said.metric("calls", "backward") == 8
    reference, kernel = (said.metric("test-mse", series) for series in ("reference", "kernel"))
    assert f"{reference:.5f}" == f"{kernel:.5f}"
    assert [artifact.name for artifact in said.artifacts] == ["checkpoints/rmsnorm-kernel.pt"]


@pytest.mark.training
def test_the_same_seed_trains_to_the_same_loss(tmp_path: Path) -> None:
    first, second = (losses(run_short(tmp_path / name)) for name in "ab")
    assert first == second


def run_short(folder: Path) -> Said:
    folder.mkdir()
    return run("rmsnorm.train-integration", folder, steps=2, examples=4)


def losses(said: Said) -> list[float]:
    return [e.value for e in said.events if isinstance(e, Metric) and e.name == "loss"]


@pytest.mark.training
def test_a_stopped_training_keeps_its_weights_and_ends_as_cancelled(tmp_path: Path) -> None:
    made = context("rmsnorm.train-integration", tmp_path, steps=1000, examples=4)
    events = []
    for event in execute(get("rmsnorm.train-integration"), made, sandbox="none"):
        events.append(event)
        if isinstance(event, Metric) and event.step == 2:
            made.stop.set()
    said = Said(events)
    assert said.end.outcome is Outcome.CANCELLED
    assert (tmp_path / "checkpoints" / "rmsnorm-kernel.pt").exists()


@pytest.mark.training
def test_a_checkpoint_on_request_lets_the_training_go_on(tmp_path: Path) -> None:
    made = context("rmsnorm.train-integration", tmp_path, steps=3, examples=4)
    made.checkpoint = threading.Event()
    made.checkpoint.set()
    said = Said(list(execute(get("rmsnorm.train-integration"), made, sandbox="none")))
    assert said.end.outcome is Outcome.PASSED
    assert len(said.artifacts) == 2


@pytest.mark.training
def test_checkpoints_come_back_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    said = run("rmsnorm.checkpoints", tmp_path, steps=2, examples=4)
    assert said.end.outcome is Outcome.PASSED
    assert {case.id for case in said.cases} >= {"same-weights", "outputs", "damaged-refused"}


@pytest.mark.training
def test_figures_are_files_with_a_description_and_no_latency_here(tmp_path: Path) -> None:
    said = run("rmsnorm.figures", tmp_path, steps=2, examples=4)
    names = {artifact.name for artifact in said.artifacts}
    assert names == {"loss.png", "loss.svg", "inflation.png", "inflation.svg"}
    for artifact in said.artifacts:
        path = tmp_path / artifact.name
        assert path.stat().st_size == artifact.bytes
        assert artifact.media == MEDIA[path.suffix]
    assert (tmp_path / "loss.png").read_bytes()[:4] == b"\x89PNG"
    figures = [event for event in said.events if isinstance(event, Figure)]
    assert {figure.artifact for figure in figures} <= names


def test_no_timing_is_ever_printed_on_the_interpreter(tmp_path: Path) -> None:
    said = run("rmsnorm.benchmark", tmp_path)
    assert said.end.outcome is Outcome.INFRASTRUCTURE_FAILURE
    assert said.end.note is not None and said.end.note.code == "refusal.needs-gpu"
    assert not any(isinstance(event, Metric | Table) for event in said.events)


def test_a_benchmark_beyond_its_version_is_a_refusal_and_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ones = torch.ones(4, 8, dtype=torch.bfloat16)
    monkeypatch.setattr(benchmark, "tensors", lambda context: (ones, ones[0], ones))
    asked = context("rmsnorm.benchmark", tmp_path, dtype="BF16")
    with pytest.raises(BadParameter, match="float32, float16"):
        list(benchmark.run(asked))


def test_clean_deletes_nothing_unless_told(tmp_path: Path) -> None:
    said = run("rmsnorm.clean", tmp_path, example=True)
    assert said.end.outcome is Outcome.PASSED
    assert {row[0] for row in said.tables["candidates"].rows} == {
        "checkpoints",
        "checkpoints/example.pt",
        "example.log",
        "link-out",
    }
    assert (tmp_path / "checkpoints" / "example.pt").exists()


def test_clean_stays_in_its_folder_and_follows_no_link(tmp_path: Path) -> None:
    outside, outputs = tmp_path / "outside", tmp_path / "outputs"
    outside.mkdir()
    outputs.mkdir()
    (outside / "precious").write_text("kept")
    (outputs / "folder-link").symlink_to(outside)
    (outputs / "file-link").symlink_to(outside / "precious")
    (outputs / "old.log").write_text("gone")
    said = run("rmsnorm.clean", outputs, delete=True)
    assert said.end.outcome is Outcome.PASSED
    assert list(outputs.iterdir()) == []
    assert (outside / "precious").read_text() == "kept"


def test_a_mutant_is_announced_and_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "places", lambda seed: places(seed)[6:9])
    said = run("rmsnorm.check-forward", tmp_path, mutant="forward-by-block")
    assert said.end.outcome is Outcome.FAILED
    assert [case.verdict for case in said.cases if case.place] == [Verdict.FAILED] * 3
    assert {case.why.code for case in said.cases if case.why} == {"why.by-block"}
