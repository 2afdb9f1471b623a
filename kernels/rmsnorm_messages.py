"""What the Procedures of RMSNorm say, by code, in English."""

from kernels.marking import counted, gettext_noop

RMSNORM: dict[str, str] = {
    # Refusals of the contract
    "refusal.rank": gettext_noop(
        "x must have two dimensions [M, N] and gamma one [N]; they have {x} and {gamma}."
    ),
    "refusal.gamma-length": gettext_noop(
        "gamma has the length {gamma}, the rows of x have the length {columns}."
    ),
    "refusal.empty": gettext_noop(
        "x has the shape {rows} × {columns}: there is nothing to normalise, and a launch needs at "
        "least one program."
    ),
    "refusal.dtype": gettext_noop("{tensor} is {dtype}; this version accepts {accepted}."),
    "refusal.not-contiguous": gettext_noop(
        "{tensor} is not contiguous. The kernel finds row r at r × N, so a strided view "
        "would be read from the wrong place."
    ),
    "refusal.devices": gettext_noop(
        "x is on {x} and gamma on {gamma}; both must be on one device."
    ),
    "refusal.epsilon": gettext_noop(
        "epsilon is {epsilon}; it must be a finite number greater than zero."
    ),
    "refusal.columns": gettext_noop(
        "x has {columns} columns; this version accepts at most {limit}."
    ),
    "refusal.rows": gettext_noop("x has {rows} rows; this version accepts at most {limit}."),
    "refusal.alignment": gettext_noop(
        "x or gamma does not start on a 16-byte boundary; this version needs that."
    ),
    "refusal.current-device": gettext_noop("x is not on the current device."),
    "refusal.no-compiler": gettext_noop(
        "This version needs a C++ compiler (g++ and ninja), and this machine has none."
    ),
    "refusal.scratch": gettext_noop(
        "The backward pass would need {bytes} bytes of scratch (M × N × 4); the limit is {limit}."
    ),
    "refusal.double-backward": gettext_noop(
        "This version has a single backward pass; create_graph=True is not supported."
    ),
    "refusal.dy-shape": gettext_noop("dy has the shape {dy}; x has {x}."),
    "refusal.dy-dtype": gettext_noop("dy is {dy}; x is {x}."),
    "refusal.dy-device": gettext_noop("dy is on {dy}; x is on {x}."),
    # Why a case failed, told from its numbers
    "why.input-changed": gettext_noop("The kernel wrote into its input {tensor}."),
    "why.outside": gettext_noop(
        "Memory beside {tensor} was overwritten: a store without a mask, or a wrong row address."
    ),
    "why.nothing-written": gettext_noop(
        "No element was written: the NaN put there beforehand is still in place."
    ),
    "why.only-first-row": gettext_noop("Only row 0 was written; {rows} rows were due."),
    "why.not-written": counted(
        "count",
        "{count} of {total} elements holds NaN: not written, or computed from NaN.",
        "{count} of {total} elements hold NaN: not written, or computed from NaN.",
    ),
    "why.by-block": gettext_noop(
        "Every row is off by the factor {factor} = √(BLOCK/N) = √({block}/{columns}): the "
        "mean divides by BLOCK, not by N."
    ),
    "why.no-mask": gettext_noop(
        "The row sum includes elements of the next row: the lanes from N on are not masked."
    ),
    "why.no-root": gettext_noop("r is 1/(mean + ε): the square root is missing."),
    "why.zeros": gettext_noop("Every element is zero."),
    "why.overflow": gettext_noop(
        "Every element is zero although x reaches {largest}: squares beyond 65,504 overflow "
        "FP16. Convert to FP32 before squaring."
    ),
    "why.no-gamma": gettext_noop("This is the result without gamma."),
    "why.mean-subtracted": gettext_noop("The mean was subtracted: this is a LayerNorm."),
    "why.mean-ux-by-block": gettext_noop(
        "mean(u·x) divides by BLOCK ({block}), not by N ({columns})."
    ),
    "why.r-squared": gettext_noop("The second term has r² where r³ is due."),
    "why.no-second-term": gettext_noop("The second term, −x·r³·mean(u·x), is missing."),
    "why.wrong-sign": gettext_noop("The second term is added where it must be subtracted."),
    "why.mean-not-sum": gettext_noop(
        "Every element is {rows} times too small: a mean over the rows where a sum is due."
    ),
    "why.first-row-only": gettext_noop("Only row 0 of {rows} reached dgamma."),
    "why.first-tile-only": gettext_noop("Only the first {tile} of {rows} rows reached dgamma."),
    "why.no-inverse": gettext_noop("dgamma lacks the factor r: it sums dy·x."),
    "why.gamma-twice": gettext_noop(
        "dgamma was multiplied by gamma; it is the gradient before that product."
    ),
    "why.not-finite": counted(
        "count",
        "{count} of {total} elements is infinite or NaN.",
        "{count} of {total} elements are infinite or NaN.",
    ),
    "why.rows-scaled": gettext_noop(
        "Each row is scaled by one factor, between {low} and {high}: r is wrong and the rest "
        "is right."
    ),
    "why.outside-tolerance": gettext_noop(
        "The error is larger than the tolerance declared beforehand."
    ),
    "why.not-refused": gettext_noop("The call was accepted where it had to be refused."),
    "why.touched-before-refusal": gettext_noop(
        "Something was done before the refusal: {operation}."
    ),
    # Lines of the log
    "log.mutant": gettext_noop(
        "This Run checks a wrong version of the teaching kernel: {mutant}. It should fail."
    ),
    "log.exercise": gettext_noop(
        "A row of {n} ones in a block of {block}. The wrong kernels are built for this Run; "
        "the real one is not touched."
    ),
    "log.clean-dry": counted(
        "count",
        "Dry run: {count} entry, {bytes} bytes. Nothing was deleted.",
        "Dry run: {count} entries, {bytes} bytes. Nothing was deleted.",
    ),
    "log.cleaned": counted("count", "{count} entry deleted.", "{count} entries deleted."),
    "log.benchmark-perimeter": gettext_noop(
        "These medians hold for this shape on this card. Their difference is not the time of the "
        "backward pass, and they do not say why one is faster."
    ),
    "log.no-latency-here": gettext_noop(
        "No latency is drawn: this Run was made on Triton’s interpreter."
    ),
    # Pictures, described for people who cannot see them
    "figure.loss": gettext_noop(
        "Loss by step up to step {steps}: the reference and the kernel lie on one curve, which "
        "ends at {last}."
    ),
    "figure.inflation": gettext_noop(
        "Output of the kernel that divides by BLOCK over the right output, by N: 1 at every power "
        "of two, {factor} at N = 257."
    ),
    "figure.latency": gettext_noop(
        "Median time of forward and backward for three shapes: the reference and {versions} "
        "versions of the kernel."
    ),
    # Tables and their columns
    "table.environment": gettext_noop("This machine"),
    "table.partitions": gettext_noop("Synthetic data, three partitions"),
    "table.latency": gettext_noop("Median time of a whole call"),
    "table.judges": gettext_noop("Who objects to which pair of passes"),
    "table.candidates": gettext_noop("Found in the output folder"),
    "column.fact": gettext_noop("what"),
    "column.value": gettext_noop("value"),
    "column.partition": gettext_noop("partition"),
    "column.examples": gettext_noop("examples"),
    "column.mean": gettext_noop("mean of the targets"),
    "column.spread": gettext_noop("standard deviation"),
    "column.pass": gettext_noop("pass"),
    "column.reference": gettext_noop("reference"),
    "column.kernel": gettext_noop("kernel"),
    "column.difference": gettext_noop("difference"),
    "column.forward": gettext_noop("forward pass divides by"),
    "column.backward": gettext_noop("backward pass divides by"),
    "column.oracle": gettext_noop("oracle"),
    "column.gradcheck": gettext_noop("its own gradcheck"),
    "column.path": gettext_noop("path"),
    "column.kind": gettext_noop("kind"),
    "column.bytes": gettext_noop("size"),
    # Metrics
    "metric.loss": gettext_noop("Loss"),
    "metric.initial-output-error": gettext_noop("Largest difference of the first outputs"),
    "metric.initial-gradient-error": gettext_noop("Largest difference of the first gradients"),
    "metric.test-mse": gettext_noop("MSE on the test partition"),
    "metric.reload-difference": gettext_noop("Difference after reloading the weights"),
    "metric.calls": gettext_noop("Passes made by the kernel"),
    "metric.gradcheck": gettext_noop("Largest difference from finite differences"),
    "metric.forward-reference": gettext_noop("Forward, reference"),
    "metric.forward-kernel": gettext_noop("Forward, kernel"),
    "metric.forward-backward-reference": gettext_noop("Forward and backward, reference"),
    "metric.forward-backward-kernel": gettext_noop("Forward and backward, kernel"),
    "metric.sum-squares": gettext_noop("Sum of squares"),
    "metric.mean-n": gettext_noop("Mean of squares over N"),
    "metric.mean-block": gettext_noop("Mean of squares over BLOCK"),
    "metric.denominator-n": gettext_noop("Denominator with N"),
    "metric.denominator-block": gettext_noop("Denominator with BLOCK"),
    "metric.output-n": gettext_noop("Output with N"),
    "metric.output-block": gettext_noop("Output with BLOCK"),
    "metric.inflation": gettext_noop("Output with BLOCK over output with N"),
    "metric.dx-right-right": gettext_noop("dx, both passes with N"),
    "metric.dx-right-block": gettext_noop("dx, forward with N, backward with BLOCK"),
    "metric.dx-block-right": gettext_noop("dx, forward with BLOCK, backward with N"),
    "metric.dx-block-block": gettext_noop("dx, both passes with BLOCK"),
    # Procedures
    "procedure.rmsnorm.environment.title": gettext_noop("The machine"),
    "procedure.rmsnorm.environment.about": gettext_noop(
        "What there is here, and whether torch, Triton and float64 compute. If this fails, stop."
    ),
    "procedure.rmsnorm.reference.title": gettext_noop("The oracle, judged first"),
    "procedure.rmsnorm.reference.about": gettext_noop(
        "gradcheck of the reference in float64, its closed form, and the three data partitions."
    ),
    "procedure.rmsnorm.check-forward.title": gettext_noop("Forward pass against the oracle"),
    "procedure.rmsnorm.check-forward.about": gettext_noop(
        "72 cases and the special inputs: y and r of the kernel against a float64 oracle."
    ),
    "procedure.rmsnorm.check-backward.title": gettext_noop("dx against the oracle"),
    "procedure.rmsnorm.check-backward.about": gettext_noop(
        "72 cases and the special inputs: dx of the kernel against a float64 oracle."
    ),
    "procedure.rmsnorm.check-gamma.title": gettext_noop("dgamma against the oracle"),
    "procedure.rmsnorm.check-gamma.about": gettext_noop(
        "72 cases and the special inputs: dgamma, summed over the rows, against a float64 oracle."
    ),
    "procedure.rmsnorm.contract.title": gettext_noop("The memory contract"),
    "procedure.rmsnorm.contract.about": gettext_noop(
        "Every refusal, before anything is allocated or written, and what is just accepted."
    ),
    "procedure.rmsnorm.train-integration.title": gettext_noop("A small network, trained twice"),
    "procedure.rmsnorm.train-integration.about": gettext_noop(
        "The same training by the reference and by the kernel; then save, reload, compare."
    ),
    "procedure.rmsnorm.benchmark.title": gettext_noop("Whole calls, timed"),
    "procedure.rmsnorm.benchmark.about": gettext_noop(
        "Median time of whole calls on a GPU, reference and kernel in turn. Needs a GPU."
    ),
    "procedure.rmsnorm.exercise.title": gettext_noop("N or BLOCK"),
    "procedure.rmsnorm.exercise.about": gettext_noop(
        "A row of ones normalised with N and with BLOCK, and who notices the difference."
    ),
    "procedure.rmsnorm.figures.title": gettext_noop("Pictures of the Runs"),
    "procedure.rmsnorm.figures.about": gettext_noop(
        "Loss, inflation by BLOCK and, on a GPU, latency: as PNG and SVG."
    ),
    "procedure.rmsnorm.checkpoints.title": gettext_noop("Weights, saved and reloaded"),
    "procedure.rmsnorm.checkpoints.about": gettext_noop(
        "Weights written, read back and compared; a damaged file must be refused."
    ),
    "procedure.rmsnorm.clean.title": gettext_noop("What earlier Runs left"),
    "procedure.rmsnorm.clean.about": gettext_noop(
        "Lists what is in the output folder; deletes it only if told."
    ),
}
