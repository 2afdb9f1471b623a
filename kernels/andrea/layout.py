"""Where each weight stands in the flat buffer: the order of the checkpoint file.

Token embeddings, position embeddings, then per layer W_Q, W_K, W_V, W_O, W_1, W_2, LN1 gamma
and beta, LN2 gamma and beta, then the final LayerNorm's, then the head if it is untied.
Gradients, m and v lie in buffers of their own in the same order. Needs no torch.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

from kernels.andrea.config import Config


@dataclass(frozen=True)
class Slot:
    """One weight tensor: `offset` counts elements from the start of the flat buffer."""

    name: str
    shape: tuple[int, ...]
    offset: int
    decays: bool

    @property
    def count(self) -> int:
        return math.prod(self.shape)


@lru_cache(maxsize=16)  # a page that computes plans may ask for any number of models
def layout(config: Config) -> tuple[Slot, ...]:
    d, hidden = config.width, config.hidden
    shapes: list[tuple[str, tuple[int, ...], bool]] = [
        ("wte", (config.vocabulary, d), True),
        ("wpe", (config.context, d), False),
    ]
    for i in range(config.layers):
        shapes += [
            *((f"h{i}.{name}", (d, d), True) for name in ("w_q", "w_k", "w_v", "w_o")),
            (f"h{i}.w_1", (d, hidden), True),
            (f"h{i}.w_2", (hidden, d), True),
            *((f"h{i}.{name}", (d,), False) for name in LAYERNORMS),
        ]
    shapes += [("lnf.gamma", (d,), False), ("lnf.beta", (d,), False)]
    if not config.tied:
        shapes.append(("head", (config.vocabulary, d), True))
    slots, offset = [], 0
    for name, shape, decays in shapes:
        slots.append(Slot(name, shape, offset, decays))
        offset += math.prod(shape)
    return tuple(slots)


LAYERNORMS = ("ln1.gamma", "ln1.beta", "ln2.gamma", "ln2.beta")


def parameter_count(config: Config) -> int:
    """As many as the slots of the layout hold, without making them: a model that cannot be may
    have millions of layers."""
    d, tables = config.width, 1 if config.tied else 2
    layer = 4 * d * d + 2 * d * config.hidden + len(LAYERNORMS) * d
    return (tables * config.vocabulary + config.context + 2) * d + config.layers * layer


def head_start(config: Config) -> int:
    """Where the projection onto the vocabulary begins: with a tied head, at the token table."""
    name = "wte" if config.tied else "head"
    return next(slot.offset for slot in layout(config) if slot.name == name)
