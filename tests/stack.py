"""The whole system as `make run` starts it, for tests and benchmarks."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from types import TracebackType

import psutil

ROOT = Path(__file__).resolve().parents[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Stack:
    """`manage.py serve` on a free port with a folder of its own; log in `<folder>/serve.log`."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.data_dir = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "serve.log"
        kept = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "REDIS_URL")}
        self.env = kept | {"DATA_DIR": str(folder), "PORT": str(self.port)} | environment

    def __enter__(self) -> "Stack":
        command = [sys.executable, "-u", "manage.py", "serve"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=self.env, stdout=log, stderr=log, start_new_session=True
            )
        deadline = time.monotonic() + 90
        while "Ctrl-C ends it" not in self.log.read_text():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.close()
                raise AssertionError(f"The system did not start:\n{self.log.read_text()}")
            time.sleep(0.1)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()

    def processes(self) -> list[psutil.Process]:
        """Every process below `serve`."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def find(self, *words: str) -> list[psutil.Process]:
        """Those whose command line holds all the words."""
        found = []
        for process in self.processes():
            try:
                line = " ".join(process.cmdline())
            except psutil.Error:
                continue
            if all(word in line for word in words):
                found.append(process)
        return found

    def get(self, path: str) -> str:
        with urllib.request.urlopen(self.url + path, timeout=10) as response:
            return response.read().decode()
