"""The files of a run: losses that only grow, archives that are never overwritten."""

import json
import os
from pathlib import Path

import pytest

from kernels.andrea.history import History, points
from kernels.andrea.runfiles import RunFiles, Source, State
from kernels.procedure import BadParameter

STATE = State(scale=65536.0, good=3, applied=7, skipped=1, failures=2)


def write(path: Path, *losses: tuple[int, float]) -> None:
    history = History(path)
    for step, loss in losses:
        history.add(step, loss)
    history.close()


def test_losses_are_lines_of_step_and_loss(tmp_path: Path) -> None:
    path = tmp_path / "m.loss.json"
    write(path, (1, 5.5), (2, 1 / 3), (3, float("nan")))
    assert path.read_text() == "[1, 5.5]\n[2, 0.3333333333333333]\n[3, null]\n"
    assert points(path) == [(1, 5.5), (2, 1 / 3), (3, None)]


def test_a_step_made_again_to_the_same_bit_is_not_written_twice(tmp_path: Path) -> None:
    path = tmp_path / "m.loss.json"
    write(path, (1, 5.5), (2, 5.25))
    before = path.read_bytes()
    write(path, (2, 5.25), (3, 5.0))
    assert path.read_bytes() == before + b"[3, 5.0]\n"


def test_a_polish_appends_its_own_line_for_a_step(tmp_path: Path) -> None:
    path = tmp_path / "m.loss.json"
    write(path, (1, 5.5), (2, 5.25))
    write(path, (2, 4.0))
    assert points(path)[-2:] == [(2, 5.25), (2, 4.0)]


def test_half_a_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "m.loss.json"
    path.write_bytes(b"[1, 5.5]\n[2, 5.")
    write(path, (2, 5.25))
    assert points(path) == [(1, 5.5), (2, 5.25)]


def test_state_comes_back_by_step_with_its_sources(tmp_path: Path) -> None:
    files = RunFiles(tmp_path, "m")
    source = Source(ema=1 / 3, pulls=12, epochs=0.25, coverage="f" * 64)
    files.save_state({"config": {"width": 3}}, 10, STATE)
    later = State(1.0, 0, 9, 1, sources={"python": source})
    files.save_state({"config": {"width": 3}}, 20, later)
    assert files.load_state(10) == STATE
    assert files.load_state(20) == later
    assert files.content()["config"] == {"width": 3}
    with pytest.raises(BadParameter, match="says nothing of step 30"):
        files.load_state(30)


def test_a_polish_archives_samples_and_state_under_numbers_of_their_own(tmp_path: Path) -> None:
    files = RunFiles(tmp_path, "m")
    write(files.live("loss"), (1, 5.5))
    for number in (1, 2):
        files.add_sample({"step": number, "text": str(number)})
        files.save_state({}, number, STATE)
        assert files.archive() == number
        assert not files.live("samples").exists() and not files.live("state").exists()
    for number in (1, 2):
        kept = json.loads((tmp_path / f"m.samples.{number}.json").read_text())
        assert kept == [{"step": number, "text": str(number)}]
    assert points(files.live("loss")) == [(1, 5.5)]


def test_an_archive_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "m.state.1.json").write_text("kept")
    files = RunFiles(tmp_path, "m")
    files.add_sample({"step": 1})
    assert files.archive() == 2
    assert (tmp_path / "m.state.1.json").read_text() == "kept"


def test_a_sample_made_again_takes_the_place_of_the_first(tmp_path: Path) -> None:
    files = RunFiles(tmp_path, "m")
    for step in (10, 20, 20):
        files.add_sample({"step": step})
    assert [sample["step"] for sample in files.samples()] == [10, 20]


def test_a_full_disk_leaves_the_files_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = RunFiles(tmp_path, "m")
    files.save_state({}, 1, STATE)
    before = files.live("state").read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        files.save_state({}, 2, STATE)
    assert files.live("state").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["m.state.json"]


def test_what_a_killed_process_left_is_swept(tmp_path: Path) -> None:
    (tmp_path / ".step_000001.bin.77.part").write_bytes(b"half")
    RunFiles(tmp_path, "m").sweep()
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_state_file_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "m.state.json").write_text('{"config": ')
    with pytest.raises(BadParameter, match=r"m\.state\.json is not valid JSON"):
        RunFiles(tmp_path, "m").content()
