"""andrea.train where a disk, a log or a reader takes no more."""

import json
import resource
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kernels.andrea.checkpoint import load
from kernels.andrea.history import points
from tests.kernels.andrea.training import COUNT, ROOT, TEXT, command, logs, short, train

pytestmark = pytest.mark.training


def on_a_disk(out: Path, *options: str) -> list[str]:
    """The start of a command that sees a disk of its own at `out`."""
    if shutil.which("bwrap") is None:
        pytest.skip("needs bubblewrap")
    out.mkdir(exist_ok=True)
    return ["bwrap", "--dev-bind", "/", "/", *options, str(out)]


@pytest.mark.parametrize(
    ("pages", "missed", "ends"),
    [
        (1, set(), "end.not-written"),  # not even the text has room
        (2, {"log.andrea.loss-not-kept", "log.andrea.sample-not-kept"}, "end.not-saved"),
        (3, {"log.andrea.sample-not-kept"}, "end.not-saved"),
    ],
)
def test_a_full_disk_is_told_and_the_training_goes_on_where_it_can(
    tmp_path: Path, pages: int, missed: set[str], ends: str
) -> None:
    out, text = tmp_path / "out", tmp_path / "text.txt"
    text.write_text(TEXT * 2)  # as tokens it takes two pages
    disk = on_a_disk(out, "--size", str(4096 * pages), "--tmpfs")
    made = command("train", out, "--json", **short(str(text), steps=3, sample_every=1))
    look = ["sh", "-c", f"{shlex.join(made)}; echo $?; ls -A {out}"]
    done = subprocess.run([*disk, *look], cwd=ROOT, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    seen = [json.loads(text) for text in lines if text.startswith("{")]
    codes = [event["data"].get("note", {}).get("code") for event in seen]
    status, *left = [text for text in lines if not text.startswith("{")]
    assert done.stderr == "" and status == "1"
    assert codes[-1] == ends and seen[-1]["data"]["outcome"] == "failed"
    told = [code for code in codes if code and code.endswith("-not-kept")]
    assert set(told) == missed
    if ends == "end.not-written":
        (corpus,) = [event for event in seen if event["data"].get("note", {}).get("code") == ends]
        assert Path(corpus["data"]["note"]["params"]["file"]).match(f"{out}/corpus-*.u16")
    assert told.count("log.andrea.loss-not-kept") <= 1  # once, not at every step
    assert not [name for name in left if name.startswith(".") or name.endswith(".bin")]


def test_a_read_only_folder_is_2_and_one_sentence(tmp_path: Path, corpus: str) -> None:
    for out in (tmp_path / "out", tmp_path / "out" / "below"):
        disk = on_a_disk(tmp_path / "out", "--ro-bind", str(tmp_path / "out"))
        made = command("train", out, **short(corpus))
        done = subprocess.run([*disk, *made], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 2
        assert done.stderr == (
            f"output: {out} cannot be used (Read-only file system); "
            "accepted: a folder that files can be put into.\n"
        )


def test_a_disk_that_has_room_again_gets_what_it_missed(tmp_path: Path, corpus: str) -> None:
    """The size that a file may have plays the disk: it takes part of a line, then nothing."""
    plain, out = tmp_path / "plain", tmp_path / "out"
    settings = {"steps": 8, "sample_every": 2, "checkpoint_every": 8}
    train(plain, corpus, **settings)
    most = resource.getrlimit(resource.RLIMIT_FSIZE)

    def hook(event: Any, made: Any) -> None:
        if getattr(event, "name", "") == "loss":
            size = 90 if event.step in (3, 4, 5) else most[0]
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, most[1]))

    try:
        said = train(out, corpus, hook, **settings)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
    told = [code for code in logs(said) if code.endswith("-not-kept")]
    assert told == ["log.andrea.loss-not-kept", "log.andrea.sample-not-kept"]
    assert points(out / "micro.loss.json") == points(plain / "micro.loss.json")
    for name in ("micro.loss.json", "micro.samples.json", "step_000008.bin"):
        assert (out / name).read_bytes() == (plain / name).read_bytes(), name


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_log_that_takes_no_more_ends_no_training(
    tmp_path: Path, corpus: str, options: tuple[str, ...]
) -> None:
    made = command("train", tmp_path, *options, **short(corpus))
    with open("/dev/full", "w") as full:
        done = subprocess.run(made, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0
    assert load(tmp_path / "step_000002.bin", COUNT).step == 2
    first, *_, last = done.stderr.splitlines()
    assert first == "Nothing more can be shown (No space left on device); it goes on."
    assert last.startswith("2 steps made; the last loss is ") and "Traceback" not in done.stderr


def test_a_reader_that_goes_away_leaves_a_checkpoint(tmp_path: Path, corpus: str) -> None:
    rare = {"steps": 500, "sample_every": 500, "checkpoint_every": 500}
    made = command("train", tmp_path, "--json", **short(corpus, **rare))
    with subprocess.Popen(
        made, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None and child.stderr is not None
        assert json.loads(child.stdout.readline())["data"]["note"]["code"] == "made"
        child.stdout.close()
        said = child.stderr.read()
    assert child.returncode == 0
    assert said.startswith("Stopped on request after step ") and len(said.splitlines()) == 1
    assert len(list(tmp_path.glob("step_*.bin"))) == 1
