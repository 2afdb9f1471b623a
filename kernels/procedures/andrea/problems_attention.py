"""The problem of attention, and what its known mistakes would give.

Some of them show only where a sequence takes several tiles, so their results go by the tiles in
force: see `kernels.andrea.operators.tiles.cut`.
"""

import math
from dataclasses import dataclass
from types import ModuleType

import torch

from kernels.andrea.operators import attn as oracle
from kernels.andrea.operators import tiles
from kernels.procedures.andrea.bench import Bench, exact
from kernels.procedures.andrea.checks_declared import Shape

Tensor = torch.Tensor
COMMON = 26.0  # its square over the root of 64 is 84.5


@dataclass(frozen=True)
class Inputs:
    """In float64, the three [B, heads, T, c]; version 1's tile."""

    q: Tensor
    k: Tensor
    v: Tensor
    tile: tiles.Reach

    @property
    def scale(self) -> float:
        return 1 / math.sqrt(self.q.shape[-1])

    @property
    def score(self) -> Tensor:
        """The future is not struck out."""
        return self.q @ self.k.transpose(-1, -2) * self.scale

    @property
    def query(self) -> Tensor:
        return torch.arange(self.q.shape[2], device=self.q.device)[:, None]

    @property
    def key(self) -> Tensor:
        return self.query.T


def attn(bench: Bench, operator: ModuleType, shape: Shape) -> None:
    batch, length, heads, head = shape.sizes
    rows, width = batch * length, heads * head
    large = shape.special == "large-scores"
    spread = 4.0 if large else 1.0
    # FP32 keeps a score of 100 to 1e-5, and its exponential to as much.
    scale = 4.0 if large and bench.dtype == torch.float32 else 1.0
    values = bench.normal(rows, 3, width) * torch.tensor([[[spread], [1], [1]]])
    if large:  # beyond 88, where exp overflows: q and k have a part
        values[:, :2, ::head] = COMMON  # in common
    # One buffer, rows 3 d apart, as the projection before it may leave them.
    q, k, v = bench.holds("qkv", values).unbind(1)
    o, lse = bench.empty("o", rows, width), bench.number("lse", batch * heads, length)
    operator.PAIR.forward(q, k, v, o, lse, heads)
    q64, k64, v64 = exact(q, k, v)
    due_o, due_lse = oracle.reference_forward(q64, k64, v64, heads, length)
    bench.expect("o", due_o, scale)
    bench.expect("lse", due_lse)
    apart = [oracle.split(side, heads, length) for side in (q64, k64, v64)]
    tile = tiles.reach("attention", length, q.dtype, q.device)
    given = Inputs(apart[0], apart[1], apart[2], tile)
    forward_suspects(bench, given)

    # Where Q is large, what rounding leaves of dP - delta is multiplied by it.
    do = bench.given("do", rows, width, spread=spread**-2)
    saved_o = bench.holds("saved o", due_o)
    saved_lse = bench.holds("saved lse", due_lse, torch.float32)
    scratch = bench.number("scratch", batch * heads, length)
    dq, dk, dv = (bench.empty(name, rows, width) for name in ("dq", "dk", "dv"))
    operator.PAIR.backward(do, q, k, v, saved_o, saved_lse, dq, dk, dv, scratch, heads)
    due = oracle.reference_backward(do.double(), q64, k64, v64, heads, length)
    for name, gradient in zip(("dq", "dk", "dv"), due, strict=True):
        bench.expect(name, gradient, scale)
    for name, gradient in zip(("dq", "dk"), due[:2], strict=True):
        bench.suspect(name, "no-scale", gradient * math.sqrt(head))
    backward_suspects(bench, given, oracle.split(exact(do)[0], heads, length))


def forward_suspects(bench: Bench, given: Inputs) -> None:
    """What o would be."""
    score, seen = given.score, given.key <= given.query
    causal = score.masked_fill(~seen, -math.inf)
    wrong = {
        "not-causal": score,
        "no-scale": causal / given.scale,
        "first-tile-only": causal.masked_fill(given.key >= given.tile.keys, -math.inf),
    }
    for code, made in wrong.items():
        bench.suspect("o", code, oracle.join(made.softmax(dim=-1) @ given.v), size=given.tile.keys)
    unscaled = (causal / given.scale).logsumexp(dim=-1).flatten(0, 1)
    bench.suspect("lse", "no-scale", unscaled)
    weights = (causal - largest_so_far(causal, given.tile.keys)).exp()
    unshrunk = weights / weights.sum(dim=-1, keepdim=True)
    bench.suspect("o", "no-rescale", oracle.join(unshrunk @ given.v))
    largest = float(causal.max())
    if not bench.due["o"].got.isfinite().all() and largest > 88:
        bench.sign("o", "scores-overflow", largest=largest)


def largest_so_far(score: Tensor, keys: int) -> Tensor:
    """[..., T, T]: for each score the largest of its row up to the end of its tile of keys."""
    length = score.shape[-1]
    padded = torch.nn.functional.pad(score, (0, -length % keys), value=-math.inf)
    largest = padded.unflatten(-1, (-1, keys)).amax(dim=-1).cummax(dim=-1).values
    return largest.repeat_interleave(keys, dim=-1)[..., :length]


def backward_suspects(bench: Bench, given: Inputs, do: Tensor) -> None:
    """What dQ and dK would be without the row sum, without the mask inside a tile, and where
    only a first tile is walked over."""
    score, query, key = given.score, given.query, given.key
    seen = key <= query
    lse = score.masked_fill(~seen, -math.inf).logsumexp(dim=-1, keepdim=True)
    weights, dp = (score - lse).exp(), do @ given.v.transpose(-1, -2)
    delta = (dp * weights * seen).sum(dim=-1, keepdim=True)
    ds = weights * (dp - delta) * given.scale

    def dq(ds: Tensor) -> Tensor:
        return oracle.join(ds @ given.k)

    def dk(ds: Tensor) -> Tensor:
        return oracle.join(ds.transpose(-1, -2) @ given.q)

    queries, keys = given.tile.queries, given.tile.keys
    bench.suspect("dq", "no-row-sum", dq(weights * dp * given.scale * seen))
    last = query // queries * queries + queries  # of the keys that a tile of queries walks over
    bench.suspect("dq", "not-causal", dq(ds * (key < (last + keys - 1) // keys * keys)))
    earliest = key // keys * keys // queries * queries  # query that a tile of keys begins with
    bench.suspect("dk", "not-causal", dk(ds * (query >= earliest)))
    first = seen & (query < earliest + queries)
    bench.suspect("dk", "first-tile-only", dk(ds * first), size=queries)
