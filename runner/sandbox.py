"""How the warm parent is started: inside bubblewrap where that works, and never silently without.

Inside it sees no network, no other processes, read-only files, an empty data folder, and an
environment made from a list. It may write its outputs and Triton's cache.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

BUBBLEWRAP = "bubblewrap"
NONE = "none"

_ALLOWED = (
    *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV"),
    *("PYTHONPATH", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"),
    *("NVIDIA_DRIVER_CAPABILITIES", "OMP_NUM_THREADS", "TRITON_INTERPRET", "CHAINRULE_COMMIT"),
    *("CC", "TRITON_LIBCUDA_PATH", "RUNNER_REGISTRY"),
)


@dataclass(frozen=True)
class Place:
    """Where one slot lets its children work."""

    outputs: Path  # every Run's folder lies in here
    cache: Path  # compiled kernels, kept between Runs
    hidden: tuple[Path, ...]  # folders with secrets: the database, the broker's socket
    gpu: bool


def clean_environment(place: Place, environment: Mapping[str, str]) -> dict[str, str]:
    """Nothing that is not on the list: no database address, no key, no token."""
    kept = {name: environment[name] for name in _ALLOWED if name in environment}
    return kept | {
        "TRITON_CACHE_DIR": str(place.cache),
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",  # asking for a GPU must not break a later fork
        "PYTHONUNBUFFERED": "1",
        "MPLCONFIGDIR": str(place.cache / "matplotlib"),
    }


def chosen(place: Place) -> tuple[str, list[str]]:
    """The sandbox's name, and what goes before the command that shall run in it."""
    prefix = bubblewrap(place)
    return (BUBBLEWRAP, prefix) if works(tuple(prefix)) else (NONE, [])


def bubblewrap(place: Place) -> list[str]:
    devices = ["--dev-bind", "/dev", "/dev"] if place.gpu else ["--dev", "/dev"]
    hidden = [part for folder in place.hidden for part in ("--tmpfs", str(folder))]
    writable = [part for folder in (place.outputs, place.cache) for part in bind(folder)]
    return [
        shutil.which("bwrap") or "bwrap",
        *("--ro-bind", "/", "/"),
        *devices,
        *("--proc", "/proc"),
        *hidden,
        *writable,
        *("--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--die-with-parent", "--new-session"),
        "--",
    ]


def bind(folder: Path) -> tuple[str, str, str]:
    return ("--bind", str(folder), str(folder))


@cache
def works(prefix: tuple[str, ...]) -> bool:
    """Whether this machine lets us make such a sandbox: tried with `true` inside it."""
    try:
        tried = subprocess.run(
            [*prefix, "true"], capture_output=True, timeout=10, env={"PATH": os.environ["PATH"]}
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    if tried.returncode:
        sys.stderr.write(f"No sandbox: bubblewrap says {tried.stderr.decode().strip()!r}\n")
    return tried.returncode == 0
