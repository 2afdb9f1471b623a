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
        "20 × 257",
        "why.labels-shifted",
    ),
    Mutant(
        "loss-labels-shifted-backward",
        "loss",
        (Edit("k_loss_bwd", LOAD_TARGET, LOAD_TARGET.replace("+ row,", "+ (row + 1) % R,")),),
        "dlogits",
        "20 × 257",
        "why.labels-shifted",
    ),
    Mutant(
        "loss-sum-not-mean",
        "loss",
        (Edit("k_loss_mean", " / tl.maximum(tl.load(COUNT), 1.0)", ""),),
        "loss",
        "20 × 257",
        "why.sum-not-mean",
    ),
    Mutant(
        "loss-sum-not-mean-backward",
        "loss",
        (Edit("k_loss_bwd", "upstream / tl.maximum(tl.load(COUNT), 1.0)", "upstream"),),
        "dlogits",
        "20 × 257",
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
    # p is near 1 and rounds to it: the gradient of the label is gone.
    Mutant(
        "loss-softmax-rounded",
        "loss",
        (
            Edit(
                "k_loss_bwd",
                "softmax = tl.exp(x - lse[:, None])",
                "softmax = tl.exp(x - lse[:, None]).to(LOGITS.dtype.element_ty).to(tl.float32)",
            ),
        ),
        "dlogits",
        "confident",
        "why.softmax-rounded",
        dtype="FP16",
    ),
    Mutant(
        "grad-norm-ignores-scale",
        "grad_norm",
        (Edit("k_grad_norm_final", ".to(tl.float32) * scale", ".to(tl.float32)"),),
        "norm",
        "34000",
        "why.scale-ignored",
    ),
    Mutant(
        "grad-norm-skips-uncounted",
        "grad_norm",
        (Edit("k_grad_norm_final", " + tl.where(finite, 0.0, 1.0)", ""),),
        "skipped",
        "a-nan",
        "why.skip-uncounted",
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
        "adamw-no-epsilon",
        "adamw",
        (Edit("k_adamw", "(tl.sqrt(v * correct_v) + EPSILON)", "tl.sqrt(v * correct_v)"),),
        "w",
        "small-moments",
        "why.no-epsilon",
    ),
    Mutant(
        "adamw-epsilon-inside",
        "adamw",
        (
            Edit(
                "k_adamw", "(tl.sqrt(v * correct_v) + EPSILON)", "tl.sqrt(v * correct_v + EPSILON)"
            ),
        ),
        "w",
        "small-moments",
        "why.epsilon-inside",
    ),
    Mutant(
        "adamw-decays-after",
        "adamw",
        (
            Edit(
                "k_adamw",
                "w = w - lr * (pace + tl.where(decays != 0, DECAY, 0.0) * w)",
                "w = w - lr * pace\n        w = w - lr * tl.where(decays != 0, DECAY, 0.0) * w",
            ),
        ),
        "w",
        "small-moments",
        "why.decays-after",
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
