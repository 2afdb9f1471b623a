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
PATIENCE = 240.0  # seconds for a start, on a machine that is busy; a test may take 300 with it


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
        began = time.monotonic()
        while missing := self.missing():
            ended, took = self.process.poll(), time.monotonic() - began
            if ended is not None or took > PATIENCE:
                self.close()
                why = (
                    f"`serve` ended with status {ended}"
                    if ended is not None
                    else (f"after {took:.0f} s at a load of {os.getloadavg()[0]:.0f}")
                )
                raise AssertionError(
                    f"The system did not start: {why}; not up: {', '.join(missing)}. Its log:\n"
                    f"{self.log.read_text()}"
                )
            time.sleep(0.1)
        return self

    def missing(self) -> list[str]:
        """What `serve` has not brought up yet, in the order in which it does."""
        log = self.log.read_text()
        if "REDIS_URL" not in self.env and not self.find("valkey-server"):
            return ["Valkey", "the web process", "a worker"]
        web = [] if "Chainrule is on" in log and self.answers() else ["the web process"]
        return web + ([] if "runs on: " in log else ["a worker"])

    def answers(self) -> bool:
        try:
            return self.get("/healthz") != ""
        except OSError:
            return False

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
