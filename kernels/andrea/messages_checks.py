"""What the checks of the operators say, by code, in English: see `kernels.messages`."""

from kernels.marking import gettext_noop

CHECKS: dict[str, str] = {
    "log.operator-mutant": gettext_noop(
        "This Run checks a wrong version of the operator: {mutant}. It should fail."
    ),
    # Refusals
    "refusal.no-elements": gettext_noop(
        "{tensor} has no elements: a launch needs at least one program."
    ),
    "refusal.not-alike": gettext_noop(
        "{tensor} does not lie in memory as {other} does; one address is computed for both."
    ),
    # Why a case failed, told from its numbers
    "why.overwritten": gettext_noop(
        "The gradient is the last micro-batch’s alone: = stands where += is due. With one "
        "micro-batch nobody would notice."
    ),
    "why.skip-lost": gettext_noop(
        "What came along the residual stream is missing: the sum was overwritten."
    ),
    "why.mean-by-block": gettext_noop(
        "The mean divides by the lanes ({block}), not by the columns ({columns})."
    ),
    "why.variance-cancelled": gettext_noop(
        "The variance is not near the truth: the mean of the squares minus the square of the mean "
        "loses its digits when the mean is large."
    ),
    "why.accumulates-anyway": gettext_noop(
        "The gradient was added to what the buffer held, though nobody asked for that."
    ),
    "why.first-tile-only": gettext_noop(
        "Only the first tile counts ({size} at a time): the loop over tiles turns once."
    ),
    "why.first-depth-only": gettext_noop(
        "Only the first {size} terms of each sum count: the loop over the depth turns once."
    ),
    "why.no-rescale": gettext_noop(
        "What was summed before a larger score came was not shrunk: exp(old maximum − new maximum) "
        "is missing."
    ),
    "why.scores-overflow": gettext_noop(
        "No numbers where scores reach {largest}: exp overflows beyond 88 in FP32. Subtract the "
        "largest score so far first."
    ),
    "why.not-causal": gettext_noop(
        "Every position sees the whole sequence: the causal mask is missing."
    ),
    "why.no-scale": gettext_noop("The scale 1/√d_head is missing."),
    "why.no-row-sum": gettext_noop(
        "The derivative of the softmax lacks its row sum: dS is P∘(dP − rowsum(dP∘P))."
    ),
    "why.activation-saved": gettext_noop(
        "GELU(H) was saved where H is due: the backward pass needs the pre-activation."
    ),
    "why.no-slope": gettext_noop("The factor GELU′(H) is missing."),
    "why.no-gelu": gettext_noop("This is the result without the GELU."),
    "why.tanh-overflows": gettext_noop(
        "No numbers where |h| reaches {largest}: the exponential inside tanh overflows from "
        "|h| = 11 on. tanh must saturate."
    ),
    "why.no-max-subtraction": gettext_noop(
        "The loss is no number where logits reach {largest}: exp overflows beyond 88 in FP32. "
        "Subtract the row’s largest value first."
    ),
    "why.labels-shifted": gettext_noop("Every row is compared with the next row’s label."),
    "why.sum-not-mean": gettext_noop("A sum over the rows where their mean is due."),
    "why.max-of-last-tile": gettext_noop(
        "The maximum subtracted is that of the row’s last tile, not of the row: exp overflows."
    ),
    "why.softmax-rounded": gettext_noop(
        "The probability was rounded before 1 was subtracted: of p − 1 nothing true is left where "
        "p is near 1."
    ),
    "why.ignored-counted": gettext_noop(
        "The ignored labels are counted: the mean divides by all rows."
    ),
    "why.always-clips": gettext_noop(
        "The factor is clip/norm even below the threshold: a small gradient is enlarged."
    ),
    "why.scale-ignored": gettext_noop(
        "The norm is that of the sum over micro-batches: the factor 1/n is missing."
    ),
    "why.skip-uncounted": gettext_noop("The step that is skipped was not counted."),
    "why.no-epsilon": gettext_noop(
        "0 over 0 where a weight never had a gradient: epsilon is missing."
    ),
    "why.epsilon-inside": gettext_noop("Epsilon stands under the root; it belongs behind it."),
    "why.decays-after": gettext_noop(
        "The decay takes its share of the weight after the update; it belongs to the weight before."
    ),
    "why.no-bias-correction": gettext_noop("The bias corrections of m and v are missing."),
    "why.decays-all": gettext_noop("Everything decays; only matrices should."),
    "why.coupled-decay": gettext_noop(
        "The decay went through the moments: this is Adam with L2, not AdamW."
    ),
    "why.not-side-by-side": gettext_noop(
        "The three matrices lie one behind the other; side by side was asked for."
    ),
    "why.gradients-kept": gettext_noop(
        "The gradients were not set to zero: the next step would add to them."
    ),
    "why.no-position": gettext_noop("The position embedding is missing."),
    "why.only-q": gettext_noop("Only the queries’ share reached dX; keys and values add theirs."),
    "why.transposed": gettext_noop("The weight was used transposed."),
    # Inputs by name
    "name.one-token": gettext_noop("one token, repeated"),
    "name.large-mean": gettext_noop("a large mean"),
    "name.large-scores": gettext_noop("large scores"),
    "name.saturated": gettext_noop("tanh saturated"),
    "name.uniform": gettext_noop("uniform logits"),
    "name.some-ignored": gettext_noop("some labels ignored"),
    "name.all-ignored": gettext_noop("all labels ignored"),
    "name.tiles-of-infinity": gettext_noop("whole tiles of −∞"),
    "name.rising": gettext_noop("logits that rise from tile to tile"),
    "name.small-moments": gettext_noop("small moments"),
    "name.skipped": gettext_noop("steps skipped"),
    "column.tiles": gettext_noop("tiles of this device, then"),
    "name.large-logits": gettext_noop("large logits"),
    "name.confident": gettext_noop("confident logits"),
    "name.upstream-by-row": gettext_noop("an upstream gradient by row"),
    "name.below-threshold": gettext_noop("a norm below the threshold"),
    "name.a-nan": gettext_noop("a NaN among the gradients"),
    "name.an-infinity": gettext_noop("an infinity among the gradients"),
    "name.not-finite": gettext_noop("a norm that is not finite"),
    # Procedures
    "procedure.andrea.check-embed.title": gettext_noop("Embedding against the oracle"),
    "procedure.andrea.check-embed.about": gettext_noop(
        "Tokens and positions looked up, and both gradients: repeated tokens add up, absent ones "
        "keep zero."
    ),
    "procedure.andrea.check-layernorm.title": gettext_noop("LayerNorm against the oracle"),
    "procedure.andrea.check-layernorm.about": gettext_noop(
        "y, mean, variance and the three gradients, also with a large mean and a row of zeros."
    ),
    "procedure.andrea.check-residual.title": gettext_noop("Residual connection against the oracle"),
    "procedure.andrea.check-residual.about": gettext_noop(
        "The sum, and one gradient that goes to both branches."
    ),
    "procedure.andrea.check-attn-qkv.title": gettext_noop(
        "Queries, keys and values against the oracle"
    ),
    "procedure.andrea.check-attn-qkv.about": gettext_noop(
        "Three projections of one input, the gradient of that input and of three weights."
    ),
    "procedure.andrea.check-attn.title": gettext_noop("Attention against the oracle"),
    "procedure.andrea.check-attn.about": gettext_noop(
        "Causal attention and the gradients of Q, K and V, also with large scores."
    ),
    "procedure.andrea.check-attn-out.title": gettext_noop("Output projection against the oracle"),
    "procedure.andrea.check-attn-out.about": gettext_noop("Y = O·W and its two gradients."),
    "procedure.andrea.check-mlp.title": gettext_noop("MLP against the oracle"),
    "procedure.andrea.check-mlp.about": gettext_noop(
        "Two products with a GELU between them: H, Y and the three gradients, also far out where "
        "tanh saturates."
    ),
    "procedure.andrea.check-logits.title": gettext_noop("Logits against the oracle"),
    "procedure.andrea.check-logits.about": gettext_noop(
        "The projection onto the vocabulary and its two gradients."
    ),
    "procedure.andrea.check-loss.title": gettext_noop("Cross-entropy against the oracle"),
    "procedure.andrea.check-loss.about": gettext_noop(
        "Loss and logits’ gradient: uniform, confident, huge and infinite logits, ignored labels."
    ),
    "procedure.andrea.check-grad-norm.title": gettext_noop("Gradient norm and clipping"),
    "procedure.andrea.check-grad-norm.about": gettext_noop(
        "The global norm, the factor, and what happens when the norm is no number."
    ),
    "procedure.andrea.check-adamw.title": gettext_noop("AdamW against the oracle"),
    "procedure.andrea.check-adamw.about": gettext_noop(
        "Weights, both moments and the working copy after one step, and after one that is skipped."
    ),
    "procedure.andrea.check-casts.title": gettext_noop("Copies and zeros against the oracle"),
    "procedure.andrea.check-casts.about": gettext_noop(
        "The working copy in 16 bits, Q, K and V’s weights side by side, and gradients set to zero."
    ),
}
