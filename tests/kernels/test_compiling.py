"""Compiling ahead. This machine may have no GPU: a driver that only loads stands in for it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("compiling_ahead.py")


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What the program saw, in a process whose kernels are compiled instead of interpreted."""
    kept = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    cache = tmp_path_factory.mktemp("compiled")
    environment = {**kept, "TRITON_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, str(PROGRAM)], env=environment, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    return dict(json.loads(run.stdout))


def test_kernels_are_loaded_at_the_same_time_and_each_once(seen: dict[str, object]) -> None:
    assert seen["loaded"] == ["doubled", "tripled"]
    assert seen["side by side"]


def test_nothing_runs_that_was_not_compiled_before(seen: dict[str, object]) -> None:
    assert seen["launched while gathering"] == []


def test_afterwards_launches_find_their_kernels_compiled(seen: dict[str, object]) -> None:
    assert seen["loaded afterwards"] == []
    assert seen["launched afterwards"] == ["doubled", "doubled", "tripled"]


def test_a_kernel_that_cannot_be_compiled_is_told_and_later_ones_compile(
    seen: dict[str, object],
) -> None:
    assert seen["refused"] == "CompileTimeAssertionFailure"
    assert seen["loaded after a refusal"] == ["halved"]
