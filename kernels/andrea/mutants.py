"""Wrong versions of the operators, as data: what is replaced, where, and which check must see it.

A mutant is version 1 of an operator with one or two replacements in its source, so it can never
drift from the kernel it distorts: a replacement that no longer fits exactly once is an error.
`tests/kernels/andrea/operators/test_mutants.py` says with which case each is killed. Nothing
here ever replaces the real kernel. Needs no torch.
"""

from dataclasses import dataclass

from kernels.rmsnorm_mutants import Edit


@dataclass(frozen=True)
class Mutant:
    """The case on `tensor` over the inputs `shape` must fail, and its note must be `why`.

    `hidden_by` is the number of micro-batches with which nobody can see it.
    """

    name: str
    operator: str
    edits: tuple[Edit, ...]
    tensor: str
    shape: str
    why: str
    hidden_by: int = 0


def overwrites(operator: str, symbol: str, old: str, tensor: str, shape: str) -> Mutant:
    """`=` where `+=` is due: right with one micro-batch, wrong from the second on."""
    new = old.replace("add(", "put(").replace(" + total", " * 0 + total")
    return Mutant(
        f"{operator.replace('_', '-')}-overwrites-{tensor.replace('_', '-')}",
        operator,
        (Edit(symbol, old, new),),
        tensor,
        shape,
        "why.overwritten",
        hidden_by=1,
    )


LOAD_DGAMMA = "tl.load(DGAMMA + column, mask=keep, other=0) + dgamma"
CAUSAL = 'score = tl.where(s[None, :] <= t[:, None], score, float("-inf"))'
UNMASKED = 'score = tl.where(s[None, :] < T, score, float("-inf"))'
LSE = "lse = largest + tl.log(tl.where(row < R, total, 1.0))"
LOAD_TARGET = "target = tl.load(TARGETS + row, mask=row < R, other=-1)"

MUTANTS = (
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
    Mutant(
        "loss-no-max-subtraction",
        "loss",
        (
            Edit("k_loss_fwd", "tl.exp(x - largest[:, None])", "tl.exp(x)"),
            Edit("k_loss_fwd", LSE, LSE.replace("largest + ", "")),
        ),
        "losses",
        "large-logits",
        "why.no-max-subtraction",
    ),
    Mutant(
        "loss-labels-shifted",
        "loss",
        (Edit("k_loss_fwd", LOAD_TARGET, LOAD_TARGET.replace("+ row,", "+ (row + 1) % R,")),),
        "losses",
        "64 × 257",
        "why.labels-shifted",
    ),
    Mutant(
        "loss-labels-shifted-backward",
        "loss",
        (Edit("k_loss_bwd", LOAD_TARGET, LOAD_TARGET.replace("+ row,", "+ (row + 1) % R,")),),
        "dlogits",
        "64 × 257",
        "why.labels-shifted",
    ),
    Mutant(
        "loss-sum-not-mean",
        "loss",
        (Edit("k_loss_mean", " / tl.maximum(tl.load(COUNT), 1.0)", ""),),
        "loss",
        "64 × 257",
        "why.sum-not-mean",
    ),
    Mutant(
        "loss-sum-not-mean-backward",
        "loss",
        (Edit("k_loss_bwd", "upstream / tl.maximum(tl.load(COUNT), 1.0)", "upstream"),),
        "dlogits",
        "64 × 257",
        "why.sum-not-mean",
    ),
    Mutant(
        "loss-counts-ignored",
        "loss",
        (Edit("k_loss_bwd", "upstream / tl.maximum(tl.load(COUNT), 1.0)", "upstream / R"),),
        "dlogits",
        "some-ignored",
        "why.ignored-counted",
    ),
    Mutant(
        "grad-norm-lets-nan-through",
        "grad_norm",
        (
            Edit(
                "k_grad_norm_final", 'finite = tl.abs(norm) < float("inf")', "finite = norm > -1.0"
            ),
        ),
        "finite",
        "an-infinity",
        "why.outside-tolerance",
    ),
    Mutant(
        "grad-norm-always-clips",
        "grad_norm",
        (Edit("k_grad_norm_final", "CLIP / tl.maximum(norm, CLIP)", "CLIP / norm"),),
        "factor",
        "below-threshold",
        "why.always-clips",
    ),
    Mutant(
        "adamw-no-correction",
        "adamw",
        (Edit("k_adamw", "(m * correct_m) / (tl.sqrt(v * correct_v)", "m / (tl.sqrt(v)"),),
        "w",
        "3000 × 500",
        "why.no-bias-correction",
    ),
    Mutant(
        "adamw-decays-all",
        "adamw",
        (Edit("k_adamw", "tl.where(decays != 0, DECAY, 0.0)", "DECAY"),),
        "w",
        "3000 × 500",
        "why.decays-all",
    ),
    Mutant(
        "adamw-coupled-decay",
        "adamw",
        (
            Edit(
                "k_adamw",
                "g = tl.load(G + place, mask=keep, other=0) * tl.load(RESULT + 1)",
                "g = tl.load(G + place, mask=keep, other=0) * tl.load(RESULT + 1)"
                " + tl.where(decays != 0, DECAY, 0.0) * tl.load(W + place, mask=keep, other=0)",
            ),
            Edit("k_adamw", "(pace + tl.where(decays != 0, DECAY, 0.0) * w)", "pace"),
        ),
        "m",
        "3000 × 500",
        "why.coupled-decay",
    ),
    Mutant(
        "adamw-keeps-gradients",
        "adamw",
        (
            Edit(
                "k_adamw",
                "tl.store(G + place, tl.zeros((BLOCK,), dtype=tl.float32), mask=keep)",
                "pass",
            ),
        ),
        "grads",
        "3000 × 500",
        "why.gradients-kept",
    ),
)

BY_NAME = {mutant.name: mutant for mutant in MUTANTS}
