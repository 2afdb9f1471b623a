"""Wrong versions of what turns logits into an update: loss, norm and clipping, AdamW."""

from kernels.andrea.mutant import Mutant
from kernels.rmsnorm_mutants import Edit

LSE = "lse = largest + tl.log(tl.where(row < R, total, 1.0))"
LOAD_TARGET = "target = tl.load(TARGETS + row, mask=row < R, other=-1)"

UPDATE = (
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
    Mutant(
        "casts-not-side-by-side",
        "casts",
        (
            Edit(
                "k_pack",
                "row.to(tl.int64) * 3 * D + which * D + column",
                "which.to(tl.int64) * COUNT + place",
            ),
        ),
        "packed",
        "16",
        "why.not-side-by-side",
    ),
)
