"""What a worker does with a child's files, and which ends leave a training to another attempt."""

import signal
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.storage import default_storage

from runner import limits
from runner.claims import Claim
from runner.files import Files
from runner.orders import Exited
from runner.output import Output
from runner.supervision import Supervision

TRAINED = Claim(uuid.uuid4(), 1, "andrea.train", {}, 1, "cpu", 0)


class Heard:
    """In place of a recorder: what was said, by kind."""

    def __init__(self) -> None:
        self.claimed = TRAINED
        self.said: list[tuple[str, dict[str, Any]]] = []
        self.progress = 0

    def add(self, kind: str, data: dict[str, Any], *_: Any, **more: Any) -> None:
        self.said.append((str(kind), data))
        self.progress += bool(more.get("progress"))


def supervision(folder: Path, *, training: bool, closing: bool = False) -> Supervision:
    hold: Any = SimpleNamespace(
        closing=closing, stop=SimpleNamespace(is_set=lambda: False), checkpoints=0
    )
    outputs = folder / "outputs"
    outputs.mkdir(exist_ok=True)
    files = Files(TRAINED, outputs, training=training)
    heard: Any = Heard()
    return Supervision(SimpleNamespace(), heard, hold, files, Output(folder / "printed"))  # type: ignore[arg-type]


@pytest.fixture
def trained(tmp_path: Path) -> Iterator[Supervision]:
    made = supervision(tmp_path, training=True)
    with made.files:
        yield made


def announce(made: Supervision, folder: Path, name: str, content: bytes = b"x") -> None:
    (folder / "outputs" / name).write_bytes(content)
    made.take({"kind": "artifact", "at": "", "data": {"name": name, "media": "x/y"}})


def said(made: Supervision) -> list[tuple[str, dict[str, Any]]]:
    return made.recorder.said  # type: ignore[attr-defined, no-any-return]


def test_the_files_of_a_training_come_again_and_the_last_one_counts(
    trained: Supervision, tmp_path: Path
) -> None:
    for size in (10, 20):
        announce(trained, tmp_path, "micro.loss.json", b"x" * size)
    assert [data["bytes"] for _, data in said(trained)] == [10, 20]
    assert trained.files.sizes == {"micro.loss.json": 20}
    assert not trained.saved


def test_a_checkpoint_is_taken_told_and_removed_from_where_it_was_written(
    trained: Supervision, tmp_path: Path
) -> None:
    for step in (10, 20, 30, 40, 50):
        ema = {"name": "ema", "value": 5.0 - step / 100, "step": step}
        trained.take({"kind": "metric", "at": "", "data": ema})
        announce(trained, tmp_path, f"step_{step:06d}.bin")
    assert list((tmp_path / "outputs").iterdir()) == []
    told = [
        (data["name"], data.get("kept", True)) for kind, data in said(trained) if "sha256" in data
    ]
    assert [name for name, kept in told if not kept] == ["step_000010.bin", "step_000020.bin"]
    assert sorted(trained.files.sizes) == [f"step_0000{n}.bin" for n in (30, 40, 50)]
    assert trained.saved and trained.recorder.progress == 5  # type: ignore[attr-defined]


def test_the_checkpoint_of_another_procedure_is_a_file_like_any(tmp_path: Path) -> None:
    made = supervision(tmp_path, training=False)
    announce(made, tmp_path, "step_000010.bin")
    announce(made, tmp_path, "step_000010.bin")
    assert [data["note"]["code"] for kind, data in said(made) if kind == "log"] == [
        "log.artifact-twice"
    ]
    assert (tmp_path / "outputs" / "step_000010.bin").exists()
    assert not made.saved and made.recorder.progress == 0  # type: ignore[attr-defined]


def test_a_storage_that_fails_costs_a_file_and_not_the_run(
    trained: Supervision, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(default_storage, "save", full)
    announce(trained, tmp_path, "step_000010.bin")
    ((kind, data),) = said(trained)
    assert (kind, data["note"]["code"]) == ("log", "log.artifact-not-stored")
    assert not trained.saved


KILLED = Exited(signal.SIGKILL, None)
SAVED = {"outcome": "cancelled", "note": {"code": "end.saved"}}


@pytest.mark.parametrize(
    ("training", "closing", "saved", "last", "exited", "another"),
    [
        (True, False, True, None, KILLED, True),
        (True, False, True, None, None, True),  # the warm parent went
        (True, False, False, None, KILLED, False),
        (False, False, False, None, KILLED, False),
        (True, False, True, None, Exited(signal.SIGSEGV, None), False),
        (True, False, True, None, Exited(signal.SIGKILL, None, out_of_memory=True), False),
        (True, False, True, None, Exited(None, 70), False),
        (True, True, True, SAVED, Exited(None, 0), True),
        (True, True, False, None, KILLED, True),  # it took longer than the grace
        (True, True, True, {"outcome": "passed"}, Exited(None, 0), False),
        (True, True, True, {"outcome": "error_in_code"}, Exited(None, 0), False),
        (True, False, True, SAVED, Exited(None, 0), False),
        (False, True, False, {"outcome": "cancelled"}, Exited(None, 0), False),
    ],
)
def test_which_ends_leave_it_to_another_attempt(
    tmp_path: Path,
    training: bool,
    closing: bool,
    saved: bool,
    last: dict[str, Any] | None,
    exited: Exited | None,
    another: bool,
) -> None:
    made = supervision(tmp_path, training=training, closing=closing)
    made.saved, made.last, made.exited = saved, last, exited
    assert made.leaves_it_to_another() is another
    made.hold.stop.is_set = lambda: True  # type: ignore[method-assign]
    assert not made.leaves_it_to_another()


def test_after_twenty_attempts_it_is_over(trained: Supervision) -> None:
    trained.saved, trained.exited = True, KILLED
    assert trained.leaves_it_to_another()
    last = Claim(TRAINED.run_id, limits.MAX_ATTEMPTS, "andrea.train", {}, 1, "cpu", 0)
    trained.recorder.claimed = last
    assert not trained.leaves_it_to_another()
