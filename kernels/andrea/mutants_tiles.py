"""Wrong versions that are right as long as one tile holds everything.

A loop over tiles that turns once is no loop: these are seen from the second micro-batch on, whose
tiles are small (`kernels.andrea.operators.tiles.cut`), and on a card where a shape is large.
"""

from kernels.andrea.mutant import Mutant
from kernels.rmsnorm_mutants import Edit

KEYS = "range(0, tl.minimum(T, (tl.program_id(0) + 1) * QUERIES), KEYS)"
FROM = "tile * KEYS // QUERIES * QUERIES"
UNSHRUNK = 'tl.where(largest > float("-inf"), 1.0, 0.0)'
TOTAL = "total = tl.zeros((ROWS,), dtype=tl.float32)\n    for first in range(0, V, BLOCK)"
PAST = "low = 0 if part == 0 else past"


def tiles(
    name: str,
    operator: str,
    symbol: str,
    change: tuple[str, str],
    seen: tuple[str, str],
    why: str = "first-tile-only",
    *,
    version: int = 1,
    part: str = "",
    hidden_by: int = 1,
) -> Mutant:
    tensor, shape = seen
    edits, why = (Edit(symbol, *change),), f"why.{why}"
    return Mutant(name, operator, edits, tensor, shape, why, hidden_by, version=version, part=part)


TILES = (
    tiles(
        "attn-no-rescale",
        "attn",
        "k_attn_fwd",
        ("tl.exp(largest - higher)", UNSHRUNK),
        ("o", "1 × 65 × 1 × 32"),
        "no-rescale",
    ),
    tiles(
        "attn-first-keys-only",
        "attn",
        "k_attn_fwd",
        (KEYS, "range(0, KEYS, KEYS)"),
        ("o", "1 × 65 × 1 × 32"),
    ),
    tiles(
        "attn-first-queries-only",
        "attn",
        "k_attn_bwd",
        (f"range({FROM}, T, QUERIES)", f"range({FROM}, {FROM} + QUERIES, QUERIES)"),
        ("dk", "1 × 65 × 1 × 32"),
    ),
    tiles(
        "matmul-first-depth-only",
        "attn_out",
        "product",
        ("range(0, K, DEPTH)", "range(0, DEPTH, DEPTH)"),
        ("y", "17 × 33"),
        "first-depth-only",
        part="matmul",
    ),
    tiles(
        "layernorm-first-zones-only",
        "layernorm",
        "k_layernorm_sum",
        ("range(0, PROGRAMS, ROWS)", "range(0, ROWS, ROWS)"),
        ("dgamma", "17 × 257"),
    ),
    tiles(
        "loss-first-tile-only",
        "loss",
        "k_loss_fwd",
        (TOTAL, TOTAL.replace("V, BLOCK", "BLOCK, BLOCK")),
        ("losses", "5 × 1000"),
    ),
    tiles(
        "loss-first-tile-only-backward",
        "loss",
        "k_loss_bwd",
        ("range(0, V, BLOCK)", "range(0, BLOCK, BLOCK)"),
        ("dlogits", "5 × 1000"),
    ),
    tiles(
        "loss-max-of-last-tile",
        "loss",
        "k_loss_fwd",
        ("tl.maximum(largest, tl.max(x, axis=1))", "tl.max(x, axis=1)"),
        ("losses", "rising"),
        "max-of-last-tile",
    ),
    tiles(
        "grad-norm-first-block-only",
        "grad_norm",
        "k_grad_norm_partial",
        ("range(0, STRETCH, BLOCK)", "range(0, BLOCK, BLOCK)"),
        ("norm", "34000"),
    ),
    # Version 2: whole tiles apart from those with a mask, persistent programs, joined launches.
    tiles(
        "attn-fast-no-rescale",
        "attn",
        "k_attn_fwd_split",
        ("tl.exp2((largest - higher) * SCALE)", UNSHRUNK),
        ("o", "1 × 65 × 1 × 32"),
        "no-rescale",
        version=2,
    ),
    tiles(
        "attn-fast-no-past",
        "attn",
        "k_attn_fwd_split",
        (PAST, "low = past"),
        ("o", "1 × 65 × 1 × 32"),
        "outside-tolerance",
        version=2,
    ),
    tiles(
        "attn-fast-no-past-in-dq",
        "attn",
        "k_attn_bwd_dq",
        (PAST, "low = past"),
        ("dq", "1 × 65 × 1 × 32"),
        "outside-tolerance",
        version=2,
    ),
    tiles(
        "attn-fast-no-later-queries",
        "attn",
        "k_attn_bwd_dkv",
        ("tl.minimum(T, after) if part == 0 else T", "tl.minimum(T, after)"),
        ("dk", "1 × 65 × 1 × 32"),
        version=2,
    ),
    tiles(
        "loss-fast-no-rescale",
        "loss",
        "row_lse",
        ("total * power(largest - base) + ", "total + "),
        ("losses", "rising"),
        "outside-tolerance",
        version=2,
    ),
    tiles(
        "loss-fast-no-whole-tiles",
        "loss",
        "row_lse",
        ("high = whole if part == 0 else V", "high = 0 if part == 0 else V"),
        ("losses", "5 × 1000"),
        "outside-tolerance",
        version=2,
    ),
    tiles(
        "layernorm-one-turn",
        "layernorm",
        "k_layernorm_bwd_rows",
        ("tl.range(start, R, ", "tl.range(start, tl.minimum(R, start + 1), "),
        ("dgamma", "4300 × 129"),
        "outside-tolerance",
        version=2,
        hidden_by=0,  # so many rows that the interpreter's own programs turn too
    ),
)
