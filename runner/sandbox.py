"""How the warm parent is started: inside bubblewrap where that works, and never silently without.

Inside it sees no network, no other processes, read-only files and an environment made from a list;
the data folder, the home folder and those where servers keep their sockets are empty. It holds no
capability, so what is hidden stays hidden from root too. It may write its outputs and Triton's
cache.
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
_PROBE_SECONDS = 120.0  # importing torch from a cold disk


@dataclass(frozen=True)
class Place:
    """Where one slot lets its children work."""

    outputs: Path  # every Run's folder lies in here
    given: Path  # what Runs go on from, in folders of their own: read only
    cache: Path  # compiled kernels, kept between Runs
    hidden: tuple[Path, ...]  # folders and files with secrets: the database, the key, `.env`
    code: Path  # the folder that Python is started in
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
    environment = clean_environment(place, os.environ)
    works = tried(tuple(prefix), tuple(sorted(environment.items())))
    return (BUBBLEWRAP, prefix) if works else (NONE, [])


def bubblewrap(place: Place) -> list[str]:
    devices = ["--dev-bind", "/dev", "/dev"] if place.gpu else ["--dev", "/dev"]
    needed = what_python_needs(place)
    emptied = [folder for folder in shared_folders() if folder not in needed]
    shown = [path for path in needed if any(path.is_relative_to(folder) for folder in emptied)]
    emptied_too = [path for path in place.hidden if path.is_dir()]
    files = [path for path in place.hidden if path.is_file()]
    writable = (place.outputs, place.cache)
    return [
        shutil.which("bwrap") or "bwrap",
        *("--ro-bind", "/", "/"),
        *devices,
        *("--proc", "/proc"),
        # Each over the one before: an emptied folder, what of it is needed, the secrets in that.
        *each("--tmpfs", emptied),
        *shown_again(shown),
        *each("--tmpfs", emptied_too),
        *both("--bind", writable),
        *both("--ro-bind", (place.given,)),
        *(part for path in files for part in ("--ro-bind", "/dev/null", str(path))),
        # Or a child could fill the machine's memory with files.
        *each("--remount-ro", [*emptied, *emptied_too]),
        *("--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--die-with-parent", "--new-session"),
        *("--cap-drop", "ALL"),  # started by root, it would keep them all
        "--",
    ]


def shared_folders() -> list[Path]:
    """Where others keep sockets and secrets. A network namespace does not stop unix sockets."""
    folders = {Path(name).resolve() for name in ("/tmp", "/run", "/var/run", Path.home())}
    return sorted(folder for folder in folders if folder.is_dir() and folder != Path("/"))


def what_python_needs(place: Place) -> list[Path]:
    """Folders that must be seen inside, in the order in which they may lie in each other."""
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    tools = (os.environ.get(name, "") for name in ("CUDA_HOME", "CUDA_PATH"))
    paths = {place.code, *map(Path, (sys.prefix, sys.base_prefix))}
    paths |= {Path(name) for name in (*sys.path, *libraries, *tools) if name}
    paths |= {path.resolve() for path in paths}
    return sorted(path for path in paths if path.is_absolute() and path.exists())


def shown_again(paths: list[Path]) -> list[str]:
    """What an emptied folder held of Python's, outermost first; a link as a link, since nothing
    mounts on one."""
    seen: list[Path] = []
    for path in paths:
        if not any(path.is_relative_to(other) for other in seen):
            seen.append(path)
    links = [path for path in seen if path.is_symlink()]
    made = [part for path in links for part in ("--symlink", str(path.readlink()), str(path))]
    return [*both("--ro-bind", [path for path in seen if path not in links]), *made]


def each(option: str, paths: list[Path]) -> list[str]:
    return [part for path in paths for part in (option, str(path))]


def both(option: str, paths: list[Path] | tuple[Path, ...]) -> list[str]:
    """The same path inside as outside."""
    return [part for path in paths for part in (option, str(path), str(path))]


@cache
def tried(prefix: tuple[str, ...], environment: tuple[tuple[str, str], ...]) -> bool:
    """Whether this machine lets us make such a sandbox and Python can work in it."""
    command = [*prefix, sys.executable, "-c", "import runner.zygote, torch"]
    try:
        process = subprocess.run(
            command, capture_output=True, timeout=_PROBE_SECONDS, env=dict(environment)
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return say_none(str(error))
    if process.returncode:
        return say_none(process.stderr.decode(errors="replace").strip())
    return True


def say_none(why: str) -> bool:
    sys.stderr.write(f"NO SANDBOX: Runs can read this machine's files. bubblewrap says: {why}\n")
    return False
