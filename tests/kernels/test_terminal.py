"""`python -m kernels`, started as people start it: exit statuses, JSON, configuration, signals."""

import errno
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from kernels.artifacts import require_writable
from kernels.events import End, Event, Log, Metric, Note, Outcome
from kernels.execution import NO_GPU
from kernels.messages import MESSAGES
from kernels.procedure import BadParameter
from kernels.registry import PROCEDURES
from kernels.report import Report
from kernels.terminal import reason, status_of

ROOT = Path(__file__).resolve().parents[2]
# No card, so that the same happens on a machine that has one.
PLAIN = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "NO_COLOR": "1", "COLUMNS": "100"}
PLAIN.pop("TRITON_INTERPRET", None)


def start(*arguments: str, folder: Path | str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kernels", *arguments, "--output", str(folder)]
    return subprocess.run(command, cwd=ROOT, env=PLAIN, capture_output=True, text=True)


def events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_the_list_names_every_procedure_with_its_parameters(tmp_path: Path) -> None:
    done = start("--list", folder=tmp_path)
    assert done.returncode == 0
    for name in PROCEDURES:
        assert name in done.stdout
    assert "n = 257" in done.stdout and "from 2 to 4096" in done.stdout


def test_passing_is_0_and_every_event_is_a_line_of_json(tmp_path: Path) -> None:
    done = start("rmsnorm.contract", "--device", "cpu", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = events(done.stdout)
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert all(line.keys() == {"seq", "kind", "at", "data"} for line in lines)
    assert lines[0]["data"]["note"]["code"] == "made"
    assert lines[-1]["kind"] == "outcome" and lines[-1]["data"]["outcome"] == "passed"
    assert done.stderr == ""


def test_a_run_that_did_not_pass_is_1(tmp_path: Path) -> None:
    arguments = ("rmsnorm.exercise", "--device", "cpu", "--set", "n=256")
    assert start(*arguments, folder=tmp_path).returncode == 0
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "checkpoints").write_text("a file where a folder is due")
    done = start("rmsnorm.checkpoints", "--device", "cpu", "--set", "steps=1", folder=blocked)
    assert done.returncode == 1
    assert "A fault on our side" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rmsnorm.nothing",), "There is no Procedure 'rmsnorm.nothing'. Known: rmsnorm."),
        (("rmsnorm.exercise", "--set", "n=1"), "n = '1' is not accepted; accepted: a whole number"),
        (("rmsnorm.exercise", "--set", "m=1"), "no parameter 'm'; it accepts: n."),
        (("rmsnorm.exercise", "--set", "n=5", "n=5"), "--set gives 'n' twice; accepted: each"),
        (("rmsnorm.exercise", "--set", "n=5", "--set", "n=6"), "--set gives 'n' twice"),
        (("rmsnorm.exercise", "--set", "n"), "--set takes key=value, not 'n'."),
        (("rmsnorm.exercise", "--version", "9"), "has no version 9; accepted: 1."),
        (("rmsnorm.exercise", "--config", "nowhere.yaml"), "nowhere.yaml cannot be read"),
        (("rmsnorm.exercise", "--device", "tpu"), "invalid choice"),
        ((), "a Procedure is needed; --list shows them"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bad_arguments_are_2_and_one_sentence(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = start(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == ""


NO_CARD, NEEDS_CARD = MESSAGES["refusal.no-gpu"], MESSAGES["refusal.needs-gpu"]


@pytest.mark.parametrize("options", [(), ("--json",)])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rmsnorm.benchmark", "--device", "cpu"), NEEDS_CARD),
        (("rmsnorm.benchmark",), NEEDS_CARD),
        (("andrea.benchmark",), NEEDS_CARD),
        (("rmsnorm.benchmark", "--device", "cuda"), NO_CARD),
        (("rmsnorm.contract", "--device", "cuda"), NO_CARD),
    ],
)
def test_a_device_that_is_not_available_is_3_and_one_sentence(
    tmp_path: Path, arguments: tuple[str, ...], said: str, options: tuple[str, ...]
) -> None:
    done = start(*arguments, *options, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", f"{said}\n")


def test_a_device_that_is_missed_only_later_is_said_once_and_by_the_terminal() -> None:
    """A driver that answers, with a card that torch cannot use."""
    made = Log(Note("made", {"device_name": NO_GPU}))
    refused = End(Outcome.INFRASTRUCTURE_FAILURE, Note("refusal.no-gpu"))
    assert shown(made, refused) == ""
    assert status_of(refused) == 3 and reason(refused) == NO_CARD


def test_without_a_gpu_it_says_loudly_that_it_uses_the_interpreter(tmp_path: Path) -> None:
    done = start("rmsnorm.exercise", folder=tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith("NO GPU HERE")


@pytest.mark.parametrize("name", [name for name, one in PROCEDURES.items() if not one.uses_torch])
def test_what_runs_no_kernel_says_nothing_of_a_gpu(tmp_path: Path, name: str) -> None:
    done = start(name, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_config_gives_parameters_and_a_set_overrides_it(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("rmsnorm.exercise:\n  n: 255\n")
    arguments = ("rmsnorm.exercise", "--device", "cpu", "--json", "--config", str(config))
    for extra, block in (((), 256), (("--set", "n=300"), 512)):
        done = start(*arguments, *extra, folder=tmp_path / "out")
        exercise = events(done.stdout)[1]["data"]["note"]["params"]
        assert exercise["block"] == block


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rmsnorm.exercise:\n  m: 3\n", "rmsnorm.exercise has no parameter 'm'; it accepts: n."),
        (
            "rmsnorm.exersise:\n  n: 3\n",
            "unknown key 'rmsnorm.exersise'; accepted: common, rmsnorm.",
        ),
        ("common:\n  sead: 3\n", "unknown key 'sead' under 'common'; accepted: "),
        ("rmsnorm.exercise: 3\n", "must hold a mapping of parameters"),
        ("- a\n", "must hold a mapping of Procedure names"),
        ("a: [\n", "is not valid YAML"),
        (
            "rmsnorm.exercise:\n  n: 3\n  n: 4\n",
            "config.yaml: 'n' is there twice, again in line 3; accepted: each key once.",
        ),
        ("common: {}\ncommon: {}\n", "'common' is there twice, again in line 2"),
    ],
)
def test_a_config_with_a_mistake_is_answered_with_one_sentence(
    tmp_path: Path, text: str, said: str
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(text)
    done = start("rmsnorm.exercise", "--config", str(config), folder=tmp_path / "out")
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["minimum", "exercise", "andrea", "andrea-12M", "andrea-120M"])
def test_the_configs_that_the_lessons_name_are_read(tmp_path: Path, name: str) -> None:
    config = ROOT / "configs" / f"{name}.yaml"
    done = start("rmsnorm.clean", "--config", str(config), folder=tmp_path)
    assert done.returncode == 0, done.stderr


def test_sigterm_ends_cleanly_with_an_outcome(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kernels", "rmsnorm.train-integration", "--device", "cpu"]
    command += ["--json", "--set", "steps=1000", "examples=4", "--output", str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, env=PLAIN, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        lines = []
        for line in child.stdout:
            lines.append(json.loads(line))
            if lines[-1]["kind"] == "metric" and lines[-1]["data"].get("step") == 2:
                child.send_signal(signal.SIGTERM)
    assert child.returncode == 1
    assert lines[-1]["data"]["outcome"] == "cancelled"
    assert (tmp_path / "checkpoints" / "rmsnorm-kernel.pt").exists()


@pytest.mark.parametrize(
    ("note", "status"),
    [
        (Note("end.refused", {"reason": "n = 1"}), 2),
        (Note("end.refused-corpus", {"reason": "corpus"}), 2),
        (Note("refusal.epsilon", {"epsilon": "0"}), 2),
        (Note("refusal.needs-gpu"), 3),
        (Note("refusal.no-gpu"), 3),
        (Note("end.saved"), 0),
        (Note("end.not-saved"), 1),
        (Note("end.halted"), 1),
        (None, 1),
    ],
    ids=lambda value: value.code if isinstance(value, Note) else str(value),
)
def test_the_status_follows_from_how_it_ended(note: Note | None, status: int) -> None:
    outcome = Outcome.CANCELLED if note == Note("end.saved") else Outcome.FAILED
    assert status_of(End(outcome, note)) == status


@pytest.mark.parametrize("code", [code for code in MESSAGES if code.startswith("end.refused")])
def test_every_refusal_is_2(code: str) -> None:
    assert status_of(End(Outcome.FAILED, Note(code, {"reason": "a"}))) == 2


def test_what_this_machine_lacks_is_no_argument_and_is_shown() -> None:
    end = End(Outcome.INFRASTRUCTURE_FAILURE, Note("refusal.no-compiler"))
    assert status_of(end) == 1
    assert shown(end) == MESSAGES["refusal.no-compiler"]


def test_an_end_is_said_once() -> None:
    """The outcome's own words are left out where the sentence begins with them."""
    for note, due in (
        (Note("end.fault", {"error": "KeyError"}), "A fault on our side (KeyError). It"),
        (Note("outcome.infrastructure_failure"), "A fault on our side. It"),
    ):
        said = shown(End(Outcome.INFRASTRUCTURE_FAILURE, note))
        assert said.startswith(due) and said.count("fault") == 1
    for note in (Note("end.refused-corpus", {"reason": "corpus"}), Note("refusal.epsilon")):
        assert shown(End(Outcome.FAILED, note)) == ""  # the terminal says it, on stderr
    assert shown(End(Outcome.FAILED, Note("end.halted", {"step": 5, "failures": 5, "lowest": 30})))


def test_counts_are_shown_to_the_last_digit() -> None:
    console = Console(file=io.StringIO(), width=100)
    Report(PROCEDURES["andrea.memory-plan"], console).show(
        iter([Metric("plan-bytes", 786_385_408.0), Metric("loss", 1 / 3)])
    )
    assert "786385408" in console.file.getvalue()  # type: ignore[attr-defined]
    assert "0.3333333" in console.file.getvalue()  # type: ignore[attr-defined]


def shown(*events: Event) -> str:
    console = Console(file=io.StringIO(), width=200)
    Report(PROCEDURES["andrea.train"], console).show(iter(events))
    return console.file.getvalue().strip()  # type: ignore[attr-defined]


def test_an_output_that_cannot_be_is_2_and_nothing_is_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    below = [
        tmp_path / name for name in ("file", "file/below", "nowhere", "nowhere/below", "x" * 300)
    ]
    for out in (*below, "/proc", "/proc/x", "/proc/x/y", "/dev/null", ""):
        done = start("rmsnorm.clean", "--device", "cpu", folder=out)
        assert done.returncode == 2, out
        assert done.stderr.startswith("output: ") and "; accepted: a folder" in done.stderr
        assert len(done.stderr.splitlines()) == 1 and done.stdout == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "nowhere"]


def test_a_folder_is_made_only_for_a_file_in_it(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    assert start("rmsnorm.contract", "--device", "cpu", folder=out).returncode == 0
    assert start("rmsnorm.benchmark", "--device", "cpu", folder=out).returncode == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOENT, errno.ENOSPC, errno.EMLINK])
def test_whatever_says_that_the_folder_cannot_be_made_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(path: Any, *rest: Any) -> None:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(BadParameter, match=f"out cannot be used .{os.strerror(number)}.; accepted"):
        require_writable(str(tmp_path / "out"))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_below_a_folder_that_is_there_is_left_to_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "mkdir", full)
    require_writable(str(tmp_path))
