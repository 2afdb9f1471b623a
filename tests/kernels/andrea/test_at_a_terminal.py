"""andrea.train as a process of its own: exit statuses and signals."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kernels.andrea.checkpoint import load
from tests.kernels.andrea.training import (
    COUNT,
    ROOT,
    at_step,
    command,
    short,
    train,
)
from tests.kernels.forked import run_all

pytestmark = pytest.mark.training


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory, corpus: str) -> Path:
    """A trained model, and files with a mistake each."""
    folder = tmp_path_factory.mktemp("wrong")
    train(folder / "good", corpus, steps=2, checkpoint_every=1)
    content = (folder / "good" / "step_000001.bin").read_bytes()
    (folder / "short.bin").write_bytes(content[:-1])
    (folder / "negative.bin").write_bytes(struct.pack("<i", -1) + content[4:])
    (folder / "alone.bin").write_bytes(content)
    (folder / "empty.txt").touch()
    (folder / "binary.txt").write_bytes(b"abc\0def" * 9)
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    return folder


MISTAKES: list[tuple[str, dict[str, str], str]] = [
    ("train", {"corpus": "nowhere.txt"}, "corpus = "),
    ("train", {"corpus": "empty.txt"}, "is empty; accepted: a UTF-8"),
    ("train", {"corpus": "binary.txt"}, "is binary"),
    ("train", {"corpus": "pipe"}, "is neither a file nor a folder"),
    ("train", {"corpus": "x" * 300}, "is not there; accepted: a UTF-8"),
    ("train", {"context": "3000"}, "corpus is too short"),
    ("train", {"batch": "10000000"}, "batch: the plan needs"),
    ("train", {"resume": "nowhere.bin"}, "is not there; accepted: a checkpoint file"),
    ("train", {"resume": "folder"}, "is no file; accepted: a checkpoint file"),
    ("train", {"resume": "short.bin"}, "resume: short.bin: truncated"),
    ("train", {"resume": "negative.bin"}, "resume: negative.bin: step -1 is negative"),
    ("train", {"resume": "alone.bin"}, "says nothing of step 1"),
    ("train", {"resume": "good/step_000002.bin"}, "steps = 2 is not accepted: "),
    ("train", {"resume": "good/step_000001.bin", "seed": "5"}, "resume: the run there was made"),
    ("resume-proof", {"corpus": "binary.txt"}, "is binary"),
    ("generate", {"checkpoint": "nowhere.bin"}, "checkpoint = "),
    ("generate", {"checkpoint": "short.bin"}, "checkpoint: short.bin: "),
]
PATHS = ("corpus", "resume", "checkpoint")


def test_a_mistake_seen_only_while_it_runs_is_2_one_sentence_and_nothing_written(
    tmp_path: Path, corpus: str, wrong: Path
) -> None:
    out = tmp_path / "out"
    before = sorted(wrong.rglob("*"))
    lines = []
    for name, given, _ in MISTAKES:
        base = short(corpus) if name == "train" else {}
        paths = {key: str(wrong / given[key]) for key in PATHS if key in given}
        lines.append(command(name, out, **{**base, **given, **paths})[3:])
    done = run_all(lines)
    whole = subprocess.run(
        [*command("train", out)[:3], *lines[1]], cwd=ROOT, capture_output=True, text=True
    )
    assert whole.returncode == 2 and whole.stderr == done[1].stderr
    for (name, given, due), one in zip(MISTAKES, done, strict=True):
        said = one.stderr.splitlines()
        assert one.status == 2, (name, given, one)
        assert len(said) == 1 and due in said[0] and "accepted: " in said[0], (name, given, said)
        assert len(one.stdout.strip().splitlines()) == 1, one.stdout  # what it runs on
    assert not out.exists()
    assert sorted(wrong.rglob("*")) == before


def test_a_device_that_is_not_there_is_3_and_nothing_is_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    made = command("train", out)
    made[made.index("cpu")] = "cuda"
    plain = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    assert subprocess.run(made, cwd=ROOT, env=plain, capture_output=True).returncode == 3
    assert not out.exists()


def test_a_bad_parameter_is_2_and_one_sentence(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = subprocess.run(command("train", out, heads=5), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("heads = 5 does not divide width = 32; accepted: 1, 2, 4")
    assert len(done.stderr.splitlines()) == 1 and done.stdout == ""
    assert not out.exists()


# Signals


def test_real_signals_save_and_end_with_status_0(tmp_path: Path, corpus: str) -> None:
    """SIGUSR1, then two SIGTERM at once; what was logged is what a straight run logs."""
    plain, out = tmp_path / "plain", tmp_path / "out"
    rare = {"steps": 500, "sample_every": 500, "checkpoint_every": 500}
    made = command("train", out, "--json", **short(corpus, **rare))
    with subprocess.Popen(made, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
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


def test_signals_are_heard_before_anything_is_imported_and_change_nothing_after_the_outcome(
    tmp_path: Path, corpus: str
) -> None:
    """SIGUSR1 in the first moment: a checkpoint after the first step. From the outcome on both
    signals, again and again until the process is gone: it ends as it said."""
    made = command("train", tmp_path, "--json", **short(corpus, steps=3, checkpoint_every=3))
    with subprocess.Popen(made, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        while not catches(child.pid, signal.SIGUSR1):
            time.sleep(0.001)
        child.send_signal(signal.SIGUSR1)
        seen = []
        for text in child.stdout:
            seen.append(json.loads(text))
            if seen[-1]["kind"] == "outcome":
                break
        while child.poll() is None:
            child.send_signal(signal.SIGTERM)
            child.send_signal(signal.SIGUSR1)
            time.sleep(0.002)
    assert child.returncode == 0
    assert files(seen) == ["step_000001.bin", "step_000003.bin"]
    assert seen[-1]["data"]["outcome"] == "passed"


def test_two_ctrl_c_leave_no_empty_file(tmp_path: Path, corpus: str) -> None:
    """The second ends it at once: while it imports, before its first step, after it."""
    for wait in ("catches", "corpus", "loss"):
        out = tmp_path / wait
        made = command("train", out, "--json", **short(corpus, steps=500, sample_every=500))
        with subprocess.Popen(made, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            while not catches(child.pid, signal.SIGUSR1):  # Python itself catches the other
                time.sleep(0.001)
            if wait != "catches":
                next(text for text in child.stdout if wait in text)
            child.send_signal(signal.SIGINT)
            time.sleep(0.01)
            child.send_signal(signal.SIGINT)
            child.stdout.read()
        assert child.returncode in (-signal.SIGINT, 0)
        assert all(path.stat().st_size for path in out.glob("*"))


def catches(pid: int, number: int) -> bool:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (mask,) = [line.split()[1] for line in lines if line.startswith("SigCgt:")]
    return bool(int(mask, 16) >> (number - 1) & 1)


def test_handlers_are_set_before_the_slow_imports() -> None:
    code = "import kernels.signals, sys; print('yaml' in sys.modules, len(sys.modules) < 100)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True"]
    source = (ROOT / "kernels" / "__main__.py").read_text()
    assert source.index("listen()") < source.index("kernels.terminal")
