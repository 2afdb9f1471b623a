"""`python -m kernels` many times over, each in a process of its own, torch imported only once."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# What takes seconds is imported here, before the forks.
import kernels.procedures.andrea.generate
import kernels.procedures.andrea.resume  # noqa: F401
from kernels.signals import Asked
from kernels.terminal import main

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Done:
    status: int
    stdout: str
    stderr: str


def run_all(arguments: Sequence[Sequence[str]]) -> list[Done]:
    """What became of each command line, in their order."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.kernels.forked"],
        cwd=ROOT,
        env={**os.environ, "TRITON_INTERPRET": "1"},
        input=json.dumps([list(line) for line in arguments]),
        capture_output=True,
        text=True,
        check=True,
    )
    return [Done(*json.loads(line)) for line in done.stdout.splitlines()]


def serve() -> None:
    for line in json.load(sys.stdin):
        print(json.dumps(in_a_fork(line)), flush=True)


def in_a_fork(arguments: list[str]) -> list[int | str]:
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        if (child := os.fork()) == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            status = 70
            try:
                status = main(arguments, Asked())
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        for file in (out, err):
            file.seek(0)
        return [os.waitstatus_to_exitcode(ended), out.read(), err.read()]


if __name__ == "__main__":
    serve()
