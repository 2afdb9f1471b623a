"""How a Run ended, told from its child's last Event, or from how the child died without one."""

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernels.events import End, Note, Outcome, Verdict, to_data
from runner.orders import Exited

# The code did this to itself; anything else that ends a child was done to it.
CRASHES = {
    signal.SIGSEGV,
    signal.SIGBUS,
    signal.SIGILL,
    signal.SIGFPE,
    signal.SIGABRT,
    signal.SIGSYS,
    signal.SIGTRAP,
}


@dataclass(frozen=True)
class Ended:
    """What the worker knows once the child is gone. `exited` is None when nobody could tell."""

    last: dict[str, Any] | None
    exited: Exited | None
    stopped: bool
    timed_out: bool
    wall_seconds: int
    memory_mb: int
    tally: Mapping[Verdict, int]


def outcome_of(ended: Ended) -> dict[str, Any]:
    """The `data` of the Run's last Event."""
    if ended.last is not None:
        if ended.timed_out and ended.last.get("outcome") == Outcome.CANCELLED:
            return ended.last | to_data(End(*timed_out(ended)))
        return ended.last
    outcome, note = timed_out(ended) if ended.timed_out else without_a_word(ended)
    passed, failed = ended.tally[Verdict.PASSED], ended.tally[Verdict.FAILED]
    if passed + failed == 0:
        return to_data(End(outcome, note))
    return to_data(End(outcome, note, passed, failed))


def timed_out(ended: Ended) -> tuple[Outcome, Note]:
    return Outcome.TIMED_OUT, Note("end.timed-out", {"seconds": ended.wall_seconds})


def without_a_word(ended: Ended) -> tuple[Outcome, Note]:
    """The outcome of a child that ended without giving one."""
    exited = ended.exited
    if exited is None:
        return Outcome.INFRASTRUCTURE_FAILURE, Note("end.worker-lost")
    if exited.out_of_memory:
        return Outcome.OUT_OF_MEMORY, Note("end.memory-limit", {"megabytes": ended.memory_mb})
    if exited.signal in CRASHES:
        name = signal.Signals(exited.signal).name
        return Outcome.ERROR_IN_CODE, Note("end.crashed", {"signal": name})
    if exited.signal == signal.SIGXCPU:
        return timed_out(ended)
    if exited.signal == signal.SIGXFSZ:
        return Outcome.ERROR_IN_CODE, Note("end.file-too-large")
    if ended.stopped:
        return Outcome.CANCELLED, Note("end.killed")
    if exited.signal is not None:
        return Outcome.INFRASTRUCTURE_FAILURE, Note("end.vanished", {"status": -exited.signal})
    return Outcome.INFRASTRUCTURE_FAILURE, Note("end.vanished", {"status": exited.status or 0})
