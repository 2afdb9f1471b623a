"""The memory of a check's launches: guarded inputs, poisoned outputs, gradients that add up.

A problem draws its inputs here, launches the operator on them and says what was due. Weight
gradients (`sums`) keep their buffer from one micro-batch to the next, as in training.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import torch

from kernels.checking import Comparison, Guarded, Tolerance, compare, guarded
from kernels.events import Note

Tensor = torch.Tensor
TORCH_DTYPES = {"FP32": torch.float32, "FP16": torch.float16, "BF16": torch.bfloat16}

# Declared here, before anything is compared; a failing case never widens them. They go by the
# dtype of the activations: an FP32 sum of products of 16-bit numbers is as right as those are.
TOLERANCES = {
    torch.float32: Tolerance(2e-5, 1e-4),
    torch.float16: Tolerance(4e-3, 4e-3),
    torch.bfloat16: Tolerance(3e-2, 2e-2),
}


@dataclass
class Due:
    """What came and what was due; suspects are the results of known mistakes."""

    got: Tensor
    expected: Tensor
    tolerance: Tolerance
    last: Tensor | None = None  # of a sum: the last micro-batch's share
    suspects: dict[str, tuple[Note, Tensor]] = field(default_factory=dict)
    sign: Note | None = None  # what the failure means, if it fails, whatever the numbers

    def compare(self) -> Comparison:
        return compare(self.got, self.expected, self.tolerance)


class Bench:
    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self.device = device
        self.dtype = dtype
        self.source = torch.Generator()
        self.inputs: dict[str, Guarded] = {}
        self.outputs: dict[str, Guarded] = {}
        self.carried: dict[str, Guarded] = {}
        self.due: dict[str, Due] = {}
        self.others: dict[str, Due] = {}  # the same tensors, come by another way

    def start(self, source: torch.Generator) -> None:
        """A new micro-batch: fresh values, outputs poisoned again, sums carried over."""
        self.source = source
        self.inputs, self.outputs, self.others = {}, {}, {}
        for name in [name for name in self.due if name not in self.carried]:
            del self.due[name]

    def normal(self, *shape: int, spread: float = 1.0) -> Tensor:
        return torch.randn(*shape, generator=self.source) * spread

    def holds(self, name: str, values: Tensor, dtype: torch.dtype | None = None) -> Tensor:
        """An input: the launch must leave it as it is."""
        self.inputs[name] = self.guard(values, dtype or self.dtype)
        return self.inputs[name].tensor

    def given(self, name: str, *shape: int, spread: float = 1.0) -> Tensor:
        return self.holds(name, self.normal(*shape, spread=spread))

    def changes(self, name: str, values: Tensor, dtype: torch.dtype | None = None) -> Tensor:
        """A buffer with values in it that the launch rewrites."""
        self.outputs[name] = self.guard(values, dtype or self.dtype)
        return self.outputs[name].tensor

    def empty(self, name: str, *shape: int, dtype: torch.dtype | None = None) -> Tensor:
        """An output or scratch, full of NaN."""
        return self.changes(name, torch.full(shape, math.nan), dtype)

    def number(self, name: str, *shape: int) -> Tensor:
        """An FP32 output, whatever the activations are."""
        return self.empty(name, *shape, dtype=torch.float32)

    def sum(self, name: str, *shape: int) -> Tensor:
        """A weight gradient: zero before the first micro-batch, then what the last one left."""
        if name not in self.carried:
            self.carried[name] = self.guard(torch.zeros(shape), torch.float32)
        return self.carried[name].tensor

    def guard(self, values: Tensor, dtype: torch.dtype) -> Guarded:
        # As wide as the tensor: rows up to the next power of two must hit the strip.
        return guarded(values.to(self.device, dtype), values.numel() + 4096)

    def expect(
        self, name: str, expected: Tensor, scale: float = 1.0, dtype: torch.dtype | None = None
    ) -> None:
        """What is due in the tensor `name`; for a sum, what this micro-batch adds to it.

        `scale` is the size of the values where it is not about 1; `dtype` is that of the
        arithmetic where a result does not pass through the activations'.
        """
        tolerance = TOLERANCES[dtype or self.dtype]
        tolerance = Tolerance(tolerance.atol * scale, tolerance.rtol)
        if name in self.carried:
            got = self.carried[name].tensor
            before = self.due[name].expected if name in self.due else 0.0
            suspects = self.due[name].suspects if name in self.due else {}
            self.due[name] = Due(got, before + expected, tolerance, expected, suspects)
        else:
            buffer = self.outputs[name] if name in self.outputs else self.inputs[name]
            self.due[name] = Due(buffer.tensor, expected, tolerance)

    def also(self, name: str, got: Tensor, expected: Tensor) -> Due:
        """What came for the tensor `name` by another way; the worse of the two is judged."""
        self.others[name] = Due(got, expected, self.due[name].tolerance)
        return self.others[name]

    def suspect(self, name: str, code: str, wrong: Tensor, **params: str | int | float) -> None:
        """What the mistake `code` would give, after `expect`; of a sum, this batch's share."""
        due = self.due[name]
        note = Note(f"why.{code}", params)
        if name in self.carried and code in due.suspects:
            wrong = due.suspects[code][1] + wrong
        due.suspects[code] = (note, wrong.double())

    def sign(self, name: str, code: str, **params: str | int | float) -> None:
        """The mistake that a failure here would mean; for results that are no numbers at all."""
        self.due[name].sign = Note(f"why.{code}", params)

    def harm(self) -> Note | None:
        """Whether an input was changed or memory beside a buffer was written."""
        for name, buffer in self.inputs.items():
            if not same_bits(buffer.whole, buffer.before):
                return Note("why.input-changed", {"tensor": name})
        for name, buffer in {**self.inputs, **self.outputs, **self.carried}.items():
            if buffer.strips_touched():
                return Note("why.outside", {"tensor": name})
        return None


def same_bits(a: Tensor, b: Tensor) -> bool:
    """Equal, and NaN where the other is: an input may hold one on purpose."""
    return torch.equal(a.view(torch.uint8), b.view(torch.uint8))


def exact(*tensors: Tensor) -> Any:
    """The very values that a kernel reads, in float64, as a tuple to unpack into a call."""
    return tuple(tensor.double() for tensor in tensors)
