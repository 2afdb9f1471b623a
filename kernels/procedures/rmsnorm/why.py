"""What a failure looks like, told from its numbers alone.

First the plain signs (nothing written, NaN left in place), then the formulas that people
write by mistake: each is computed in float64, and one that gives what came is the answer.
"""

import math
from collections.abc import Callable, Iterator

import torch

from kernels.checking import Tolerance, compare
from kernels.events import Note
from kernels.procedures.rmsnorm.inputs import Input
from kernels.rmsnorm import EPS, ROW_TILE

Tensor = torch.Tensor
# (what, got, expected, case, tolerance) -> the pattern of the failure
Explain = Callable[[str, Tensor, Tensor, Input, Tolerance], Note]
Suspect = tuple[Note, Tensor]


def forward(what: str, got: Tensor, expected: Tensor, case: Input, tolerance: Tolerance) -> Note:
    suspects = inverse_suspects(case) if what == "inverse" else forward_suspects(case)
    return name_pattern(got, expected, suspects, tolerance)


def backward(what: str, got: Tensor, expected: Tensor, case: Input, tolerance: Tolerance) -> Note:
    suspects = backward_suspects(case)
    return name_pattern(got, expected, suspects, tolerance)


def gamma(what: str, got: Tensor, expected: Tensor, case: Input, tolerance: Tolerance) -> Note:
    suspects = gamma_suspects(case, expected)
    return name_pattern(got, expected, suspects, tolerance)


def name_pattern(
    got: Tensor, expected: Tensor, suspects: Iterator[Suspect], tolerance: Tolerance
) -> Note:
    sign = unwritten(got, expected)
    return sign or best_match(got, suspects, tolerance) or plain(got, expected)


def unwritten(got: Tensor, expected: Tensor) -> Note | None:
    """NaN where the oracle has a number: the poison was never overwritten, or spread."""
    missing = got.isnan() & ~expected.isnan()
    if missing.all():
        return Note("why.nothing-written")
    if not missing.any():
        return None
    if got.ndim == 2 and got.shape[0] > 1 and missing[1:].all() and not missing[0].any():
        return Note("why.only-first-row", {"rows": got.shape[0]})
    return Note("why.not-written", {"count": int(missing.sum()), "total": got.numel()})


def best_match(got: Tensor, suspects: Iterator[Suspect], tolerance: Tolerance) -> Note | None:
    """Of the wrong formulas that give what came, to tolerance, the one that comes closest."""
    found = [(compare(got, formula, tolerance), note) for note, formula in suspects]
    passed = [(comparison.max_abs_error, note) for comparison, note in found if comparison.passed]
    return min(passed, key=lambda pair: pair[0])[1] if passed else None


def by_block(case: Input) -> Note:
    factor = math.sqrt(case.block / case.columns)
    return Note("why.by-block", {"factor": factor, "block": case.block, "columns": case.columns})


def mean_square(case: Input, over: int) -> Tensor:
    return case.x.tensor.double().square().sum(dim=-1) / over


def inverse_suspects(case: Input) -> Iterator[Suspect]:
    yield by_block(case), torch.rsqrt(mean_square(case, case.block) + EPS)
    if (unmasked := without_mask(case)) is not None:
        yield Note("why.no-mask"), unmasked
    yield Note("why.no-root"), 1 / (mean_square(case, case.columns) + EPS)
    yield (
        Note("why.zeros"),
        torch.zeros(case.rows, dtype=torch.float64, device=case.x.tensor.device),
    )


def forward_suspects(case: Input) -> Iterator[Suspect]:
    x, gamma = case.x.tensor.double(), case.gamma.tensor.double()
    for note, inverse in inverse_suspects(case):
        yield note_for_y(note, case), x * inverse[:, None] * gamma
    r = torch.rsqrt(mean_square(case, case.columns) + EPS)[:, None]
    yield Note("why.no-gamma"), x * r
    centred = x - x.mean(dim=-1, keepdim=True)
    yield (
        Note("why.mean-subtracted"),
        centred * torch.rsqrt(centred.square().mean(-1, keepdim=True) + EPS) * gamma,
    )


def note_for_y(note: Note, case: Input) -> Note:
    """All zeros under a large input is the mark of squares that overflowed FP16."""
    largest = float(case.x.tensor.abs().max()) if case.rows else 0.0
    if note.code == "why.zeros" and case.dtype == "FP16" and largest > 256:
        return Note("why.overflow", {"largest": largest})
    return note


def without_mask(case: Input) -> Tensor | None:
    """The inverse of a row sum that runs on into the next row (as memory stands)."""
    if case.block == case.columns:
        return None
    start = (case.x.whole.numel() - case.x.tensor.numel()) // 2
    size, stride = (case.rows, case.block), (case.columns, 1)
    window = case.x.before.double().as_strided(size, stride, start)
    return torch.rsqrt(window.square().sum(dim=-1) / case.columns + EPS)


def backward_suspects(case: Input) -> Iterator[Suspect]:
    x, gamma, dy = (side.tensor.double() for side in (case.x, case.gamma, case.dy))
    r = torch.rsqrt(mean_square(case, case.columns) + EPS)[:, None]
    u = dy * gamma
    sum_ux = (u * x).sum(dim=-1, keepdim=True)
    mean_ux = sum_ux / case.columns
    if case.block != case.columns:
        params = {"block": case.block, "columns": case.columns}
        yield Note("why.mean-ux-by-block", params), r * u - x * r**3 * sum_ux / case.block
    yield Note("why.r-squared"), r * u - x * r**2 * mean_ux
    yield Note("why.no-second-term"), r * u
    yield Note("why.wrong-sign"), r * u + x * r**3 * mean_ux
    yield Note("why.no-gamma"), r * dy - x * r**3 * (dy * x).mean(dim=-1, keepdim=True)
    yield Note("why.zeros"), torch.zeros_like(x)


def gamma_suspects(case: Input, expected: Tensor) -> Iterator[Suspect]:
    x, gamma, dy = (side.tensor.double() for side in (case.x, case.gamma, case.dy))
    r = torch.rsqrt(mean_square(case, case.columns) + EPS)[:, None]
    share = dy * x * r
    yield Note("why.mean-not-sum", {"rows": case.rows}), expected / case.rows
    yield Note("why.first-row-only", {"rows": case.rows}), share[0]
    if case.rows > ROW_TILE:
        yield (
            Note("why.first-tile-only", {"tile": ROW_TILE, "rows": case.rows}),
            share[:ROW_TILE].sum(dim=0),
        )
    yield Note("why.no-inverse"), (dy * x).sum(dim=0)
    yield Note("why.gamma-twice"), expected * gamma
    yield Note("why.zeros"), torch.zeros_like(expected)


def plain(got: Tensor, expected: Tensor) -> Note:
    """No known formula: whether rows are scaled, or numbers are no numbers, or just the error."""
    value = got.double()
    if not value.isfinite().all():
        return Note(
            "why.not-finite", {"count": int((~value.isfinite()).sum()), "total": got.numel()}
        )
    if got.ndim == 2:
        heavy = expected.abs() > 0.1 * expected.abs().amax(dim=-1, keepdim=True)
        ratio = torch.where(heavy, value / expected, torch.nan)
        middle = ratio.nanmedian(dim=-1, keepdim=True).values
        if ((ratio - middle).abs().nan_to_num(nan=0.0) < 5e-3 * middle.abs()).all():
            return Note(
                "why.rows-scaled", {"low": float(middle.min()), "high": float(middle.max())}
            )
    return Note("why.outside-tolerance")
