"""The problems of the operators made of matrix products: projections, attention, the MLP."""

import math
from types import ModuleType

import torch

from kernels.andrea.operators import attn as attn_oracle
from kernels.andrea.operators import attn_out as attn_out_oracle
from kernels.andrea.operators import attn_qkv as attn_qkv_oracle
from kernels.andrea.operators import logits as logits_oracle
from kernels.andrea.operators import mlp as mlp_oracle
from kernels.procedures.andrea.bench import Bench, exact
from kernels.procedures.andrea.checks_declared import Shape


def attn_qkv(bench: Bench, operator: ModuleType, shape: Shape) -> None:
    rows, width = shape.sizes
    x = bench.given("x", rows, width)
    w = bench.given("w", 3, width, width, spread=width**-0.5)
    qkv = bench.empty("qkv", 3, rows, width)
    operator.PAIR.forward(x, w, qkv)
    bench.expect("qkv", attn_qkv_oracle.reference_forward(*exact(x, w)))

    dqkv = bench.given("dqkv", 3, rows, width, spread=rows**-0.5)
    dx, dw = bench.empty("dx", rows, width), bench.sum("dw", 3, width, width)
    operator.PAIR.backward(dqkv, x, w, dx, dw)
    due_dx, due_dw = attn_qkv_oracle.reference_backward(*exact(dqkv, x, w))
    bench.expect("dx", due_dx)
    bench.suspect("dx", "only-q", exact(dqkv)[0][0] @ exact(w)[0][0].T)
    bench.expect("dw", due_dw)


def attn(bench: Bench, operator: ModuleType, shape: Shape) -> None:
    batch, length, heads, head = shape.sizes
    rows, width = batch * length, heads * head
    spread = 8.0 if shape.special == "large-scores" else 1.0
    # One buffer, rows 3 d apart, as the projection before it may leave them.
    qkv = bench.holds("qkv", bench.normal(rows, 3, width) * torch.tensor([[[spread], [1], [1]]]))
    q, k, v = qkv.unbind(1)
    o, lse = bench.empty("o", rows, width), bench.number("lse", batch * heads, length)
    operator.PAIR.forward(q, k, v, o, lse, heads)
    q64, k64, v64 = exact(q, k, v)
    due_o, due_lse = attn_oracle.reference_forward(q64, k64, v64, heads, length)
    bench.expect("o", due_o)
    bench.expect("lse", due_lse)
    attn_suspects(bench, q64, k64, v64, heads, length)

    # Where P is near 1, dP - delta cancels and leaves the rounding of the saved O, times Q.
    do = bench.given("do", rows, width, spread=1 / spread)
    saved_o = bench.holds("saved o", due_o)
    saved_lse = bench.holds("saved lse", due_lse, torch.float32)
    scratch = bench.number("scratch", batch * heads, length)
    dq, dk, dv = (bench.empty(name, rows, width) for name in ("dq", "dk", "dv"))
    operator.PAIR.backward(do, q, k, v, saved_o, saved_lse, dq, dk, dv, scratch, heads)
    do64 = do.double()
    due = attn_oracle.reference_backward(do64, q64, k64, v64, heads, length)
    for name, gradient in zip(("dq", "dk", "dv"), due, strict=True):
        bench.expect(name, gradient)
    for name, gradient in zip(("dq", "dk"), due[:2], strict=True):
        bench.suspect(name, "no-scale", gradient * math.sqrt(head))
    no_row_sum(bench, do64, q64, k64, v64, heads, length)


def attn_suspects(
    bench: Bench, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, heads: int, length: int
) -> None:
    qs, ks, vs = (attn_oracle.split(side, heads, length) for side in (q, k, v))
    score = qs @ ks.transpose(-1, -2)
    unmasked = (score / math.sqrt(qs.shape[-1])).softmax(dim=-1)
    bench.suspect("o", "not-causal", attn_oracle.join(unmasked @ vs))
    unscaled = attn_oracle.reference_forward(q * math.sqrt(qs.shape[-1]), k, v, heads, length)
    bench.suspect("o", "no-scale", unscaled[0])
    bench.suspect("lse", "no-scale", unscaled[1])


def no_row_sum(
    bench: Bench,
    do: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    heads: int,
    length: int,
) -> None:
    weights, _ = attn_oracle.reference_weights(q, k, heads, length)
    dos, ks, vs = (attn_oracle.split(side, heads, length) for side in (do, k, v))
    ds = weights * (dos @ vs.transpose(-1, -2)) / math.sqrt(ks.shape[-1])
    bench.suspect("dq", "no-row-sum", attn_oracle.join(ds @ ks))


def attn_out(bench: Bench, operator: ModuleType, shape: Shape) -> None:
    rows, width = shape.sizes
    o, w = bench.given("o", rows, width), bench.given("w", width, width, spread=width**-0.5)
    y = bench.empty("y", rows, width)
    operator.PAIR.forward(o, w, y)
    bench.expect("y", attn_out_oracle.reference_forward(*exact(o, w)))
    bench.suspect("y", "transposed", exact(o)[0] @ exact(w)[0].T)

    dy = bench.given("dy", rows, width, spread=rows**-0.5)
    do, dw = bench.empty("do", rows, width), bench.sum("dw", width, width)
    operator.PAIR.backward(dy, o, w, do, dw)
    due_do, due_dw = attn_out_oracle.reference_backward(*exact(dy, o, w))
    bench.expect("do", due_do)
    bench.suspect("do", "transposed", exact(dy)[0] @ exact(w)[0])
    bench.expect("dw", due_dw)


def mlp(bench: Bench, operator: ModuleType, shape: Shape) -> None:
    rows, width = shape.sizes
    hidden = 4 * width
    spread = 40.0 if shape.special == "saturated" else 1.0  # |h| up to 150
    x = bench.given("x", rows, width, spread=spread)
    w_1 = bench.given("w_1", width, hidden, spread=width**-0.5)
    w_2 = bench.given("w_2", hidden, width, spread=hidden**-0.5 / spread)
    h, a, y = (
        bench.empty(name, rows, columns)
        for name, columns in (("h", hidden), ("a", hidden), ("y", width))
    )
    operator.PAIR.forward(x, w_1, w_2, h, a, y)
    due_y, due_h = mlp_oracle.reference_forward(*exact(x, w_1, w_2))
    bench.expect("h", due_h)
    bench.suspect("h", "activation-saved", mlp_oracle.reference_gelu(due_h))
    bench.expect("y", due_y)
    bench.suspect("y", "no-gelu", due_h @ exact(w_2)[0])
    if not y.isfinite().all() and float(due_h.abs().max()) > 11:
        bench.sign("y", "tanh-overflows", largest=float(due_h.abs().max()))

    dy = bench.given("dy", rows, width, spread=rows**-0.5 / spread)
    saved = bench.holds("saved h", due_h)
    a, dh = bench.empty("a", rows, hidden), bench.empty("dh", rows, hidden)
    dx = bench.empty("dx", rows, width)
    dw_1, dw_2 = bench.sum("dw_1", width, hidden), bench.sum("dw_2", hidden, width)
    operator.PAIR.backward(dy, x, saved, w_1, w_2, dx, dw_1, dw_2, a, dh)
    due_dx, due_dw_1, due_dw_2 = mlp_oracle.reference_backward(*exact(dy, x, w_1, w_2))
    bench.expect("dx", due_dx)
    slopeless = exact(dy)[0] @ exact(w_2)[0].T
    bench.suspect("dx", "no-slope", slopeless @ exact(w_1)[0].T)
    bench.expect("dw_1", due_dw_1)
    bench.suspect("dw_1", "no-slope", exact(x)[0].T @ slopeless)
    bench.expect("dw_2", due_dw_2)
    bench.suspect("dw_2", "no-gelu", due_h.T @ exact(dy)[0])


def logits(bench: Bench, operator: ModuleType, shape: Shape) -> None:
    rows, width, vocabulary = shape.sizes
    x, e = bench.given("x", rows, width), bench.given("e", vocabulary, width, spread=width**-0.5)
    # Rows further apart than V elements, so that each starts on a 16-byte boundary.
    padded = bench.empty("padded", rows, -(-vocabulary // 8) * 8)
    made = padded[:, :vocabulary]
    operator.PAIR.forward(x, e, made)
    bench.outputs["logits"] = bench.guard(made, bench.dtype)
    bench.expect("logits", logits_oracle.reference_forward(*exact(x, e)))

    dlogits = bench.given("dlogits", rows, vocabulary, spread=vocabulary**-0.5)
    dx, de = bench.empty("dx", rows, width), bench.sum("de", vocabulary, width)
    operator.PAIR.backward(dlogits, x, e, dx, de)
    due_dx, due_de = logits_oracle.reference_backward(*exact(dlogits, x, e))
    bench.expect("dx", due_dx)
    bench.expect("de", due_de)
