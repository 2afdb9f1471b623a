"""Every operator of a training step, as data: its kernels, its file, its check, what it saves.

A launcher takes tensors that exist already and allocates nothing (version 1 and everything on a
GPU). R is the number of tokens of a micro-batch (batch x length), d the width, V the vocabulary.
Activations (and the working copies of weights) share one dtype, FP32, FP16 or BF16; weight
gradients, statistics, losses and the optimizer's state are FP32. Last dimensions are contiguous.
`+=` marks what accumulates; everything else is overwritten.

embed        forward(ids[B, T] int32, wte[V, d], wpe[>=T, d], out[R, d])
             backward(dout, order[R] int32, first[V + 1] int32, dwte +=, dwpe +=, length)
             embed.segments(ids, vocabulary) -> (order, first), prepared with the batch
layernorm    forward(x[R, d], gamma, beta, y, mean[R], variance[R], eps)
             backward(dy, x, gamma, mean, variance, dx, dgamma +=, dbeta +=, scratch, eps,
                      accumulate=False)         accumulate: dx += (the residual stream's gradient)
             scratch: FP32, of the shape that the version's module says, scratch(R, d, device)
             version 2 only: layernorm_fast.backward_rows(dy, x, gamma, mean, variance, dx, zones,
             eps, accumulate) leaves dgamma and dbeta in zones; add_up_all(...) sums every norm's
residual     forward(x, delta, out); backward(dy, dx +=, ddelta)
             with a LayerNorm behind it, in one launch (version 2 only):
             layernorm_fast.forward_residual(x, delta, out, gamma, beta, y, mean, variance, eps)
attn_qkv     forward(x[R, d], w[3, d, d], qkv[3, R, d])
             backward(dqkv[3, R, d], x, w, dx, dw[3, d, d] +=)
             w, qkv, dqkv and dw may be views: [d, 3, d] or [R, 3, d] with the first two
             dimensions swapped is one matrix of 3 d columns, and is then multiplied at once.
attn         forward(q[R, d], k, v, o[R, d], lse[B * heads, T], heads)
             backward(do, q, k, v, o, lse, dq, dk, dv, scratch[B * heads, T] FP32, heads)
             rows of q, k, v and their gradients may be strided (views of qkv).
attn_out     forward(o[R, d], w[d, d], y[R, d]); backward(dy, o, w, do, dw +=)
mlp          forward(x[R, d], w_1[d, f], w_2[f, d], h[R, f], a[R, f], y[R, d])
             backward(dy, x, h, w_1, w_2, dx, dw_1 +=, dw_2 +=, a, dh)
             h is saved; a and dh are scratch: the backward pass computes GELU(h) again.
logits       forward(x[R, d], e[V, d], logits[R, V]); backward(dlogits, x, e, dx, de +=)
             rows of logits may be strided, so that they can start on 16-byte boundaries; version 2
             takes an e with rows behind the vocabulary's, and logits as wide.
loss         count(targets[R] int32, count[1])           targets of -1 are ignored
             forward(logits[R, V], targets, count[1], losses[R], lse[R], loss[1])
             backward(logits -> dlogits in place, targets, count, lse, upstream[1 or R])
             loss_fast.forward_backward(logits -> dlogits, targets, count, upstream, losses, loss)
             (version 2 only: each row is read from memory once)
grad_norm    partial(flat, partials[grad_norm.programs(flat)])
             final(partials, scale[1], clip, result[4]): norm x scale, factor, finite, skipped +=
             scale(flat, factor[1])                     factor 1 leaves every bit as it is
             result is FP32: [NORM, FACTOR, FINITE, SKIPPED]. scale is 1/n, or 1 where the
             gradients are scaled already; factor is scale x min(1, clip / norm), 0 if not finite.
adamw        step(weights, grads, m, v, chunks, schedule[3], result[4], beta1, beta2, epsilon,
                  decay, working=None)
             schedule: learning rate, 1/(1 - beta1^t), 1/(1 - beta2^t). Gradients are multiplied
             by result[FACTOR] (pass IDENTITY where they are scaled already) and set to zero;
             with result[FINITE] = 0 only that. working takes the weights in the working dtype.
             adamw.chunks(runs, device), runs = [(start, end, decays), ...] over the flat buffer
casts        cast(source, target) any contiguous shape; pack(w[3, d, d], packed[d, 3, d]), or with
             [layers] before both; zero(flat): zero_grads
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True)
class Operator:
    """One row of the table. `saved` is what the backward pass takes of the forward pass, by the
    names of its arguments; `faster` are version 2's kernels forward and backward, no matter which
    products go to cuBLAS beside them."""

    name: str
    forward: tuple[str, ...]  # version 1's kernels, in the order of their launches
    backward: tuple[str, ...]
    saved: tuple[str, ...] = ()
    versions: tuple[int, ...] = (1,)
    weights: tuple[str, ...] = ()  # whose gradients the backward pass adds up
    faster: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    def kernels(self, direction: str, version: int) -> tuple[str, ...]:
        """The Triton kernels that `pair(name, version)` starts, in order."""
        if version > 1 and len(self.versions) > 1:
            return self.faster[direction == "backward"]
        return self.forward if direction == "forward" else self.backward

    @property
    def module(self) -> str:
        return f"{__name__}.{self.name}"

    @property
    def check(self) -> str:
        return f"andrea.check-{self.name.replace('_', '-')}"


@dataclass(frozen=True)
class Pair:
    """One version of an operator: launchers with the signatures above."""

    forward: Callable[..., None]
    backward: Callable[..., None]


TABLE = (
    Operator(
        "embed",
        ("k_embed_fwd",),
        ("k_embed_bwd",),
        ("order", "first"),  # made from ids, which get no gradient
        (1, 2),
        ("wte", "wpe"),
        (("k_embed_fwd",), ("k_embed_bwd_tokens", "k_embed_bwd_positions")),
    ),
    Operator(
        "layernorm",
        ("k_layernorm_fwd",),
        ("k_layernorm_bwd", "k_layernorm_sum"),
        ("x", "mean", "variance"),
        (1, 2),
        ("gamma", "beta"),
        (("k_layernorm_fwd",), ("k_layernorm_bwd_rows", "k_layernorm_sum")),
    ),
    Operator(
        "attn_qkv", ("k_attn_qkv_fwd",), ("k_attn_qkv_bwd",), ("x",), (1, 2), ("w_q", "w_k", "w_v")
    ),
    Operator(
        "attn",
        ("k_attn_fwd",),
        ("k_attn_bwd",),
        ("q", "k", "v", "o", "lse"),
        (1, 2),
        faster=(("k_attn_fwd_split",), ("k_attn_bwd_dq", "k_attn_bwd_dkv")),
    ),
    Operator("attn_out", ("k_attn_out_fwd",), ("k_attn_out_bwd",), ("o",), (1, 2), ("w_o",)),
    Operator(
        "mlp",
        ("k_mlp_fwd", "k_mlp_fwd"),
        ("k_mlp_bwd", "k_mlp_bwd"),
        ("x", "h"),
        (1, 2),
        ("w_1", "w_2"),
        (("k_gelu",), ("k_gelu_bwd",)),
    ),
    Operator("residual", ("k_residual_add",), ("k_residual_add_bwd",)),
    Operator("logits", ("k_logits_fwd",), ("k_logits_bwd",), ("x",), (1, 2), ("wte",)),
    Operator(  # version 2's forward_backward saves nothing: it does both at once
        "loss",
        ("k_loss_fwd", "k_loss_mean"),
        ("k_loss_bwd",),
        ("logits", "targets", "count", "lse"),
        (1, 2),
        faster=(("k_loss_fwd_online", "k_loss_mean"), ("k_loss_bwd",)),
    ),
)
BY_NAME = {operator.name: operator for operator in TABLE}


def pair(name: str, version: int) -> Pair:
    """The operator's newest version up to `version`; imports its file, and so torch."""
    operator = BY_NAME[name]
    newest = max(number for number in operator.versions if number <= version)
    module = import_module(operator.module if newest == 1 else f"{operator.module}_fast")
    made: Pair = module.PAIR
    return made
