"""What a Procedure is: its declaration (no torch needed) and the context it runs in."""

import errno
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any

from kernels.events import Event, Note, Outcome

# What a disk says to one Run alone: its own limits, its own names.
OWN_LIMITS = (errno.EFBIG, errno.EDQUOT, errno.ENAMETOOLONG)


class Device(StrEnum):
    """Where a Procedure computes. `cpu` means Triton's interpreter for every kernel."""

    CUDA = "cuda"
    CPU = "cpu"


class BadParameter(ValueError):
    """A parameter that a person gave is unknown, of the wrong type or out of range.

    The message names the key and what is accepted; `note`, where there is one, says it in a
    sentence that has translations.
    """

    def __init__(self, message: str, note: Note | None = None) -> None:
        super().__init__(message)
        self.note = note


class DeviceNotAvailable(RuntimeError):
    """The device asked for is not on this machine, or the Procedure cannot use it."""


@dataclass(frozen=True)
class Parameter:
    name: str
    type: type  # int, float, bool or str
    default: Any
    low: float | None = None
    high: float | None = None
    choices: tuple[Any, ...] = ()
    help: str = ""
    unset: Any = None  # a value outside the range, for nothing given
    unset_means: str = ""
    path: bool = False  # names a file of the machine: for a terminal, never from the web


@dataclass(frozen=True)
class Grid:
    """The squares of a check, known before it runs: one per row x column x slot."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    slots: tuple[str, ...]  # what tells neighbours in one column apart: seeds

    def __len__(self) -> int:
        return len(self.rows) * len(self.columns) * len(self.slots)


@dataclass
class Context:
    """What a running Procedure knows of its surroundings. It cannot tell who listens."""

    device: Device
    version: int
    parameters: Mapping[str, Any]
    outputs: Path  # a folder of its own; artifacts are files in it
    stop: threading.Event = field(default_factory=threading.Event)  # SIGTERM: end cleanly
    checkpoint: threading.Event = field(default_factory=threading.Event)  # SIGUSR1
    served: bool = False  # the disk is a server's, not that of the person who runs it

    def unwritten(self, error: Exception) -> Outcome:
        """The outcome where a file could not be written. A server's full disk is nobody's failure
        but its own; a file above the Run's own limit is."""
        own = getattr(error, "errno", None) in OWN_LIMITS
        return Outcome.INFRASTRUCTURE_FAILURE if self.served and not own else Outcome.FAILED

    def __getitem__(self, name: str) -> Any:
        return self.parameters[name]


@dataclass(frozen=True)
class Procedure:
    """A named generator. `entry` is "module:function", imported only when it runs."""

    name: str
    entry: str
    parameters: tuple[Parameter, ...] = ()
    versions: tuple[int, ...] = (1,)
    grid: Grid | None = None
    devices: tuple[Device, ...] = (Device.CUDA, Device.CPU)
    wall_seconds: int = 300  # the limit a worker puts on one run
    uses_torch: bool = True
    # Writes step_NNNNNN.bin, also when `context.checkpoint` is set, with its *.state.json, and
    # goes on from one given as `resume`.
    checkpoints: bool = False
    proof: str = ""  # the Procedure that proves that stopping and resuming changes nothing
    check: str = ""  # "module:function" that refuses parameters which do not go together

    def load(self) -> Callable[[Context], Iterator[Event]]:
        return named(self.entry)

    def require(self, parameters: Mapping[str, Any]) -> None:
        """Refuse parameters, each good by itself, that do not go together. Needs no torch.

        Raises BadParameter.
        """
        if self.check:
            named(self.check)(parameters)


def named(entry: str) -> Callable[..., Any]:
    """What "module:function" names."""
    module, _, function = entry.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


class CodeError(Exception):
    """The code under test is at fault; the message says how."""
