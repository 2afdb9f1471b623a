"""Whether this worker is being stopped in good order: said in its main process, heard in its slots.

Celery lets a slot finish what it runs. A training would take hours, so its slot is told.
"""

import mmap

_flag = mmap.mmap(-1, 1)  # shared with the processes that are forked later


def begin() -> None:
    _flag[0] = 1


def begun() -> bool:
    return _flag[0] == 1
