"""The problems of the operators made of matrix products: projections, the MLP, the logits."""

from types import ModuleType

import torch

from kernels.andrea.operators import attn_out as attn_out_oracle
from kernels.andrea.operators import attn_qkv as attn_qkv_oracle
from kernels.andrea.operators import logits as logits_oracle
from kernels.andrea.operators import logits_fast, tiles
from kernels.andrea.operators import mlp as mlp_oracle
from kernels.procedures.andrea.bench import Bench, exact
from kernels.procedures.andrea.checks_declared import Shape

Tensor = torch.Tensor


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
    side_by_side(bench, operator, x, w, dqkv)


def side_by_side(bench: Bench, operator: ModuleType, x: Tensor, w: Tensor, dqkv: Tensor) -> None:
    """Once more with the three side by side in memory, as a step has them in version 2."""
    rows, width = x.shape
    packed = bench.holds("w beside", w.transpose(0, 1)).transpose(0, 1)
    qkv = bench.empty("qkv beside", rows, 3, width).transpose(0, 1)
    operator.PAIR.forward(x, packed, qkv)
    bench.also("qkv", qkv, bench.due["qkv"].expected)
    upstream = bench.holds("dqkv beside", dqkv.transpose(0, 1)).transpose(0, 1)
    dx = bench.empty("dx beside", rows, width)
    dw = bench.changes("dw beside", torch.zeros(3, width, width), torch.float32)
    operator.PAIR.backward(upstream, x, packed, dx, dw)
    due_dx, due_dw = attn_qkv_oracle.reference_backward(*exact(dqkv, x, w))
    bench.also("dx", dx, due_dx)
    bench.also("dw", dw, due_dw)


def attn_out(bench: Bench, operator: ModuleType, shape: Shape) -> None:
    rows, width = shape.sizes
    o, w = bench.given("o", rows, width), bench.given("w", width, width, spread=width**-0.5)
    y = bench.empty("y", rows, width)
    operator.PAIR.forward(o, w, y)
    bench.expect("y", attn_out_oracle.reference_forward(*exact(o, w)))
    bench.suspect("y", "transposed", exact(o)[0] @ exact(w)[0].T)
    depth = tiles.product(rows, width, width, o.dtype, o.device).depth
    first = exact(o[:, :depth])[0] @ exact(w[:depth])[0]
    bench.suspect("y", "first-depth-only", first, size=depth)

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
    bench.expect("dx", due_dx, spread**-2)
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
    if operator is logits_fast:
        wider(bench, x, e, dlogits)


def wider(bench: Bench, x: Tensor, e: Tensor, dlogits: Tensor) -> None:
    """Once more with rows of E behind the vocabulary and logits as wide, as a step in 16 bits."""
    rows, width = x.shape
    behind = 64 - len(e) % 64
    longer = bench.holds("e wider", torch.cat([e.cpu(), torch.ones(behind, width, dtype=e.dtype)]))
    made = bench.empty("logits wider", rows, len(longer))
    logits_fast.forward(x, longer, made)
    bench.also("logits", made, logits_oracle.reference_forward(*exact(x, longer)))
    nothing = torch.zeros(rows, behind, dtype=e.dtype)
    upstream = bench.holds("dlogits wider", torch.cat([dlogits.cpu(), nothing], dim=1))
    dx = bench.empty("dx wider", rows, width)
    de = bench.changes("de wider", torch.zeros(len(e), width), torch.float32)
    logits_fast.backward(upstream, x, longer, dx, de)
    due_dx, due_de = logits_oracle.reference_backward(*exact(dlogits, x, e))
    bench.also("dx", dx, due_dx)
    bench.also("de", de, due_de)
