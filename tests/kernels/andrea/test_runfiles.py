"""The files of a run: losses that only grow, archives that are never overwritten."""

import errno
import json
import os
from pathlib import Path

import pytest

from kernels.andrea.history import History, points
from kernels.andrea.runfiles import RunFiles
from kernels.andrea.state import Source, State
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


def test_there_is_no_file_before_there_is_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even while the first one is written, and not on a disk that takes none."""
    path, real = tmp_path / "m.loss.json", os.write

    def full(handle: int, content: bytes) -> int:
        assert not path.exists()
        raise OSError(errno.ENOSPC, "No space left on device")

    history = History(path)
    history.flush()
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space") as missed:
        history.add(1, 5.5)
    assert missed.value.filename == str(path)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(os, "write", real)
    history.add(2, 5.25)
    history.add(3, 5.0)
    history.close()
    assert points(path) == [(1, 5.5), (2, 5.25), (3, 5.0)]
    assert list(tmp_path.iterdir()) == [path]


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
    write(files.file("loss"), (1, 5.5))
    for number in (1, 2):
        files.add_samples([{"step": number, "text": str(number)}])
        files.save_state({}, number, STATE)
        assert files.archive() == number
        assert not files.file("samples").exists() and not files.file("state").exists()
    for number in (1, 2):
        kept = json.loads((tmp_path / f"m.samples.{number}.json").read_text())
        assert kept == [{"step": number, "text": str(number)}]
    assert points(files.file("loss")) == [(1, 5.5)]


def test_an_archive_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "m.state.1.json").write_text("kept")
    files = RunFiles(tmp_path, "m")
    files.add_samples([{"step": 1}])
    assert files.archive() == 2
    assert (tmp_path / "m.state.1.json").read_text() == "kept"


def test_a_sample_made_again_takes_the_place_of_the_first(tmp_path: Path) -> None:
    files = RunFiles(tmp_path, "m")
    for step in (10, 20, 20):
        files.add_samples([{"step": step}])
    assert [sample["step"] for sample in files.samples()] == [10, 20]


def test_a_full_disk_leaves_the_files_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = RunFiles(tmp_path, "m")
    files.save_state({}, 1, STATE)
    before = files.file("state").read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space") as missed:
        files.save_state({}, 2, STATE)
    assert missed.value.filename == str(files.file("state"))
    assert files.file("state").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["m.state.json"]


def test_what_a_killed_process_left_is_swept(tmp_path: Path) -> None:
    (tmp_path / ".step_000001.bin.77.part").write_bytes(b"half")
    RunFiles(tmp_path, "m").sweep()
    assert list(tmp_path.iterdir()) == []


def test_part_of_a_line_is_taken_back_and_written_whole_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk at the border of its last page takes some bytes of a line, then none."""
    path, room = tmp_path / "m.loss.json", [4]
    real = os.write

    def write_some(handle: int, content: bytes) -> int:
        taken = content[: room[0]]
        if not taken:
            raise OSError(errno.ENOSPC, "No space left on device")
        room[0] -= len(taken)
        return real(handle, taken)

    history = History(path)
    history.add(1, 5.5)
    monkeypatch.setattr(os, "write", write_some)
    for step, more in ((2, 0), (3, 9 + 5)):  # room for the whole line of step 2, not of step 3
        room[0] += more
        with pytest.raises(OSError, match="No space"):
            history.add(step, 5.5)
        assert path.read_text() == "".join(f"[{n}, 5.5]\n" for n in range(1, step))
    room[0] = 100
    history.add(4, 5.5)
    history.flush()
    history.close()
    assert points(path) == [(n, 5.5) for n in (1, 2, 3, 4)]
