"""What this machine is, told without importing torch or Triton."""

import ctypes
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def cuda_present() -> bool:
    """Whether a CUDA device can be used by the torch that is installed.

    Asks the driver itself, so call it only in a process that will not fork afterwards.
    """
    if "+cpu" in package_version("torch"):
        return False
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return (
        driver.cuInit(0) == 0
        and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
        and count.value > 0
    )


def package_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def python_version() -> str:
    return platform.python_version()


def processor_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def driver_version() -> str:
    """The NVIDIA driver's version, "" where there is none."""
    try:
        text = Path("/proc/driver/nvidia/version").read_text()
    except OSError:
        return ""
    return next((word for word in text.split() if word.count(".") >= 1 and word[0].isdigit()), "")


def commit() -> str:
    """The commit of the code that runs: from CHAINRULE_COMMIT, else read from .git."""
    if given := os.environ.get("CHAINRULE_COMMIT"):
        return given
    git = ROOT / ".git"
    try:
        head = (git / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return head
        name = head.removeprefix("ref: ")
        if (git / name).exists():
            return (git / name).read_text().strip()
        packed = (git / "packed-refs").read_text().splitlines()
        return next(line.split()[0] for line in packed if line.endswith(" " + name))
    except (OSError, StopIteration):
        return ""
