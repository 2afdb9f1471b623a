"""Run a Procedure to its end: what it is made on, its Events, exactly one End.

Used by `python -m kernels` and by the child process of a worker. An exception becomes an
outcome with a sentence of its own; a person's mistake and a fault of ours are kept apart.
"""

import errno
import os
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kernels import machine
from kernels.events import Case, End, Event, Log, Note, Outcome, Verdict
from kernels.messages import MESSAGES
from kernels.procedure import BadParameter, Context, Device, DeviceNotAvailable, Procedure

# By name, because naming the classes themselves would import torch and Triton.
OUTCOMES = {
    "builtins.MemoryError": Outcome.OUT_OF_MEMORY,
    "torch.OutOfMemoryError": Outcome.OUT_OF_MEMORY,
    "torch.AcceleratorError": Outcome.ERROR_IN_CODE,  # an illegal access, seen by the driver
    "triton.errors.TritonError": Outcome.ERROR_IN_CODE,  # compile errors, too many resources
    "kernels.procedure.CodeError": Outcome.ERROR_IN_CODE,
}
# What a disk says that takes nothing more: a person's to mend, and no fault of the code.
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO, errno.ENAMETOOLONG)
DENIED = (errno.EACCES, errno.EPERM)  # about a file of the Run's own
NO_GPU = "no GPU"
DEVICE_REFUSALS = {"refusal.no-gpu", "refusal.needs-gpu"}
REFUSED = "end.refused"
NOTES = {
    Outcome.OUT_OF_MEMORY: "end.out-of-memory",
    Outcome.ERROR_IN_CODE: "end.error-in-code",
    Outcome.INFRASTRUCTURE_FAILURE: "end.fault",
}


@dataclass
class Tally:
    """Cases so far; those beside the grid (special inputs) are also counted apart."""

    passed: int = 0
    failed: int = 0
    beside: int = 0
    beside_passed: int = 0

    @property
    def total(self) -> int:
        return self.passed + self.failed

    def count(self, case: Case) -> None:
        good = case.verdict is Verdict.PASSED
        self.passed += good
        self.failed += not good
        if case.place is None:
            self.beside += 1
            self.beside_passed += good

    def note(self, outcome: Outcome) -> Note:
        if not self.total:
            return Note(f"outcome.{outcome.value}")
        if self.beside in (0, self.total):
            return Note("end.cases", {"passed": self.passed, "total": self.total})
        return Note(
            "end.grid-cases",
            {
                "passed": self.passed - self.beside_passed,
                "total": self.total - self.beside,
                "special_passed": self.beside_passed,
                "special": self.beside,
            },
        )


def execute(procedure: Procedure, context: Context, *, sandbox: str) -> Iterator[Event]:
    """Yield `made`, the Procedure's Events, and one End.

    A Procedure that yields no End of its own gets one: failed if a Case failed, cancelled if
    it was told to stop, passed otherwise. It should look at `context.stop` every second.
    """
    tally = Tally()
    try:
        yield made(procedure, context, sandbox)
        require_device(procedure, context)
        for event in procedure.load()(context):
            if isinstance(event, Case):
                tally.count(event)
            yield event
            if isinstance(event, End):
                return
        yield conclusion(context, tally)
    except DeviceNotAvailable as lacking:
        yield End(Outcome.INFRASTRUCTURE_FAILURE, Note(str(lacking)))
    except BadParameter as mistake:  # one that shows only when the parameters meet
        yield End(Outcome.FAILED, refusal(mistake))
    except OSError as error:
        told = not_written(error, context, tally)
        yield from [told] if told else fault(error, tally)
    except Exception as error:
        yield from fault(error, tally)


def refusal(mistake: BadParameter) -> Note:
    """Its own sentence, or that of the key it begins with: those have translations."""
    if mistake.note:
        return mistake.note
    key = str(mistake).replace(":", " ").partition(" ")[0]
    code = f"{REFUSED}-{key}"
    return Note(code if code in MESSAGES else REFUSED, {"reason": str(mistake)})


def made(procedure: Procedure, context: Context, sandbox: str) -> Log:
    """Where and with what this Run is made: the params are kept with the Run."""
    on_gpu = context.device is Device.CUDA
    return Log(
        Note(
            "made",
            {
                "procedure": procedure.name,
                "device": context.device.value,
                "device_name": (gpu_name() or NO_GPU) if on_gpu else machine.processor_name(),
                "driver": machine.driver_version() if on_gpu else "",
                "torch": machine.package_version("torch"),
                "triton": machine.package_version("triton"),
                "python": machine.python_version(),
                "commit": machine.commit(),
                "seed": context.parameters.get("seed", ""),
                "sandbox": sandbox,
                "interpreter": 0 if on_gpu else 1,
                "version": context.version,
            },
        )
    )


def gpu_name() -> str:
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else ""


def require_device(procedure: Procedure, context: Context) -> None:
    if context.device not in procedure.devices:
        raise DeviceNotAvailable("refusal.needs-gpu")
    if context.device is Device.CUDA:
        if not gpu_name():
            raise DeviceNotAvailable("refusal.no-gpu")
    elif procedure.uses_torch:
        prepare_interpreter()


def prepare_interpreter() -> None:
    if os.environ.get("TRITON_INTERPRET") != "1":
        raise RuntimeError("TRITON_INTERPRET=1 must be set before Triton is imported")
    import torch

    # The interpreter computes with NumPy, a program at a time; what torch does beside it is
    # small, and its threads would mostly wait for one another (measured: 25 s became 16).
    torch.set_num_threads(1)


def mistaken(end: End) -> bool:
    """Whether what a person gave ended it, whichever sentence says so."""
    code = end.note.code if end.note is not None else ""
    return end.outcome is Outcome.FAILED and code.startswith((REFUSED, "refusal."))


def refused(end: End) -> bool:
    """Whether it was never begun: for what a person gave, or for want of the device."""
    code = end.note.code if end.note is not None else ""
    return mistaken(end) or code in DEVICE_REFUSALS


def conclusion(context: Context, tally: Tally) -> End:
    if context.stop.is_set():
        note = Note("end.stopped", {"done": tally.total})
        return End(Outcome.CANCELLED, note, tally.passed, tally.failed)
    outcome = Outcome.FAILED if tally.failed else Outcome.PASSED
    return End(outcome, tally.note(outcome), tally.passed, tally.failed)


def fault(error: Exception, tally: Tally) -> Iterator[Event]:
    """The outcome of an exception; its traceback goes to stderr, its last line to the log."""
    traceback.print_exc(file=sys.stderr)
    outcome = outcome_of(error)
    yield Log(text=f"{type(error).__name__}: {error}", level="error")
    note = Note(NOTES[outcome], {"error": type(error).__name__})
    yield End(outcome, note, tally.passed, tally.failed)


def not_written(error: OSError, context: Context, tally: Tally) -> End | None:
    """The end of a Run whose files the disk refuses; None for any other mistake."""
    mine = Path(str(error.filename)).is_relative_to(context.outputs)
    if error.errno not in DISK and not (error.errno in DENIED and mine):
        return None
    outcome = context.unwritten(error)
    if outcome is Outcome.INFRASTRUCTURE_FAILURE:
        traceback.print_exc(file=sys.stderr)
    return End(outcome, unwritten(error, context), tally.passed, tally.failed)


def unwritten(error: OSError, context: Context) -> Note:
    """Which file, and why. To whom the disk is not their own, no more than the file's name."""
    reason = str(error.strerror)
    if isinstance(error.filename, str | bytes):  # not the number of an open file
        path = Path(os.fsdecode(error.filename))
        return Note(
            "end.not-written",
            {"file": path.name if context.served else str(path), "reason": reason},
        )
    if context.served:
        return Note("end.something-not-written", {"reason": reason})
    return Note("end.not-written", {"file": str(context.outputs), "reason": reason})


def outcome_of(error: Exception) -> Outcome:
    names = [f"{cls.__module__}.{cls.__qualname__}" for cls in type(error).__mro__]
    return next(
        (OUTCOMES[name] for name in names if name in OUTCOMES), Outcome.INFRASTRUCTURE_FAILURE
    )
