"""Kernels that start before the one before them has ended, and wait on the device: a variant.

Programmatic dependent launch: a kernel launched so may begin as soon as no program of the one
before it is left to start, and its first statement waits until that one has ended and its writes
can be seen. Nothing is read or written before that statement, so nothing can be read too early;
and as each kernel of ours waits so, one that has ended has seen all before it end. cuBLAS's
kernels begin as ever. Only the way to the first statement overlaps, 1 or 2 us a launch.

With `early` a kernel tells the next one that it may begin while its own programs still run.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import triton.language.extra.cuda  # noqa: F401  (the inserted statement names it)
from triton.runtime.jit import JITFunction

from kernels.andrea import operators, scalars

HEAD = re.compile(r"(\ndef k_\w+\(.*?\):(?:  # fmt: skip)?\n)", re.DOTALL)
WAIT = "    tl.extra.cuda.gdc_wait()\n"
EARLY = "    tl.extra.cuda.gdc_launch_dependents()\n"


def ours() -> Iterator[Any]:
    """Every kernel of a step."""
    names = [f"{operators.__name__}.{m.name}" for m in pkgutil.iter_modules(operators.__path__)]
    seen = set()
    for module in (scalars, *map(importlib.import_module, names)):
        for name, value in vars(module).items():
            if isinstance(value, JITFunction) and name.startswith("k_") and value not in seen:
                seen.add(value)
                yield value


@contextmanager
def waiting(early: bool = False) -> Iterator[None]:
    """Within it every launch of ours is such a launch."""
    kept = {kernel: kernel.src for kernel in ours()}
    launch = JITFunction.run
    for kernel, source in kept.items():
        text, count = HEAD.subn(rf"\1{WAIT}{EARLY if early else ''}", "\n" + source, count=1)
        assert count == 1, kernel
        give(kernel, text[1:])

    def run(self: Any, *args: Any, **options: Any) -> Any:
        return launch(self, *args, launch_pdl=True, **options)

    JITFunction.run = run
    try:
        yield
    finally:
        JITFunction.run = launch
        for kernel, source in kept.items():
            give(kernel, source)


def give(kernel: Any, source: str) -> None:
    """Another source; what was compiled from the one before is forgotten."""
    kernel._unsafe_update_src(source)
    kernel.device_caches.clear()
