"""The child process of one Run: limits first, then the Procedure, one JSON Event a line."""

import faulthandler
import fcntl
import importlib
import json
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import NoReturn

from kernels.events import Event, to_data
from kernels.execution import execute
from kernels.procedure import Context, Device
from runner.orders import Limits, Spawn
from runner.processes import die_with_parent

_HIGH_DESCRIPTOR = 200  # out of the way of what code opens or closes by number
_BROKEN = 70  # exit status: the fault lies in this file, not in the Procedure


def become(order: Spawn, events: int, output: int, parent: int) -> NoReturn:
    """Turn a process that was just forked into the child of that Run. Never returns."""
    status = _BROKEN
    try:
        pipe = settle(order, events, output, parent)
        run(order, pipe)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def settle(order: Spawn, events: int, output: int, parent: int) -> int:
    """Own session, limits, folders and streams; the descriptor that Events are written to."""
    os.setsid()
    die_with_parent(parent)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    pipe = fcntl.fcntl(events, fcntl.F_DUPFD_CLOEXEC, _HIGH_DESCRIPTOR)
    os.close(events)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    # New objects: the ones the parent opened may believe that they can seek.
    sys.stdout = open(1, "w", buffering=1, errors="backslashreplace", closefd=False)
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    faulthandler.enable(all_threads=False)
    limit(order.limits)
    os.umask(0o077)
    scratch = Path(order.outputs).with_name("scratch")
    os.environ["TMPDIR"] = tempfile.tempdir = str(scratch)
    os.chdir(order.outputs)
    seed(order.seed)
    return pipe


def limit(limits: Limits) -> None:
    for what, soft, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files, limits.open_files),
        # Of all cores together; wall time is the worker's to watch.
        (resource.RLIMIT_CPU, *[limits.wall_seconds * (os.cpu_count() or 1)] * 2),
    ):
        with suppress(ValueError, OSError):  # a machine may allow less than this already
            resource.setrlimit(what, (soft, hard))
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")  # the kernel ends this one first


def seed(number: int) -> None:
    random.seed(number)
    for name in ("numpy.random", "torch"):
        if module := sys.modules.get(name):
            (module.seed if name == "numpy.random" else module.manual_seed)(number)


def run(order: Spawn, pipe: int) -> None:
    registry = importlib.import_module(os.environ.get("RUNNER_REGISTRY", "kernels.registry"))
    stop, checkpoint = threading.Event(), threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        (stop if number == signal.SIGTERM else checkpoint).set()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGUSR1, on_signal)
    context = Context(
        device=Device(order.device),
        version=order.version,
        parameters=order.parameters,
        outputs=Path(order.outputs),
        stop=stop,
        checkpoint=checkpoint,
        served=True,
    )
    for event in execute(registry.get(order.procedure), context, sandbox=order.sandbox):
        write_line(pipe, event)


def write_line(pipe: int, event: Event) -> None:
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    body = {"kind": event.kind, "at": at, "data": to_data(event)}
    line = json.dumps(body, separators=(",", ":")).encode() + b"\n"
    while line:
        line = line[os.write(pipe, line) :]
