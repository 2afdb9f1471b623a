"""`manage.py serve`: starts everything, ends everything, and says plainly what is in its way."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.stack import ROOT, Stack, free_port


def serve(data_dir: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "serve"],
        cwd=ROOT,
        env=os.environ | {"DATA_DIR": str(data_dir)} | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


def gone(processes: list[psutil.Process], seconds: float) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    return not alive


@pytest.mark.stack
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_the_launcher(tmp_path: Path, number: signal.Signals) -> None:
    with Stack(tmp_path) as stack:
        below = stack.processes()
        assert len(below) >= 5  # Valkey, web, worker and its slot, reaper
        started = time.monotonic()
        stack.process.send_signal(number)
        assert gone(below, 20), [p for p in below if p.is_running()]
        stack.process.wait(20)
        assert time.monotonic() - started < 20


@pytest.mark.stack
def test_second_start_keeps_the_data_and_says_where_it_is(tmp_path: Path) -> None:
    with Stack(tmp_path) as stack:
        assert "Chainrule is on" in stack.log.read_text()
        assert "sandbox" in stack.log.read_text()
        secret = (tmp_path / "secret").read_text()
    with Stack(tmp_path) as stack:
        assert (tmp_path / "secret").read_text() == secret
        second = serve(tmp_path, PORT=str(stack.port + 1))
    assert second.returncode == 1
    assert "already runs" in second.stderr


@pytest.mark.stack
def test_a_start_that_takes_too_long_says_what_was_not_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.stack.PATIENCE", 0)
    with (
        pytest.raises(AssertionError, match=r"not up: .*the web process, a worker\."),
        Stack(tmp_path),
    ):
        pass


def test_taken_port_is_said_in_one_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        answer = serve(tmp_path, PORT=str(port))
    assert answer.returncode == 1
    assert f"Port {port}" in answer.stderr
    assert f"make run PORT={port + 1}" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_unwritable_folder_is_said_in_one_sentence() -> None:
    answer = serve(Path("/proc/chainrule"))
    assert answer.returncode == 1
    assert "DATA_DIR is /proc/chainrule" in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("port", ["eight", "0"])
def test_a_port_that_is_no_port_is_said_in_one_sentence(tmp_path: Path, port: str) -> None:
    answer = serve(tmp_path, PORT=port)
    assert answer.returncode == 1
    assert "PORT is" in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("DATABASE_URL", "postgres://nobody@127.0.0.1:1/none", "Check DATABASE_URL"),
        ("DATABASE_URL", "garbage", "DATABASE_URL cannot be read"),
        ("REDIS_URL", "redis://127.0.0.1:1/0", "nothing answers there"),
        ("REDIS_URL", "garbage", "nothing answers there"),
        ("HOST", "203.0.113.1", "HOST is 203.0.113.1"),
        ("PORT", "99999", "at most 65535"),
    ],
)
def test_an_address_that_cannot_be_used_is_said_in_one_sentence(
    tmp_path: Path, name: str, value: str, sentence: str
) -> None:
    answer = serve(tmp_path, **{"PORT": str(free_port()), name: value})
    assert answer.returncode == 1
    assert sentence in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_python_that_is_none_is_said_in_one_sentence() -> None:
    answer = subprocess.run(
        ["make", "run", "PYTHON=/bin/false"], cwd=ROOT, capture_output=True, text=True
    )
    assert "Chainrule needs Python 3.11 or newer" in answer.stdout
