"""What each check does with an operator: its inputs, its launches, what was due, what to suspect.

A problem is a function of a `Bench`, the operator's module (a version, or a mutant of the first)
and a `Shape`. Backward passes start from the oracle's saved tensors, so that a fault of the
forward pass can neither hide nor be blamed on them.
"""

from types import ModuleType

import torch

from kernels.andrea.operators import embed as embed_oracle
from kernels.andrea.operators import layernorm as layernorm_oracle
from kernels.andrea.operators import tiles
from kernels.events import Note
from kernels.procedures.andrea.bench import Bench, exact
from kernels.procedures.andrea.checks_declared import Shape


def embed(bench: Bench, operator: ModuleType, shape: Shape) -> None:
    batch, length, width, vocabulary = shape.sizes
    ids = torch.randint(0, vocabulary, (batch, length), generator=bench.source)
    if shape.special == "one-token":
        ids[:] = 7  # repeated ids add up; every other row keeps its exact zero
    tokens = bench.holds("ids", ids, torch.int32)
    wte, wpe = bench.given("wte", vocabulary, width), bench.given("wpe", length + 3, width)
    out = bench.empty("out", batch * length, width)
    operator.PAIR.forward(tokens, wte, wpe, out)
    forward = embed_oracle.reference_forward(tokens, *exact(wte, wpe))
    bench.expect("out", forward)
    bench.suspect("out", "no-position", forward - exact(wpe)[0][:length].repeat(batch, 1))

    dout = bench.given("dout", batch * length, width)
    order, first = embed_oracle.segments(ids, vocabulary)
    sorted_places = bench.holds("order", order, torch.int32)
    bounds = bench.holds("first", first, torch.int32)
    dwte, dwpe = bench.sum("dwte", vocabulary, width), bench.sum("dwpe", length, width)
    operator.PAIR.backward(dout, sorted_places, bounds, dwte, dwpe, length)
    tokens_due, positions_due = embed_oracle.reference_backward(exact(dout)[0], tokens, vocabulary)
    bench.expect("dwte", tokens_due)
    there = (bounds[1:] > bounds[:-1])[:, None]  # a token that does not occur is not touched
    due = bench.due["dwte"]
    due.last = torch.where(there, tokens_due, due.expected)
    bench.expect("dwpe", positions_due)
    bench.suspect("dwpe", "mean-not-sum", positions_due / batch, rows=batch)


def layernorm(bench: Bench, operator: ModuleType, shape: Shape) -> None:
    rows, width = shape.sizes
    values = bench.normal(rows, width)
    if shape.special == "large-mean":
        values = 100 + values  # in BF16 the steps near 100 are 0.5: several values remain
    if shape.special == "row-of-zeros":
        values[0] = 0
    x = bench.holds("x", values)
    gamma, beta = bench.given("gamma", width), bench.given("beta", width)
    y = bench.empty("y", rows, width)
    mean, variance = bench.number("mean", rows), bench.number("variance", rows)
    operator.PAIR.forward(x, gamma, beta, y, mean, variance, layernorm_oracle.EPS)
    due_y, due_mean, due_variance = layernorm_oracle.reference_forward(*exact(x, gamma, beta))
    bench.expect("y", due_y)
    bench.expect("mean", due_mean, dtype=torch.float32)
    bench.expect("variance", due_variance)
    lanes = 1 << (max(width, 16) - 1).bit_length()
    bench.suspect("variance", "variance-cancelled", one_pass(x))
    share = width / lanes  # the mean is taken twice, so the mistake is made twice
    wrong = due_mean * share * (2 - share)
    bench.suspect("mean", "mean-by-block", wrong, block=lanes, columns=width)

    dy = bench.given("dy", rows, width, spread=rows**-0.5)
    stream = bench.normal(rows, width)  # the gradient that came along the residual stream
    dx = bench.changes("dx", stream)
    before = dx.double()
    dgamma, dbeta = bench.sum("dgamma", width), bench.sum("dbeta", width)
    scratch = bench.number("scratch", *operator.scratch(rows, width, bench.device))
    operator.PAIR.backward(
        dy, x, gamma, due_mean.float(), due_variance.float(), dx, dgamma, dbeta, scratch,
        layernorm_oracle.EPS, True,
    )  # fmt: skip
    due_dx, due_dgamma, due_dbeta = layernorm_oracle.reference_backward(*exact(dy, x, gamma))
    bench.expect("dx", before + due_dx)
    bench.suspect("dx", "skip-lost", due_dx)
    for name, due in (("dgamma", due_dgamma), ("dbeta", due_dbeta)):
        bench.expect(name, due)
        if rows > 1:
            bench.suspect(name, "mean-not-sum", due / rows, rows=rows)
    first = first_zones(operator, rows, width, bench.device)
    bench.suspect(
        "dgamma",
        "first-tile-only",
        layernorm_oracle.reference_backward(*exact(dy[:first], x[:first], gamma))[1],
        size=first,
    )

    alone = bench.changes("dx alone", stream)
    throwaway = bench.number("dgamma alone", width), bench.number("dbeta alone", width)
    operator.PAIR.backward(
        dy, x, gamma, due_mean.float(), due_variance.float(), alone, *throwaway, scratch,
        layernorm_oracle.EPS, False,
    )  # fmt: skip
    bench.also("dx", alone, due_dx).suspects["accumulates-anyway"] = (
        Note("why.accumulates-anyway"),
        before + due_dx,
    )
    if hasattr(operator, "forward_residual"):
        with_residual(bench, operator, x, gamma, beta)


def first_zones(operator: ModuleType, rows: int, width: int, device: torch.device) -> int:
    """The rows whose shares of dgamma and dbeta the second kernel adds in its first turn."""
    programs = operator.scratch(rows, width, device)[0]
    zones = layernorm_oracle.zones_at_once(programs, layernorm_oracle.ZONES)
    return min(rows, zones * tiles.rows(rows, width, device))


def with_residual(
    bench: Bench, operator: ModuleType, x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor
) -> None:
    """The sum of a residual connection and the LayerNorm of it, in one launch."""
    rows, width = x.shape
    delta, out = bench.given("delta", rows, width), bench.empty("out", rows, width)
    y = bench.empty("y behind a sum", rows, width)
    mean = bench.number("mean behind a sum", rows)
    variance = bench.number("variance behind a sum", rows)
    operator.forward_residual(x, delta, out, gamma, beta, y, mean, variance, layernorm_oracle.EPS)
    due_out = x.double() + delta.double()
    # The norm is that of the sum as it was rounded, which the backward pass will read.
    due_y, due_mean, due_variance = layernorm_oracle.reference_forward(*exact(out, gamma, beta))
    bench.also("y", torch.cat([y, out], dim=1), torch.cat([due_y, due_out], dim=1))
    bench.also("mean", mean, due_mean)
    bench.also("variance", variance, due_variance)


def one_pass(x: torch.Tensor) -> torch.Tensor:
    """E[x^2] - E[x]^2 in FP32: two large numbers, whose difference is mostly rounding."""
    x = x.float()
    return (x.square().mean(dim=-1) - x.mean(dim=-1).square()).clamp(min=0)


def residual(bench: Bench, operator: ModuleType, shape: Shape) -> None:
    x, delta = bench.given("x", *shape.sizes), bench.given("delta", *shape.sizes)
    y = bench.empty("y", *shape.sizes)
    operator.PAIR.forward(x, delta, y)
    bench.expect("y", x.double() + delta.double())
    bench.suspect("y", "skip-lost", delta)

    dy = bench.given("dy", *shape.sizes)
    dx = bench.changes("dx", bench.normal(*shape.sizes))
    before = dx.double()
    ddelta = bench.empty("ddelta", *shape.sizes)
    operator.PAIR.backward(dy, dx, ddelta)
    bench.expect("dx", before + dy.double())
    bench.suspect("dx", "skip-lost", dy)
    bench.expect("ddelta", dy.double())
