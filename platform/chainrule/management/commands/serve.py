"""`manage.py serve`: the whole system on one machine, until Ctrl-C or SIGTERM."""

import errno
import fcntl
import os
import signal
import socket
import time
import urllib.error
import urllib.request
from argparse import ArgumentParser
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import redis
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from chainrule import environment as env
from chainrule.serving import plan
from chainrule.serving.children import Child
from runner import api as runs
from runner.processes import die_with_parent


class Command(BaseCommand):
    help = "Starts web, workers, the reaper and (unless REDIS_URL is set) Valkey."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=env.text("HOST", "127.0.0.1"))
        parser.add_argument("--port", type=int, default=env.integer("PORT", 8000, 1, 65535))
        parser.add_argument(
            "--with-parent", action="store_true", help="end when the process that started it ends"
        )

    def handle(self, *args: Any, host: str, port: int, with_parent: bool, **options: Any) -> None:
        if with_parent:
            die_with_parent(os.getppid(), signal.SIGTERM)
        self.stopping = False
        self.valkey: Child | None = None
        self.children: list[Child] = []
        self.announced: set[str] = set()  # devices
        signal.signal(signal.SIGTERM, self.stop)
        signal.signal(signal.SIGINT, self.stop)
        os.chdir(settings.BASE_DIR)
        try:
            refuse_taken_port(host, port)
            lock = claim_data_dir()
            environment = self.start_valkey()
            self.prepare()
            self.start_rest(host, port, environment)
            if self.wait_until_ready(host, port):
                self.greet(host, port)
            self.tend()
        finally:
            self.end_all()
        lock.close()

    def stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True

    def start_valkey(self) -> dict[str, str]:
        """The children's environment, REDIS_URL in it."""
        if env.text("REDIS_URL"):
            require_broker(settings.REDIS_URL)
            return dict(os.environ)
        path = plan.own_valkey_socket()
        path.unlink(missing_ok=True)
        self.valkey = plan.valkey(path)
        self.valkey.start()
        deadline = time.monotonic() + 10
        while not path.exists():
            if time.monotonic() > deadline or self.valkey.tend() is not None:
                raise CommandError(
                    f"Valkey did not start; {settings.DATA_DIR}/valkey/valkey.log says why."
                )
            time.sleep(0.02)
        return dict(os.environ) | {"REDIS_URL": f"unix://{path}"}

    def prepare(self) -> None:
        call_command("prepare")
        try:
            call_command("courses", "check", stdout=self.stdout)
        except CommandError as error:
            self.stderr.write(f"The courses have faults, and are served as they are. {error}")

    def start_rest(self, host: str, port: int, environment: dict[str, str]) -> None:
        for child in (
            plan.web(host, port, environment),
            *plan.workers(environment),
            plan.reaper(environment),
        ):
            self.children.append(child)
            child.start()

    def wait_until_ready(self, host: str, port: int) -> bool:
        """Waits for the first page and the first worker; false when stopped meanwhile."""
        deadline, answered = time.monotonic() + 60, False
        while time.monotonic() < deadline and not self.stopping:
            self.tend_once()
            answered = answered or answers(f"http://{reachable(host)}:{port}/healthz")
            if answered and any(device.online for device in runs.devices()):
                return True
            time.sleep(0.1)
        if not self.stopping:
            if not answered:
                self.stderr.write("The web process has not answered yet; pages will wait for it.")
            self.stderr.write("No worker has reported yet; Runs will wait for one.")
        return not self.stopping

    def greet(self, host: str, port: int) -> None:
        self.stdout.write(f"\nChainrule is on http://{reachable(host)}:{port}/\n")
        self.announce_devices()
        if not plan.count_gpus():
            self.stdout.write("  no NVIDIA GPU here: kernels run on the interpreter, slowly")
        self.stdout.write(f"  data in: {settings.DATA_DIR}\n  Ctrl-C ends it.\n")
        self.stdout.flush()

    def announce_devices(self) -> None:
        """What Runs can be made on, once each."""
        for device in runs.devices():
            if device.online and device.device not in self.announced:
                self.announced.add(device.device)
                kind = "GPU" if device.device == "gpu" else "CPU, Triton's interpreter"
                self.stdout.write(f"  runs on: {device.name} ({kind}); sandbox: {device.sandbox}")
                self.stdout.flush()

    def tend(self) -> None:
        while not self.stopping:
            self.tend_once()
            if not self.announced:  # the first worker takes longer on a machine that is busy
                self.announce_devices()
            time.sleep(0.2)

    def tend_once(self) -> None:
        for child in (*self.children, *([self.valkey] if self.valkey else [])):
            if (status := child.tend()) is not None and not self.stopping:
                self.stderr.write(f"{child.name} ended with status {status}; starting it again.")

    def end_all(self) -> None:
        """Valkey last: the others still speak to it."""
        for group in (self.children, [self.valkey] if self.valkey else []):
            for child in group:
                child.signal(signal.SIGTERM)
            for child in group:
                if not child.ended_within(8):
                    child.signal(signal.SIGKILL)
                    child.ended_within(2)


def claim_data_dir() -> TextIO:
    """A lock held while this process lives: two systems on one folder would corrupt it."""
    lock = (Path(settings.DATA_DIR) / "serve.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise CommandError(
            f"Chainrule already runs on {settings.DATA_DIR}. "
            "Stop it first, or choose another folder: make run DATA_DIR=…"
        ) from error
    return lock


def refuse_taken_port(host: str, port: int) -> None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise CommandError(
                    f"HOST is {host}, which is no address of this machine: "
                    "leave it unset for 127.0.0.1, or write 0.0.0.0 for all of them."
                ) from error
            raise CommandError(
                f"Port {port} on {host} cannot be used ({error.strerror}). "
                f"Choose another one: make run PORT={port + 1 if port < 65535 else 8000}"
            ) from error


def require_broker(url: str) -> None:
    """What REDIS_URL names must answer before anything that waits for it is started."""
    try:
        redis.Redis.from_url(url, socket_connect_timeout=3, socket_timeout=3).ping()
    except (redis.RedisError, ValueError, OSError) as error:
        raise CommandError(
            f"REDIS_URL is {url}, and nothing answers there ({error}). "
            "Check it, or leave it unset for a Valkey server of Chainrule's own."
        ) from error


def reachable(host: str) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as response:
            return response.status == 200
    except (urllib.error.URLError, OSError):
        return False
