"""Every kernel of the engine, operator by operator, read from the sources: for a table of them.

Needs no torch: the files are parsed, not imported. A kernel is a Triton function called `k_…`;
the functions that kernels call (`gelu`, `product`) are none.
"""

import ast
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kernels.andrea.operators import BY_NAME, TABLE, Operator

FOLDER = Path(__file__).parent
# Their backward twins stand in no list of eight pairs: `logits` is one of those who are left out.
LEFT_OUT = ("logits",)
# What has no twin, because nothing is differentiated through it: the module, and its check.
UTILITIES = {
    "operators/grad_norm": "andrea.check-grad-norm",
    "operators/adamw": "andrea.check-adamw",
    "operators/casts": "andrea.check-casts",
    "scalars": "andrea.resume-proof",
}


@dataclass(frozen=True)
class Kernel:
    name: str
    path: str  # from the repository's root

    def __str__(self) -> str:
        return f"{self.path}::{self.name}"


@dataclass(frozen=True)
class Listed:
    """One row. `forward` and `backward` are as taught, `faster` what later versions add."""

    name: str
    forward: tuple[Kernel, ...]
    backward: tuple[Kernel, ...]
    beside: tuple[Kernel, ...]  # neither: a count, a cast
    faster: tuple[Kernel, ...]
    saved: tuple[str, ...]
    weights: tuple[str, ...]
    check: str  # the Procedure


def pairs() -> tuple[Listed, ...]:
    """The eight pairs of a block and its two ends."""
    return tuple(listed(operator) for operator in TABLE if operator.name not in LEFT_OUT)


def left_out() -> tuple[Listed, ...]:
    """The pair that lists of eight forget, and the kernels without a twin."""
    found = [listed(BY_NAME[name]) for name in LEFT_OUT]
    for module, check in UTILITIES.items():
        kernels = kernels_in(module)
        found.append(Listed(module.rpartition("/")[2], (), (), kernels, (), (), (), check))
    return tuple(found)


def listed(operator: Operator) -> Listed:
    taught = {kernel.name: kernel for kernel in kernels_in(f"operators/{operator.name}")}
    forward = tuple(taught[name] for name in dict.fromkeys(operator.forward))
    backward = tuple(taught[name] for name in dict.fromkeys(operator.backward))
    return Listed(
        operator.name,
        forward,
        backward,
        tuple(kernel for kernel in taught.values() if kernel not in (*forward, *backward)),
        tuple(kernel for module in later(operator.name) for kernel in kernels_in(module)),
        operator.saved,
        operator.weights,
        operator.check,
    )


def later(operator: str) -> list[str]:
    """The files of an operator's later versions: `loss_fast`, but not `attn_out` for `attn`."""
    stems = sorted(file.stem for file in (FOLDER / "operators").glob(f"{operator}_*.py"))
    longer = [name for name in BY_NAME if name.startswith(f"{operator}_")]
    return [
        f"operators/{stem}"
        for stem in stems
        if not any(stem == name or stem.startswith(f"{name}_") for name in longer)
    ]


def kernels_in(module: str) -> tuple[Kernel, ...]:
    """The kernels of a file under kernels/andrea, in its order."""
    file = FOLDER / f"{module}.py"
    return _kernels(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _kernels(file: Path, changed: int) -> tuple[Kernel, ...]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    path = f"kernels/andrea/{file.relative_to(FOLDER).as_posix()}"
    return tuple(
        Kernel(node.name, path)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("k_") and node.decorator_list
    )
