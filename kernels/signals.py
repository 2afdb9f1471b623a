"""What signals ask of a process that runs one Procedure.

Only the standard library is imported here, and little of it: signals must be heard as soon as
Python itself has started, and what else a Procedure needs takes seconds to import.
"""

import signal
from dataclasses import dataclass, field
from threading import Event
from types import FrameType


@dataclass(frozen=True)
class Asked:
    """Flags that a Procedure looks at: see `kernels.procedure.Context`."""

    stop: Event = field(default_factory=Event)  # SIGTERM, SIGINT
    checkpoint: Event = field(default_factory=Event)  # SIGUSR1


def listen() -> Asked:
    """From now on a signal only raises a flag; but a second Ctrl-C ends at once."""
    asked = Asked()

    def stop(number: int, frame: FrameType | None) -> None:
        asked.stop.set()
        if number == signal.SIGINT:
            signal.signal(number, signal.SIG_DFL)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGUSR1, lambda number, frame: asked.checkpoint.set())
    return asked


def ignore() -> None:
    """The outcome is told: it may not be changed by a signal while the process winds down.

    Python puts its own handlers back as it ends, but leaves alone what is ignored.
    """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
