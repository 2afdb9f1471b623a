"""Wrong versions of `rmsnorm.py`, as data: what is replaced, where, and which check must see it.

A mutant is version 1 with one or two replacements in its source, so it can never drift from
the kernel it distorts: a replacement that no longer fits exactly once is an error. The checks
must kill every one of them; `tests/kernels/test_mutants.py` says with which case. Nothing
here ever replaces the real kernel. Needs no torch.
"""

from dataclasses import dataclass
from enum import StrEnum


class Check(StrEnum):
    FORWARD = "check-forward"
    BACKWARD = "check-backward"
    GAMMA = "check-gamma"


@dataclass(frozen=True)
class Edit:
    """In the function `symbol`, `old` (which must occur exactly once) becomes `new`."""

    symbol: str
    old: str
    new: str


@dataclass(frozen=True)
class Mutant:
    """`killed_by` is the check that must fail, `why` the pattern it must name."""

    name: str
    edits: tuple[Edit, ...]
    killed_by: Check
    why: str


FORWARD_MEAN = Edit("forward_kernel", "tl.sum(x * x, axis=0) / N", "tl.sum(x * x, axis=0) / BLOCK")
BACKWARD_MEAN = Edit(
    "backward_kernel", "tl.sum(u * x, axis=0) / N", "tl.sum(u * x, axis=0) / BLOCK"
)
FORWARD_X = "x = tl.load(X + row * N + column, mask=keep, other=0).to(tl.float32)"
FORWARD_GAMMA = "gamma = tl.load(GAMMA + column, mask=keep, other=0).to(tl.float32)"
STORE_Y = "tl.store(Y + row * N + column, x * r * gamma, mask=keep)"
STORE_DX = "tl.store(DX + row * N + column, dx, mask=keep)"
STORE_DGAMMA = "tl.store(DGAMMA + column, total, mask=column < N)"
LAUNCH = "forward_kernel[(rows,)](x, gamma, y, inverse, columns, eps, block)"
REPEAT = "y.copy_(CALLS.setdefault(str((y.shape, y.dtype)), y.clone()))"

MUTANTS = (
    # N replaced by BLOCK: invisible at every power of two (M-42).
    Mutant("forward-by-block", (FORWARD_MEAN,), Check.FORWARD, "why.by-block"),
    Mutant("backward-by-block", (BACKWARD_MEAN,), Check.BACKWARD, "why.mean-ux-by-block"),
    # Consistent with itself: its own gradcheck would pass. Only the oracle sees it.
    Mutant("both-by-block", (FORWARD_MEAN, BACKWARD_MEAN), Check.FORWARD, "why.by-block"),
    # A mean over rows where a sum is due: invisible at M = 1 (M-42).
    Mutant(
        "gamma-mean",
        (
            Edit(
                "gamma_kernel",
                STORE_DGAMMA,
                STORE_DGAMMA.replace("total", "total / M"),
            ),
        ),
        Check.GAMMA,
        "why.mean-not-sum",
    ),
    Mutant(
        "load-without-mask",
        (Edit("forward_kernel", FORWARD_X, "x = tl.load(X + row * N + column).to(tl.float32)"),),
        Check.FORWARD,
        "why.no-mask",
    ),
    Mutant(
        "store-without-mask",
        (Edit("forward_kernel", STORE_Y, "tl.store(Y + row * N + column, x * r * gamma)"),),
        Check.FORWARD,
        "why.outside",
    ),
    Mutant(
        "row-stride-of-block",
        (
            Edit(
                "forward_kernel",
                STORE_Y,
                STORE_Y.replace("row * N", "row * BLOCK"),
            ),
        ),
        Check.FORWARD,
        "why.outside",
    ),
    Mutant(
        "r-squared",
        (Edit("backward_kernel", "(r * r * r)", "(r * r)"),),
        Check.BACKWARD,
        "why.r-squared",
    ),
    Mutant(
        "no-second-term",
        (Edit("backward_kernel", "r * u - x * (r * r * r) * mean_ux", "r * u"),),
        Check.BACKWARD,
        "why.no-second-term",
    ),
    Mutant(
        "wrong-sign",
        (Edit("backward_kernel", "r * u - x", "r * u + x"),),
        Check.BACKWARD,
        "why.wrong-sign",
    ),
    Mutant(
        "no-fp32-cast",
        (
            Edit("forward_kernel", FORWARD_X, FORWARD_X.removesuffix(".to(tl.float32)")),
            Edit("forward_kernel", FORWARD_GAMMA, FORWARD_GAMMA.removesuffix(".to(tl.float32)")),
            Edit(
                "forward_kernel",
                "(mean_square + EPS)",
                "((mean_square + EPS).to(tl.float32))",
            ),
        ),
        Check.FORWARD,
        "why.overflow",
    ),
    Mutant(
        "only-row-0",
        (Edit("launch_forward", LAUNCH, LAUNCH.replace("(rows,)", "(1,)")),),
        Check.FORWARD,
        "why.only-first-row",
    ),
    Mutant(
        "writes-nothing",
        (Edit("forward_kernel", STORE_Y, STORE_Y.replace("mask=keep", "mask=column < 0")),),
        Check.FORWARD,
        "why.nothing-written",
    ),
    Mutant(
        "dx-not-written",
        (Edit("backward_kernel", STORE_DX, STORE_DX.replace("mask=keep", "mask=column < 0")),),
        Check.BACKWARD,
        "why.nothing-written",
    ),
    Mutant(
        "dgamma-not-written",
        (Edit("gamma_kernel", STORE_DGAMMA, STORE_DGAMMA.replace("column < N", "column < 0")),),
        Check.GAMMA,
        "why.nothing-written",
    ),
    Mutant(
        "zeros",
        (Edit("forward_kernel", STORE_Y, STORE_Y.replace("x * r * gamma", "x * 0.0")),),
        Check.FORWARD,
        "why.zeros",
    ),
    Mutant(
        "no-gamma",
        (Edit("forward_kernel", STORE_Y, STORE_Y.replace("x * r * gamma", "x * r")),),
        Check.FORWARD,
        "why.no-gamma",
    ),
    Mutant(
        "no-root",
        (Edit("forward_kernel", "tl.rsqrt(mean_square + EPS)", "1.0 / (mean_square + EPS)"),),
        Check.FORWARD,
        "why.no-root",
    ),
    # y is right and the saved inverse is not: a fault that only the backward pass would feel.
    Mutant(
        "wrong-inverse",
        (Edit("forward_kernel", "tl.store(R + row, r)", "tl.store(R + row, r * r)"),),
        Check.FORWARD,
        "why.no-root",
    ),
    Mutant(
        "overwrites-x",
        (Edit("forward_kernel", STORE_Y, STORE_Y + "\n    " + STORE_Y.replace("Y +", "X +")),),
        Check.FORWARD,
        "why.input-changed",
    ),
    Mutant(
        "first-tile-of-rows",
        (Edit("gamma_kernel", "range(0, M, ROWS)", "range(0, ROWS, ROWS)"),),
        Check.GAMMA,
        "why.first-tile-only",
    ),
    # Right on the first values it sees, then it repeats itself.
    Mutant(
        "right-once",
        (Edit("launch_forward", LAUNCH, LAUNCH + "\n        " + REPEAT),),
        Check.FORWARD,
        "why.outside-tolerance",
    ),
)

BY_NAME = {mutant.name: mutant for mutant in MUTANTS}
