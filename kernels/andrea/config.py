"""A model and its training, as numbers: read once, refused at once when they cannot work.

Needs no torch, so that a page can compute a memory plan with it.
"""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, get_type_hints

from kernels.procedure import BadParameter


class Precision(StrEnum):
    """What the matrix products read. Master weights, gradients' sums, m and v are FP32 always."""

    FP32 = "fp32"
    FP16 = "fp16"
    BF16 = "bf16"
    FP8 = "fp8-e4m3"


@dataclass(frozen=True)
class Config:
    """A GPT of pre-norm blocks, no biases, and the schedule that trains it."""

    vocabulary: int = 257  # 256 bytes and a beginning-of-sequence token
    width: int = 32
    heads: int = 2
    layers: int = 2
    context: int = 64
    batch: int = 2  # sequences in a micro-batch
    micro_batches: int = 1
    tied: bool = True  # the head is the token table
    precision: Precision = Precision.FP32
    seed: int = 20261130
    steps: int = 60
    learning_rate: float = 3e-3
    floor: float = 0.1  # the cosine ends at this share of the peak
    warmup: int | None = None  # None: a tenth of the steps, 2,000 at the most
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    decay: float = 0.1  # on matrices only: not on LayerNorm, not on the position embeddings
    clip: float = 1.0  # the global L2 norm that a step's gradient may have; 0: any
    layernorm_epsilon: float = 1e-5

    @property
    def head_width(self) -> int:
        return self.width // self.heads

    @property
    def hidden(self) -> int:
        """The width inside the MLP."""
        return 4 * self.width

    @property
    def rows(self) -> int:
        """Tokens in a micro-batch."""
        return self.batch * self.context

    @property
    def warmup_steps(self) -> int:
        return min(self.steps // 10, 2000) if self.warmup is None else self.warmup

    def __post_init__(self) -> None:
        object.__setattr__(self, "precision", Precision(self.precision))
        for name in ("vocabulary", "width", "heads", "layers", "context", "batch"):
            require(name, getattr(self, name), "a whole number of at least 1", lambda v: v >= 1)
        for name in ("micro_batches", "steps"):
            require(name, getattr(self, name), "a whole number of at least 1", lambda v: v >= 1)
        for name in ("learning_rate", "epsilon", "layernorm_epsilon"):
            require(name, getattr(self, name), "a finite number above 0", lambda v: v > 0)
        for name in ("beta1", "beta2"):
            require(name, getattr(self, name), "a number from 0 up to, not including, 1", is_share)
        for name in ("clip", "decay"):
            require(name, getattr(self, name), "a finite number of at least 0", lambda v: v >= 0)
        require("floor", self.floor, "a number from 0 to 1", lambda v: 0 <= v <= 1)
        require("warmup", self.warmup_steps, "a whole number of at least 0", lambda v: v >= 0)
        if self.warmup_steps > self.steps:
            raise BadParameter(
                f"warmup = {self.warmup} is not accepted: it is longer than steps = {self.steps}, "
                f"so the rate would never reach its peak; accepted: at most {self.steps}."
            )
        if self.width % self.heads:
            divisors = [n for n in range(1, self.width + 1) if self.width % n == 0]
            raise BadParameter(
                f"heads = {self.heads} does not divide width = {self.width}; "
                f"accepted: {', '.join(map(str, divisors))}."
            )


PRESETS: dict[str, dict[str, Any]] = {
    "micro": {},
    "12M": {
        **{"vocabulary": 257, "width": 384, "heads": 12, "layers": 6, "context": 1024},
        **{"batch": 8, "precision": Precision.BF16, "learning_rate": 1e-3, "steps": 2000},
    },
    "120M": {
        **{"vocabulary": 8449, "width": 768, "heads": 12, "layers": 12, "context": 1024},
        **{"batch": 8, "precision": Precision.BF16, "learning_rate": 3e-4, "steps": 200_000},
    },
    "gpt2-124M": {
        **{"vocabulary": 50_257, "width": 768, "heads": 12, "layers": 12, "context": 1024},
        **{"batch": 8, "precision": Precision.BF16, "learning_rate": 6e-4, "steps": 20_000},
    },
}


def preset(name: str, changes: Mapping[str, Any] | None = None) -> Config:
    """The preset of that name with `changes` made.

    Raises BadParameter for an unknown preset, key or value; it names what is accepted.
    """
    if name not in PRESETS:
        raise BadParameter(f"config = {name!r} is not accepted; accepted: {', '.join(PRESETS)}.")
    types = get_type_hints(Config)
    for key, value in (changes or {}).items():
        if key not in types:
            raise BadParameter(
                f"{key!r} is no key of a configuration; accepted: {', '.join(types)}."
            )
        require_type(key, value, types[key])
    return dataclasses.replace(Config(**PRESETS[name]), **(changes or {}))


def require(name: str, value: float, accepted: str, holds: Any) -> None:
    if not math.isfinite(value) or not holds(value):
        raise BadParameter(f"{name} = {value!r} is not accepted; accepted: {accepted}.")


def require_type(key: str, value: Any, wanted: Any) -> None:
    if wanted is Precision:
        if value not in list(Precision):
            raise BadParameter(
                f"{key} = {value!r} is not accepted; accepted: {', '.join(Precision)}."
            )
    elif wanted is float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadParameter(f"{key} = {value!r} is not accepted; accepted: a number.")
    elif not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        words = {int: "a whole number", bool: "true or false"}.get(wanted, "a whole number or none")
        raise BadParameter(f"{key} = {value!r} is not accepted; accepted: {words}.")


def is_share(value: float) -> bool:
    return 0 <= value < 1
