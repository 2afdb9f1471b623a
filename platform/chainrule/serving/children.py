"""Processes that live no longer than the one that started them."""

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from runner.processes import die_with_parent


@dataclass
class Child:
    """A process kept alive: started again when it ends by itself, more slowly each time."""

    name: str
    command: Sequence[str]
    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = None
    failures: int = 0
    started: float = 0.0
    not_before: float = field(default=0.0)

    def start(self) -> None:
        parent = os.getpid()

        def tie() -> None:
            os.setsid()  # Ctrl-C reaches `serve` alone, which stops the others in order
            die_with_parent(parent)

        self.started = time.monotonic()
        self.process = subprocess.Popen(self.command, env=self.environment, preexec_fn=tie)

    def tend(self) -> int | None:
        """Restarts the process if it ended; the exit status it ended with, once."""
        now = time.monotonic()
        if self.process is None:
            if now >= self.not_before:
                self.start()
            return None
        status = self.process.poll()
        if status is None:
            return None
        self.failures = 0 if now - self.started > 30 else self.failures + 1
        self.not_before = now + min(0.2 * 2**self.failures, 10)
        self.process = None
        return status

    def signal(self, number: int) -> None:
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)

    def ended_within(self, seconds: float) -> bool:
        if self.process is None:
            return True
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True
