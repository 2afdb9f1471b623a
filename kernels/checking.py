"""How a kernel's output is judged, whatever the operator.

Buffers stand between strips of canaries and outputs are poisoned with NaN, so that a stray
write, an unwritten element and a changed input all show. The judge is a float64 oracle with
a tolerance declared beforehand: |got - expected| <= atol + rtol * |expected| for every element.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch

from kernels.events import Worst

CANARY = 1232.0  # exact in FP32, FP16 and BF16
ALIGN = 64  # elements, so that the tensor inside starts on a 16-byte boundary


@dataclass(frozen=True)
class Tolerance:
    atol: float
    rtol: float


# Declared here, before anything is compared; a failing case never widens them.
TOLERANCES = {
    torch.float32: Tolerance(1e-5, 1e-4),
    torch.float16: Tolerance(3e-3, 3e-3),
    torch.bfloat16: Tolerance(1.6e-2, 1.6e-2),
}


@dataclass(frozen=True)
class Comparison:
    passed: bool
    max_abs_error: float
    worst: Worst | None


def compare(got: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> Comparison:
    """Judge `got` by the float64 `expected`.

    An infinity passes only where the oracle, cast to got's dtype, is the same infinity.
    NaN never passes. The worst element is the one with the largest error for its allowance.
    """
    if got.numel() == 0:
        return Comparison(got.shape == expected.shape, 0.0, None)
    value = got.double()
    error = (value - expected).abs()
    error[value.isinf() & (value == expected.to(got.dtype).double())] = 0.0
    error = error.nan_to_num(nan=math.inf, posinf=math.inf)
    allowed = tolerance.atol + tolerance.rtol * expected.abs()
    excess = (error / allowed).nan_to_num(nan=math.inf, posinf=math.inf)  # inf/inf is no pass
    excess[error == 0] = 0.0  # the same infinity on both sides
    place = int(excess.argmax())
    # NumPy's, because torch's own imports a second's worth of symbolic algebra.
    index = tuple(int(i) for i in np.unravel_index(place, got.shape))
    worst = Worst(
        index,
        float(value.flatten()[place]),
        float(expected.flatten()[place]),
        float(allowed.flatten()[place]),
    )
    return Comparison(bool((excess <= 1).all()), float(error.max()), worst)


@dataclass(frozen=True)
class Guarded:
    """A tensor and the memory around it: strips of canaries that nobody may write."""

    whole: torch.Tensor
    tensor: torch.Tensor
    before: torch.Tensor  # what `whole` held at the start

    def strips_touched(self) -> bool:
        strip = (self.whole.numel() - self.tensor.numel()) // 2
        return not (
            torch.equal(self.whole[:strip], self.before[:strip])
            and torch.equal(self.whole[-strip:], self.before[-strip:])
        )

    def changed(self) -> bool:
        return not torch.equal(self.whole, self.before)


def guarded(values: torch.Tensor, strip: int) -> Guarded:
    """Copy `values` into memory with at least `strip` canaries on either side."""
    strip = -(-max(strip, 1) // ALIGN) * ALIGN
    count = values.numel()
    whole = torch.full((count + 2 * strip,), CANARY, dtype=values.dtype, device=values.device)
    whole[strip : strip + count] = values.flatten()
    return Guarded(whole, whole[strip : strip + count].view(values.shape), whole.clone())


def poisoned(
    shape: tuple[int, ...], dtype: torch.dtype, device: torch.device, strip: int
) -> Guarded:
    """An output buffer full of NaN: an element that nobody writes cannot pass."""
    return guarded(torch.full(shape, math.nan, dtype=dtype, device=device), strip)


def generator(*parts: int) -> torch.Generator:
    """A CPU generator seeded by a pure function of its parts, the same on every device."""
    seed = 0
    for part in parts:
        seed = (seed * 1_000_003 + part + 1) % (2**63 - 1)
    return torch.Generator().manual_seed(seed)
