"""Every buffer a run will ever hold, known before the first is allocated. Needs no torch.

The buffers lie one behind the other in a single allocation, each from a 512-byte boundary on;
what the boundaries cost is a line of the plan, so that its sum is the allocated size to the byte.
"""

import math
from dataclasses import dataclass

from kernels.andrea.config import Config, Precision
from kernels.andrea.layout import head_start, parameter_count
from kernels.andrea.schedule import correction_count
from kernels.andrea.scoring import SAMPLE_TOKENS
from kernels.andrea.tokens import TOKENS
from kernels.procedure import BadParameter

ALIGNMENT = 512
BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "int32": 4}
ACTIVATIONS = {
    Precision.FP32: "float32",
    Precision.FP16: "float16",
    Precision.BF16: "bfloat16",
    Precision.FP8: "bfloat16",  # only what a product reads is in E4M3
}
# Rows of logits are a multiple of this whatever the vocabulary: cuBLAS is slow on odd sides.
LOGIT_STEP = 64
MOST_PERSISTENT = 1024  # programs of any card that walk over rows
PARTIALS = 1024  # the most programs that the gradient's norm uses
# What CUDA, cuBLAS and the compiled kernels take beside the buffers, seen on an H200.
BESIDE_ON_GPU = 768 * 2**20


class MemoryRefused(BadParameter):
    """The plan needs more memory than there is."""


@dataclass(frozen=True)
class Buffer:
    """`whose` says what it is for: weights, gradients, optimizer, a layer, head, batch,
    scratch, samples."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    whose: str

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.count * BYTES[self.dtype]


@dataclass(frozen=True)
class Plan:
    buffers: tuple[Buffer, ...]

    @property
    def bytes(self) -> int:
        """What is allocated: the buffers and the padding between them."""
        return sum(aligned(buffer.bytes) for buffer in self.buffers)

    @property
    def padding(self) -> int:
        return self.bytes - sum(buffer.bytes for buffer in self.buffers)

    def by_owner(self) -> dict[str, int]:
        """Bytes by whose they are; every layer under one name; the padding last."""
        found: dict[str, int] = {}
        for buffer in self.buffers:
            owner = "layers" if buffer.whose.startswith("layer ") else buffer.whose
            found[owner] = found.get(owner, 0) + buffer.bytes
        return found | {"padding": self.padding}


def plan(config: Config, version: int = 1) -> Plan:
    weights = parameter_count(config)
    activations = ACTIVATIONS[config.precision]
    buffers = [
        Buffer("weights", (weights,), "float32", "weights"),
        Buffer("gradients", (weights,), "float32", "gradients"),
        Buffer("m", (weights,), "float32", "optimizer"),
        Buffer("v", (weights,), "float32", "optimizer"),
    ]
    if activations != "float32":
        count = max(weights, head_end(config))
        buffers.append(Buffer("working", (count,), activations, "weights"))
    if version > 1:  # W_Q, W_K and W_V side by side, for one product
        d = config.width
        buffers.append(Buffer("packed", (config.layers, d, 3, d), activations, "weights"))
    buffers += control(config)
    buffers += batch(config)
    for i in range(config.layers):
        buffers += layer(config, i, activations)
    buffers += head(config, activations)
    buffers += scratch(config, activations)
    buffers += decoder(config)
    return Plan(tuple(buffers))


def control(config: Config) -> list[Buffer]:
    """The step's numbers, kept on the device so that a recorded step reads them anew."""
    return [
        Buffer("rates", (config.steps,), "float32", "optimizer"),
        Buffer("corrections", (correction_count(config), 2), "float32", "optimizer"),
        Buffer("schedule", (3,), "float32", "optimizer"),
        Buffer("counters", (3,), "int32", "optimizer"),
        Buffer("loss_scale", (2,), "float32", "optimizer"),
        Buffer("report", (config.micro_batches + 4,), "float32", "optimizer"),
    ]


def batch(config: Config) -> list[Buffer]:
    """One step's micro-batches; `order` and `first` are the segments of the embedding gradient."""
    n, rows = config.micro_batches, config.rows
    return [
        Buffer("ids", (n, config.batch, config.context), "int32", "batch"),
        Buffer("targets", (n, rows), "int32", "batch"),
        Buffer("order", (n, rows), "int32", "batch"),
        Buffer("first", (n, config.vocabulary + 1), "int32", "batch"),
    ]


def layer(config: Config, index: int, dtype: str) -> list[Buffer]:
    """What block `index` keeps from its forward pass for its backward pass."""
    rows, d = config.rows, config.width
    shapes: list[tuple[str, tuple[int, ...], str]] = [
        ("x", (rows, d), dtype),  # the residual stream as it comes in
        ("normed1", (rows, d), dtype),
        ("mean1", (rows,), "float32"),
        ("variance1", (rows,), "float32"),
        ("qkv", (3, rows, d), dtype),
        ("o", (rows, d), dtype),
        ("lse", (config.batch * config.heads, config.context), "float32"),
        ("middle", (rows, d), dtype),  # the residual stream between its two halves
        ("normed2", (rows, d), dtype),
        ("mean2", (rows,), "float32"),
        ("variance2", (rows,), "float32"),
        ("h", (rows, config.hidden), dtype),  # before GELU
    ]
    owner = f"layer {index}"
    return [Buffer(f"h{index}.{name}", shape, kind, owner) for name, shape, kind in shapes]


def head(config: Config, dtype: str) -> list[Buffer]:
    rows, d = config.rows, config.width
    shapes: list[tuple[str, tuple[int, ...], str]] = [
        ("last", (rows, d), dtype),  # the residual stream as it leaves the last block
        ("normed", (rows, d), dtype),
        ("mean", (rows,), "float32"),
        ("variance", (rows,), "float32"),
        ("logits", (rows, logit_stride(config)), dtype),  # and their gradient, in place
        ("losses", (rows,), "float32"),
        ("lse", (rows,), "float32"),
        ("count", (1,), "float32"),
    ]
    return [Buffer(name, shape, kind, "head") for name, shape, kind in shapes]


def logit_stride(config: Config) -> int:
    return -(-config.vocabulary // LOGIT_STEP) * LOGIT_STEP


def head_end(config: Config) -> int:
    """Where the head would end in the flat buffer with a row for each column of logits. Behind
    a tied head other weights follow, which may stand there; behind an untied one nothing does."""
    return head_start(config) + logit_stride(config) * config.width


def scratch(config: Config, dtype: str) -> list[Buffer]:
    """Used and used again inside a step: nothing in it outlives the operator after next."""
    rows, d = config.rows, config.width
    shapes: list[tuple[str, tuple[int, ...], str]] = [
        ("delta", (rows, d), dtype),  # what a sub-layer adds to the stream; and its gradient
        ("a", (rows, config.hidden), dtype),
        ("dh", (rows, config.hidden), dtype),
        ("dx", (rows, d), dtype),  # the residual stream's gradient, in two buffers by turns
        ("dy", (rows, d), dtype),
        ("dnormed", (rows, d), dtype),
        ("do", (rows, d), dtype),
        ("dqkv", (3, rows, d), dtype),
        ("attention_scratch", (config.batch * config.heads, config.context), "float32"),
        ("norm_scratch", (norm_programs(config), 2, d), "float32"),
        ("norm_partials", (PARTIALS,), "float32"),
    ]
    return [Buffer(name, shape, kind, "scratch") for name, shape, kind in shapes]


def decoder(config: Config) -> list[Buffer]:
    """What writing a sample needs: one row of everything, and the keys and values of the past."""
    d, heads, window = config.width, config.heads, min(config.context, SAMPLE_TOKENS + 1)
    past = (config.layers, heads, window, config.head_width)
    shapes: list[tuple[str, tuple[int, ...]]] = [
        ("keys", past),
        ("values", past),
        ("rows", (3, 1, d)),
        ("qkv", (3, 1, d)),
        ("o", (heads, 1, config.head_width)),
        ("hidden", (2, 1, config.hidden)),
        ("scores", (2, heads, 1, window)),
        ("past", (window,)),
        ("stats", (2, 1, 1)),
        ("logits", (1, min(TOKENS, config.vocabulary))),
    ]
    return [Buffer(f"decoder.{name}", shape, "float32", "samples") for name, shape in shapes]


def norm_programs(config: Config) -> int:
    """The most programs that LayerNorm's backward pass uses: each has a zone of its own."""
    lanes = max(16, 1 << (config.width - 1).bit_length())
    taught = -(-config.rows // max(1, 4096 // lanes))
    persistent = min(-(-config.rows // max(1, 1024 // lanes)), MOST_PERSISTENT)
    return max(taught, persistent)


def aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def require_room(needed: Plan, free: int, beside: int = 0) -> None:
    """Refuse a plan that `free` bytes cannot hold, in one sentence. Raises MemoryRefused."""
    total = needed.bytes + beside
    if total <= free:
        return
    owner, largest = max(needed.by_owner().items(), key=lambda pair: pair[1])
    raise MemoryRefused(
        f"batch: the plan needs {shown(total)} and {shown(free)} are free (the largest part, "
        f"{owner}, takes {shown(largest)}); accepted: a smaller batch (with more micro_batches "
        "it learns the same), context, width or vocabulary."
    )


def shown(size: int) -> str:
    """Decimal units, as the course counts: 1 MB is 1,000,000 bytes."""
    for unit, scale in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= scale:
            return f"{size / scale:.2f} {unit}"
    return f"{size} B"
