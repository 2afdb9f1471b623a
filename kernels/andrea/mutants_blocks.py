"""Wrong versions of what a block is made of, and of what stands at its ends."""

from kernels.andrea.mutant import Mutant, overwrites
from kernels.rmsnorm_mutants import Edit

LOAD_DGAMMA = "tl.load(DGAMMA + column, mask=keep, other=0) + dgamma"
CAUSAL = 'score = tl.where(s[None, :] <= t[:, None], score, float("-inf"))'
SCORED = 'input_precision="ieee") * SCALE\n            '
SCORE_DQ = f"score = tl.dot(q.to(OPERAND), tl.trans(k), {SCORED}"
SCORE_DK = f"score = tl.dot(q, tl.trans(k), {SCORED}"
UNMASKED = 'score = tl.where(s[None, :] < T, score, float("-inf"))'

BLOCKS = (
    overwrites("embed", "k_embed_bwd", " + total, mask=keep)", "dwte", "4 × 32 × 32 × 257"),
    overwrites("attn_qkv", "k_attn_qkv_bwd", "add(DW + own", "dw", "17 × 33"),
    overwrites("attn_out", "k_attn_out_bwd", "add(DW,", "dw", "17 × 33"),
    overwrites("mlp", "k_mlp_bwd", "add(DW_1,", "dw_1", "17 × 33"),
    overwrites("mlp", "k_mlp_bwd", "add(DW_2,", "dw_2", "17 × 33"),
    overwrites("logits", "k_logits_bwd", "add(DE,", "de", "17 × 33 × 255"),
    Mutant(
        "layernorm-overwrites-dgamma",
        "layernorm",
        (Edit("k_layernorm_sum", LOAD_DGAMMA, "dgamma"),),
        "dgamma",
        "17 × 257",
        "why.overwritten",
        hidden_by=1,
    ),
    Mutant(
        "layernorm-overwrites-dbeta",
        "layernorm",
        (
            Edit(
                "k_layernorm_sum",
                LOAD_DGAMMA.replace("dgamma", "dbeta").replace("DGAMMA", "DBETA"),
                "dbeta",
            ),
        ),
        "dbeta",
        "17 × 257",
        "why.overwritten",
        hidden_by=1,
    ),
    Mutant(
        "embed-overwrites-dwpe",
        "embed",
        (
            Edit(
                "k_embed_bwd",
                "mask=keep, other=0) + total",
                "mask=keep & (program < TOKEN_PROGRAMS), other=0) + total",
            ),
        ),
        "dwpe",
        "4 × 32 × 32 × 257",
        "why.overwritten",
        hidden_by=1,
    ),
    Mutant(
        "layernorm-always-accumulates",
        "layernorm",
        (Edit("k_layernorm_bwd", "if ACCUMULATE:", "if True:"),),
        "dx",
        "17 × 257",
        "why.accumulates-anyway",
    ),
    Mutant(
        "residual-overwrites-dx",
        "residual",
        (Edit("k_residual_add_bwd", "dx + dy", "dy"),),
        "dx",
        "17 × 257",
        "why.skip-lost",
    ),
    # A mean over rows where a sum is due: invisible with one row.
    Mutant(
        "layernorm-mean-not-sum",
        "layernorm",
        (Edit("k_layernorm_bwd", "tl.sum(dy * xhat, axis=0)", "tl.sum(dy * xhat, axis=0) / R"),),
        "dgamma",
        "17 × 257",
        "why.mean-not-sum",
    ),
    # Divides by the lanes, not by the columns: invisible at powers of two.
    Mutant(
        "layernorm-by-block",
        "layernorm",
        (
            Edit(
                "k_layernorm_fwd",
                "mean = tl.sum(x, axis=1) / D",
                "mean = tl.sum(x, axis=1) / BLOCK",
            ),
            Edit("k_layernorm_fwd", "axis=1) / D  # what", "axis=1) / BLOCK  # what"),
        ),
        "mean",
        "17 × 257",
        "why.mean-by-block",
    ),
    # E[x^2] - E[x]^2: right until the mean is large and the spread small.
    Mutant(
        "layernorm-one-pass",
        "layernorm",
        (
            Edit(
                "k_layernorm_fwd",
                "variance = tl.sum(centred * centred, axis=1) / D",
                "variance = tl.maximum(tl.sum(x * x, axis=1) / D - mean * mean, 0.0)",
            ),
        ),
        "variance",
        "large-mean",
        "why.variance-cancelled",
    ),
    Mutant(
        "attn-not-causal",
        "attn",
        (Edit("k_attn_fwd", CAUSAL, UNMASKED),),
        "o",
        "2 × 32 × 2 × 16",
        "why.not-causal",
    ),
    Mutant(
        "attn-no-scale",
        "attn",
        (
            Edit(
                "k_attn_fwd",
                'tl.trans(k.to(OPERAND)), input_precision="ieee") * SCALE',
                'tl.trans(k.to(OPERAND)), input_precision="ieee")',
            ),
        ),
        "o",
        "2 × 32 × 2 × 16",
        "why.no-scale",
    ),
    Mutant(
        "attn-no-scale-in-dq",
        "attn",
        (Edit("k_attn_bwd", "dq, mask=own)", "dq / SCALE, mask=own)"),),
        "dq",
        "2 × 32 × 2 × 16",
        "why.no-scale",
    ),
    Mutant(
        "attn-no-scale-in-dk",
        "attn",
        (Edit("k_attn_bwd", "dk, mask=kept)", "dk / SCALE, mask=kept)"),),
        "dk",
        "2 × 32 × 2 × 16",
        "why.no-scale",
    ),
    # The tiles beyond the diagonal are not walked over, mask or none: what is wrong is in them.
    Mutant(
        "attn-not-causal-in-dq",
        "attn",
        (Edit("k_attn_bwd", SCORE_DQ + CAUSAL, SCORE_DQ + UNMASKED),),
        "dq",
        "2 × 32 × 2 × 16",
        "why.not-causal",
    ),
    Mutant(
        "attn-not-causal-in-dk",
        "attn",
        (Edit("k_attn_bwd", SCORE_DK + CAUSAL, SCORE_DK + UNMASKED),),
        "dk",
        "2 × 32 × 2 × 16",
        "why.not-causal",
    ),
    Mutant(
        "attn-no-max-subtraction",
        "attn",
        (
            Edit(
                "k_attn_fwd",
                "tl.maximum(largest, tl.max(score, axis=1))",
                "tl.zeros((QUERIES,), dtype=tl.float32)",
            ),
        ),
        "o",
        "large-scores",
        "why.scores-overflow",
    ),
    # softmax' without the row sum: dS = P * dP.
    Mutant(
        "attn-no-row-sum",
        "attn",
        (
            Edit(
                "k_attn_bwd",
                "ds = weight * (dp - delta[:, None]) * SCALE\n            dq",
                "ds = weight * dp * SCALE\n            dq",
            ),
        ),
        "dq",
        "2 × 32 × 2 × 16",
        "why.no-row-sum",
    ),
    Mutant(
        "mlp-activation-saved",
        "mlp",
        (Edit("k_mlp_fwd", "put(H, tile,", "put(H, gelu(tile),"),),
        "h",
        "17 × 33",
        "why.activation-saved",
    ),
    Mutant(
        "mlp-no-slope",
        "mlp",
        (Edit("k_mlp_bwd", "da * gelu_slope(h)", "da"),),
        "dx",
        "17 × 33",
        "why.no-slope",
    ),
    Mutant(
        "mlp-tanh-overflows",
        "mlp",
        (
            Edit("gelu_slope", "size = tl.minimum(tl.abs(h), 11.0)", "size = tl.abs(h)"),
            Edit(
                "saturating_tanh",
                "(1.0 - shrunk) / (1.0 + shrunk)",
                "(1.0 / shrunk - 1.0) / (1.0 / shrunk + 1.0)",
            ),
        ),
        "y",
        "saturated",
        "why.tanh-overflows",
    ),
    # What the harness itself must see: stray, missing and repeated writes, a changed input.
    Mutant(
        "layernorm-store-without-mask",
        "layernorm",
        (
            Edit(
                "k_layernorm_fwd",
                "tl.store(Y + place, xhat * gamma[None, :] + beta[None, :], mask=keep)",
                "tl.store(Y + place, xhat * gamma[None, :] + beta[None, :])",
            ),
        ),
        "y",
        "17 × 257",
        "why.outside",
    ),
    Mutant(
        "residual-writes-nothing",
        "residual",
        (Edit("k_residual_add_bwd", "tl.store(DDELTA + place, dy, mask=keep)", "pass"),),
        "ddelta",
        "17 × 257",
        "why.nothing-written",
    ),
    Mutant(
        "attn-out-writes-its-input",
        "attn_out",
        (
            Edit(
                "k_attn_out_fwd",
                "put(Y, tile,",
                "put(ATTN, tile, row, column, R, D, D)\n    put(Y, tile,",
            ),
        ),
        "y",
        "17 × 33",
        "why.input-changed",
    ),
    # Right on the first values it sees, then it repeats itself: hidden by a single launch.
    Mutant(
        "residual-right-once",
        "residual",
        (
            Edit(
                "forward",
                "(x, delta, y, x.numel(), block)",
                "(x, delta, y, x.numel(), block)\n"
                "        y.copy_(forward.__dict__.setdefault(str(y.shape), y.clone()))",
            ),
        ),
        "y",
        "17 × 257",
        "why.outside-tolerance",
        hidden_by=1,
    ),
)
