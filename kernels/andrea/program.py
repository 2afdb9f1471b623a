"""A step as two lists of launches, made once: what runs forward and what runs backward.

Every launch knows its tensors from the start, so running a step computes no shapes, looks
nothing up and allocates nothing. The backward list undoes the forward list from its end.

The residual stream's gradient lies in two buffers by turns. For each half of a block, from the
gradient dy of the half's output: dx = dy along the skip branch and delta = dy into the
sub-layer (k_residual_add_bwd); the sub-layer's backward pass gives the gradient of its
LayerNorm's output; LayerNorm's backward pass adds its share to dx, which is the next dy.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import torch

from kernels.andrea.arena import Arena
from kernels.andrea.config import Config
from kernels.andrea.layout import layout
from kernels.andrea.operators import BY_NAME, casts, loss, pair

Tensor = torch.Tensor


@dataclass(frozen=True)
class Launch:
    """One call of a launcher. `kernels` are the Triton kernels it starts, in order: none where all
    is cuBLAS's."""

    operator: str
    direction: str  # forward, backward or utility
    layer: int | None
    kernels: tuple[str, ...]
    call: partial[None]


@dataclass(frozen=True)
class Views:
    """The buffers of an engine, cut into the tensors that operators take."""

    config: Config
    arena: Arena
    weights: dict[str, Tensor]  # in the working dtype
    masters: dict[str, Tensor]
    gradients: dict[str, Tensor]

    def saved(self, layer: int, name: str) -> Tensor:
        return self.arena[f"h{layer}.{name}"]

    def stream(self, layer: int) -> Tensor:
        """The residual stream before block `layer`, or after the last one."""
        return self.arena["last"] if layer == self.config.layers else self.saved(layer, "x")

    @property
    def logits(self) -> Tensor:
        return self.arena["logits"][:, : self.config.vocabulary]

    @property
    def head(self) -> str:
        return "wte" if self.config.tied else "head"


def views(config: Config, arena: Arena) -> Views:
    masters = arena["weights"]
    working = arena.buffers.get("working", masters)
    return Views(
        config, arena, cut(config, working), cut(config, masters), cut(config, arena["gradients"])
    )


def cut(config: Config, flat: Tensor) -> dict[str, Tensor]:
    """The flat buffer's weights by name, and each layer's w_q, w_k, w_v as one `w_qkv`."""
    found = {}
    for slot in layout(config):
        found[slot.name] = flat[slot.offset : slot.offset + slot.count].view(slot.shape)
        if slot.name.endswith(".w_q"):
            stacked = flat[slot.offset : slot.offset + 3 * slot.count]
            found[slot.name.replace("w_q", "w_qkv")] = stacked.view(3, *slot.shape)
    return found


def stacked(config: Config, weights: dict[str, Tensor]) -> Tensor:
    """w_qkv of all layers [layers, 3, d, d]: the layers lie apart, what is in one does not."""
    first, last = weights["h0.w_qkv"], weights[f"h{config.layers - 1}.w_qkv"]
    apart = last.storage_offset() - first.storage_offset()
    stride = apart // max(1, config.layers - 1)
    return first.as_strided((config.layers, *first.shape), (stride, *first.stride()))


class Program:
    """The launches of micro-batch number `index`, as taught."""

    version = 1

    def __init__(self, views: Views, index: int) -> None:
        self.v = views
        arena = views.arena
        self.ids, self.targets = arena["ids"][index], arena["targets"][index]
        self.order, self.first = arena["order"][index], arena["first"][index]
        self.loss = arena["report"][index : index + 1]
        self.dx, self.dy = arena["dx"], arena["dy"]
        self.forward = list(self.build_forward())
        self.backward = list(self.build_backward())

    def ahead(self, name: str, layer: int | None, *tensors: object) -> Launch:
        kernels = BY_NAME[name].kernels("forward", self.version)
        call = partial(pair(name, self.version).forward, *tensors)
        return Launch(name, "forward", layer, kernels, call)

    def back(self, name: str, layer: int | None, *tensors: object) -> Launch:
        kernels = BY_NAME[name].kernels("backward", self.version)
        call = partial(pair(name, self.version).backward, *tensors)
        return Launch(name, "backward", layer, kernels, call)

    def build_forward(self) -> Iterator[Launch]:
        v, config = self.v, self.v.config
        w, arena = v.weights, v.arena
        yield self.ahead("embed", None, self.ids, w["wte"], w["wpe"], v.stream(0))
        for i in range(config.layers):
            yield from self.attention_forward(i)
            yield from self.mlp_forward(i)
        yield self.norm_forward("lnf", None, v.stream(config.layers), "normed", "mean", "variance")
        yield self.ahead("logits", None, arena["normed"], w[v.head], v.logits)
        count, losses, lse = arena["count"], arena["losses"], arena["lse"]
        yield Launch(
            "loss", "utility", None, ("k_loss_count",), partial(loss.count, self.targets, count)
        )
        yield self.ahead("loss", None, v.logits, self.targets, count, losses, lse, self.loss)

    def norm_forward(self, name: str, layer: int | None, x: Tensor, *outputs: str) -> Launch:
        v = self.v
        prefix = "" if layer is None else f"h{layer}."
        gamma, beta = v.masters[f"{prefix}{name}.gamma"], v.masters[f"{prefix}{name}.beta"]
        made = [v.arena[prefix + output] for output in outputs]
        return self.ahead("layernorm", layer, x, gamma, beta, *made, v.config.layernorm_epsilon)

    def attention_forward(self, i: int) -> Iterator[Launch]:
        v = self.v
        x, middle, delta = v.saved(i, "x"), v.saved(i, "middle"), v.arena["delta"]
        normed, qkv, o, lse = (v.saved(i, name) for name in ("normed1", "qkv", "o", "lse"))
        yield self.norm_forward("ln1", i, x, "normed1", "mean1", "variance1")
        yield self.ahead("attn_qkv", i, normed, v.weights[f"h{i}.w_qkv"], qkv)
        yield self.ahead("attn", i, *qkv, o, lse, v.config.heads)
        yield self.ahead("attn_out", i, o, v.weights[f"h{i}.w_o"], delta)
        yield self.ahead("residual", i, x, delta, middle)

    def mlp_forward(self, i: int) -> Iterator[Launch]:
        v = self.v
        middle, normed, h = (v.saved(i, name) for name in ("middle", "normed2", "h"))
        a, delta = v.arena["a"], v.arena["delta"]
        w_1, w_2 = v.weights[f"h{i}.w_1"], v.weights[f"h{i}.w_2"]
        yield self.norm_forward("ln2", i, middle, "normed2", "mean2", "variance2")
        yield self.ahead("mlp", i, normed, w_1, w_2, h, a, delta)
        yield self.ahead("residual", i, middle, delta, v.stream(i + 1))

    def build_backward(self) -> Iterator[Launch]:
        v, config, arena, g = self.v, self.v.config, self.v.arena, self.v.gradients
        count, lse, upstream = arena["count"], arena["lse"], arena["loss_scale"][:1]
        yield self.back("loss", None, v.logits, self.targets, count, lse, upstream)
        normed, head, dnormed = arena["normed"], v.weights[v.head], arena["dnormed"]
        yield self.back("logits", None, v.logits, normed, head, dnormed, g[v.head])
        last, kept = v.stream(config.layers), ("mean", "variance")
        yield self.norm_backward("lnf", None, last, self.dy, kept, accumulate=False)
        for i in reversed(range(config.layers)):
            yield from self.mlp_backward(i)
            yield from self.attention_backward(i)
        segments = self.order, self.first
        yield self.back("embed", None, self.dy, *segments, g["wte"], g["wpe"], config.context)

    def norm_backward(
        self, name: str, layer: int | None, x: Tensor, dx: Tensor, saved: tuple[str, str],
        *, accumulate: bool,
    ) -> Launch:  # fmt: skip
        """The gradient of the norm's output is in `dnormed`, where a sub-layer left it."""
        v, arena, g = self.v, self.v.arena, self.v.gradients
        prefix = "" if layer is None else f"h{layer}."
        gamma, beta = f"{prefix}{name}.gamma", f"{prefix}{name}.beta"
        kept = [arena[prefix + buffer] for buffer in saved]
        return self.back(
            "layernorm", layer, arena["dnormed"], x, v.masters[gamma], *kept, dx,
            g[gamma], g[beta], arena["norm_scratch"], v.config.layernorm_epsilon, accumulate,
        )  # fmt: skip

    def branch(self, layer: int) -> Iterator[Launch]:
        """The stream's gradient goes on into dx and into the sub-layer, as delta."""
        yield Launch("zero", "utility", layer, ("k_zero",), partial(casts.zero, self.dx))
        yield self.back("residual", layer, self.dy, self.dx, self.v.arena["delta"])
        self.dx, self.dy = self.dy, self.dx

    @property
    def upstream(self) -> Tensor:
        """The gradient of what a sub-layer added to the stream."""
        return self.v.arena["delta"]

    def attention_tensors(self, i: int) -> tuple[Tensor, Tensor, Tensor]:
        """w_qkv, qkv and dqkv, each [3, ...]."""
        v = self.v
        return v.weights[f"h{i}.w_qkv"], v.saved(i, "qkv"), v.arena["dqkv"]

    def mlp_backward(self, i: int) -> Iterator[Launch]:
        v, arena, w, g = self.v, self.v.arena, self.v.weights, self.v.gradients
        middle, normed, h = (v.saved(i, name) for name in ("middle", "normed2", "h"))
        w_1, w_2 = f"h{i}.w_1", f"h{i}.w_2"
        yield from self.branch(i)
        yield self.back(
            "mlp", i, self.upstream, normed, h, w[w_1], w[w_2],
            arena["dnormed"], g[w_1], g[w_2], arena["a"], arena["dh"],
        )  # fmt: skip
        kept = ("mean2", "variance2")
        yield self.norm_backward("ln2", i, middle, self.dy, kept, accumulate=True)

    def attention_backward(self, i: int) -> Iterator[Launch]:
        v, arena, w, g = self.v, self.v.arena, self.v.weights, self.v.gradients
        x, normed, o, lse = (v.saved(i, name) for name in ("x", "normed1", "o", "lse"))
        w_qkv, qkv, dqkv = self.attention_tensors(i)
        do, dnormed, w_o = arena["do"], arena["dnormed"], f"h{i}.w_o"
        yield from self.branch(i)
        yield self.back("attn_out", i, self.upstream, o, w[w_o], do, g[w_o])
        scratch = arena["attention_scratch"]
        yield self.back("attn", i, do, *qkv, o, lse, *dqkv, scratch, v.config.heads)
        yield self.back("attn_qkv", i, dqkv, normed, w_qkv, dnormed, g[f"h{i}.w_qkv"])
        kept = ("mean1", "variance1")
        yield self.norm_backward("ln1", i, x, self.dy, kept, accumulate=True)
