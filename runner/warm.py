"""A slot's side of the warm parent: starting it, waiting for it, giving it orders."""

import os
import select
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass, replace

from runner import orders, sandbox
from runner.orders import Exited, Facts, Spawn


class WarmParentGone(RuntimeError):
    """The warm parent ended or did not answer; the next Run starts another one."""


_START_SECONDS = 120.0  # importing torch from a cold disk


@dataclass
class _Started:
    process: subprocess.Popen[bytes]
    channel: socket.socket
    sandbox: str
    facts: Facts | None = None


class Warm:
    """Used by two threads: the one that runs Runs, and the heartbeat that keeps it alive."""

    def __init__(self, place: sandbox.Place) -> None:
        self.place = place
        self._lock = threading.RLock()
        self._started: _Started | None = None
        self._busy = False

    def ready(self, timeout: float) -> tuple[Facts, str] | None:
        """Its device's facts and its sandbox, starting it where there is none; None: not yet."""
        with self._lock:
            if self._busy and self._started and self._started.facts:
                return self._started.facts, self._started.sandbox
            started = self._ensure()
            if started.facts is None and select.select([started.channel], [], [], timeout)[0]:
                kind, body, _ = orders.receive(started.channel)
                if kind != "ready":
                    self.end()
                    return None
                started.facts = Facts(**body)
            return (started.facts, started.sandbox) if started.facts else None

    def spawn(self, order: Spawn, events: int, output: int) -> None:
        """Start a child. Raises WarmParentGone."""
        with self._lock:
            known = self.ready(_START_SECONDS)
            if known is None or self._started is None:
                raise WarmParentGone("The warm parent did not get ready.")
            self._busy = True  # from now on only `release` lets it be started again
            try:
                order = replace(order, sandbox=known[1])
                orders.send_spawn(self._started.channel, order, events, output)
            except OSError as error:
                self.end()
                raise WarmParentGone(str(error)) from error

    def release(self) -> None:
        """The child is gone: the heartbeat may look after the warm parent again."""
        self._busy = False

    def signal(self, number: signal.Signals) -> None:
        if self._started:
            try:
                orders.send(self._started.channel, "signal", int(number))
            except OSError:
                self.end()

    def fileno(self) -> int:
        if self._started is None:
            raise WarmParentGone("The warm parent is gone.")
        return self._started.channel.fileno()

    def exited(self) -> Exited:
        """The message that `fileno` announced. Raises WarmParentGone."""
        if self._started is None:
            raise WarmParentGone("The warm parent is gone.")
        try:
            kind, body, _ = orders.receive(self._started.channel)
        except OSError:
            kind, body = "", None
        if kind != "exited":
            self.end()
            raise WarmParentGone("The warm parent ended during a Run.")
        return Exited(**body)

    def end(self) -> None:
        """Kill it, and with it every child: a device after a fault is never used again."""
        with self._lock:
            if self._started:
                self._started.channel.close()
                self._started.process.kill()
                self._started.process.wait()
                self._started = None

    def _ensure(self) -> _Started:
        if self._started and self._started.process.poll() is None:
            return self._started
        self.end()
        for folder in (self.place.outputs, self.place.given, self.place.cache):
            folder.mkdir(parents=True, exist_ok=True)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        python = [sys.executable, "-m", "runner.zygote", str(theirs.fileno())]
        name, prefix = sandbox.chosen(self.place)
        parent = "0" if name == sandbox.BUBBLEWRAP else str(os.getpid())
        process = subprocess.Popen(
            [*prefix, *python, parent],
            env=sandbox.clean_environment(self.place, os.environ),
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
        )
        theirs.close()
        self._started = _Started(process, ours, name)
        return self._started
