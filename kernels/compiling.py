"""Compiling every kernel of a sequence of launches side by side, before the first is needed.

Triton compiles a kernel when it is first launched, one after another. Most of that work is done
outside Python (its passes, the assembler, the C compiler that builds the launching code), so
threads do it at the same time.
"""

import os
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any

import torch
from triton import AsyncCompileMode


class Gathering(AsyncCompileMode):
    """Within it a launch whose kernel is not compiled yet hands the compiling to `executor` and
    launches nothing; on leaving, all of it has ended. Other launches happen as always."""

    def submit(self, key: Any, compile_fn: Callable[[], Any], *finish: Callable[..., Any]) -> None:
        super().submit(key, partial(loaded, compile_fn), *finish)


def loaded(compile_fn: Callable[[], Any]) -> Any:
    """The compiled kernel, on the device already and with its launching code built."""
    kernel = compile_fn()
    kernel.run  # noqa: B018  the property does both
    return kernel


def compile_ahead(launches: Callable[[], None], workers: int | None = None) -> None:
    """Compile what `launches` launches, on the current GPU. It must not need what its kernels
    compute, since those that are not compiled do not run.

    Raises what Triton raises where a kernel cannot be compiled.
    """
    count = workers or len(os.sched_getaffinity(0))
    device = torch.cuda.current_device()
    with ThreadPoolExecutor(count, "compile", torch.cuda.set_device, (device,)) as pool:
        # In a context of its own: Triton leaves the mode on there when a kernel fails.
        copy_context().run(gather, launches, pool)


def gather(launches: Callable[[], None], pool: Executor) -> None:
    with Gathering(pool):
        launches()
