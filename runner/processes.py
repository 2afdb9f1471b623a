"""What Linux does for a process that starts others. Imports neither Django nor torch."""

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent(parent: int, number: int = signal.SIGKILL) -> None:
    """`number` for this process when its parent goes; its end now if that one went already."""
    _libc.prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Grandchildren whose parent goes become ours, so that none outlives its Run unseen."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)


def private_bytes(pid: int) -> int:
    """Memory of that process which it shares with nobody's files; 0 once it is gone."""
    try:
        with open(f"/proc/{pid}/statm") as statm:
            _, resident, shared, *_ = map(int, statm.read().split())
    except (OSError, ValueError):
        return 0
    return max(0, resident - shared) * os.sysconf("SC_PAGE_SIZE")
