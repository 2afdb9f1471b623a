"""What the Procedures of `tests.runner.registry` do."""

import ctypes
import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from kernels.events import Artifact, Case, Event, Log, Metric, Note, Progress, Verdict
from kernels.procedure import CodeError, Context


def count(context: Context) -> Iterator[Event]:
    for number in range(context["events"]):
        if context.stop.is_set():
            return
        yield Metric("count", number, step=number)
        time.sleep(context["pause"])


def paced(context: Context) -> Iterator[Event]:
    """At a steady rate, like a training run's metrics."""
    yield Progress(0, context["events"])
    time.sleep(context["delay"])
    began = time.monotonic()
    for number in range(context["events"]):
        yield Metric("loss", 1 / (number + 1), step=number, series="kernel")
        time.sleep(max(0.0, began + (number + 1) / context["rate"] - time.monotonic()))


def sleep(context: Context) -> Iterator[Event]:
    yield Progress(0, 1)
    context.stop.wait(context["seconds"])


def ignore_stop(context: Context) -> Iterator[Event]:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    yield Progress(0, 1)
    time.sleep(context["seconds"])


def checkpoints(context: Context) -> Iterator[Event]:
    yield Progress(0, 1)
    until = time.monotonic() + context["seconds"]
    while time.monotonic() < until and not context.stop.is_set():
        if context.checkpoint.wait(0.05):
            context.checkpoint.clear()
            yield Log(text="checkpoint written")


def print_loop(context: Context) -> Iterator[Event]:
    for number in range(context["lines"]):
        print(f"line {number}")
    yield Progress(1, 1)


def print_slowly(context: Context) -> Iterator[Event]:
    for number in range(context["lines"]):
        print(f"line {number}")
        time.sleep(context["pause"])
    yield Progress(1, 1)


def segfault(context: Context) -> Iterator[Event]:
    yield Progress(0, 1)
    ctypes.string_at(0)


def exit(context: Context) -> Iterator[Event]:  # noqa: A001 (named as what it does)
    yield Progress(0, 1)
    os._exit(context["status"])


def eat_memory(context: Context) -> Iterator[Event]:
    yield Progress(0, 1)
    eaten = []
    for _ in range(context["megabytes"]):
        eaten.append(bytearray(os.urandom(1) * 2**20))
        time.sleep(0.0005)


def allocation_refused(context: Context) -> Iterator[Event]:
    yield Progress(0, 1)
    raise MemoryError


def raise_(context: Context) -> Iterator[Event]:
    yield Progress(0, 1)
    raise RuntimeError("on purpose")


globals()["raise"] = raise_


def bad_code(context: Context) -> Iterator[Event]:
    yield Progress(0, 1)
    raise CodeError("the kernel does not compile")


def huge_event(context: Context) -> Iterator[Event]:
    yield Log(text="x" * 3_000_000)
    yield Log(text="small again")


def large_events(context: Context) -> Iterator[Event]:
    """Each just small enough, all of them together not."""
    for _ in range(context["events"]):
        yield Log(text="x" * 200_000)


def odd_text(context: Context) -> Iterator[Event]:
    sys.stdout.buffer.write(b"bytes \xff\x00 and a line\n")
    sys.stdout.flush()
    yield Log(text="nul \0 and half a pair \ud800 and <script>alert(1)</script>")
    yield Metric("infinite", float("inf"))


def artifacts(context: Context) -> Iterator[Event]:
    content = b"<svg xmlns='http://www.w3.org/2000/svg'/>"
    (context.outputs / "figures").mkdir()
    (context.outputs / "figures" / "loss.svg").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    yield Artifact("figures/loss.svg", "image/svg+xml", len(content), digest)
    yield Artifact("../../escape", "text/plain", 1, "")
    (context.outputs / "link").symlink_to("/etc/passwd")
    yield Artifact("link", "text/plain", 1, "")
    os.mkfifo(context.outputs / "pipe")
    yield Artifact("pipe", "text/plain", 1, "")
    yield Artifact("missing", "text/plain", 1, "")


def leave_children(context: Context) -> Iterator[Event]:
    """One grandchild in the group, one that fled into a session of its own."""
    for fled in (False, True):
        subprocess.Popen(["sleep", "987"], start_new_session=fled)
    yield Progress(1, 1)


def look_around(context: Context) -> Iterator[Event]:
    """What the child can see: its environment, the secret's folder, other processes, a network."""
    yield Log(text="environment " + " ".join(sorted(os.environ)))
    data_dir = Path(os.environ["TRITON_CACHE_DIR"]).parent
    yield Log(text="data " + " ".join(sorted(p.name for p in data_dir.iterdir())))
    processes = [name for name in os.listdir("/proc") if name.isdigit()]
    yield Metric("processes", len(processes))
    interfaces = Path("/proc/net/dev").read_text().splitlines()[2:]
    yield Log(text="network " + " ".join(line.partition(":")[0].strip() for line in interfaces))
    yield Metric("descriptors", len(os.listdir("/proc/self/fd")))
    held = Path("/proc/self/status").read_text().split("CapEff:")[1].split()[0]
    yield Metric("capabilities", int(held, 16))


def too_slow(context: Context) -> Iterator[Event]:
    yield Progress(0, 1)
    while not context.stop.wait(0.1):
        pass


def cases(context: Context) -> Iterator[Event]:
    for number in range(4):
        bad = number < context["failing"]
        yield Case(
            f"case-{number}",
            Verdict.FAILED if bad else Verdict.PASSED,
            {"n": number},
            why=Note("end.cases", {"passed": 0, "total": 1}) if bad else None,
        )


def events_flood(context: Context) -> Iterator[Event]:
    """And after it what may not be lost in one."""
    for number in range(context["events"]):
        yield Metric("flood", number, step=number)
    yield Case("good", Verdict.PASSED, {"n": 1})
    yield Case("bad", Verdict.FAILED, {"n": 2})
    yield Log(text="it went wrong\n", level="error")
    content = b"weights"
    (context.outputs / "weights.bin").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    yield Artifact("weights.bin", "application/octet-stream", len(content), digest)
