"""What the Procedures of ANDREA say, by code, in English: see `kernels.messages`."""

from kernels.marking import counted, gettext_noop

ANDREA: dict[str, str] = {
    # Endings
    "end.refused": gettext_noop("Not accepted: {reason}"),
    "end.refused-steps": gettext_noop(
        "The parameter steps is not accepted as given. Accepted: more steps than the checkpoint "
        "has made. In detail: {reason}"
    ),
    "end.refused-output": gettext_noop(
        "The output folder is not accepted as it is. Accepted: an empty folder, or that of the "
        "same training. In detail: {reason}"
    ),
    "end.refused-corpus": gettext_noop(
        "The parameter corpus is not accepted as given. Accepted: a file or folder of UTF-8 text, "
        "long enough to train on. In detail: {reason}"
    ),
    "end.refused-resume": gettext_noop(
        "The parameter resume is not accepted as given. Accepted: the path of a checkpoint file. "
        "In detail: {reason}"
    ),
    "end.refused-vocabulary": gettext_noop(
        "The parameter vocabulary is not accepted as given. Accepted: 257 or more, for 256 "
        "bytes and the sign of a beginning. In detail: {reason}"
    ),
    "end.refused-batch": gettext_noop(
        "The parameter batch is not accepted as given. Accepted: a batch that the memory holds. "
        "In detail: {reason}"
    ),
    "end.refused-width": gettext_noop(
        "The parameter width is not accepted as given. Accepted: a model that the memory holds. "
        "In detail: {reason}"
    ),
    "end.refused-checkpoint": gettext_noop(
        "The parameter checkpoint is not accepted as given. Accepted: the path of a checkpoint "
        "file of a model of this shape. In detail: {reason}"
    ),
    "end.saved": gettext_noop("Stopped on request after step {step}; {file} holds what is needed."),
    "end.halted": gettext_noop(
        "Halted at step {step}: {failures} samples in a row scored below {lowest}."
    ),
    "end.trained": counted(
        "steps",
        "{steps} step made; the last loss is {loss}.",
        "{steps} steps made; the last loss is {loss}.",
    ),
    "end.no-update": counted(
        "step",
        "{step} step is made, and it changed no weight: its gradient had no finite norm.",
        "All {step} steps are made, and not one changed the weights: no gradient had a finite "
        "norm.",
    ),
    "end.not-finite": counted(
        "step",
        "{step} step is made, but its loss is no finite number: this model is lost. Go on from an "
        "earlier checkpoint, with a lower learning rate.",
        "All {step} steps are made, but the last loss is no finite number: this model is lost. Go "
        "on from an earlier checkpoint, with a lower learning rate.",
    ),
    "end.not-saved": gettext_noop("The checkpoint of step {step} could not be written: {reason}."),
    # Lines of the log
    "log.andrea.not-saved": gettext_noop(
        "The checkpoint of step {step} could not be written ({reason}). The one before is intact."
    ),
    "log.andrea.loss-not-kept": gettext_noop(
        "Step {step}: the loss could not be written ({reason}). The training goes on; what is "
        "missing is written as soon as there is room."
    ),
    "log.andrea.sample-not-kept": gettext_noop(
        "Step {step}: the sample could not be written ({reason}). The training goes on; what is "
        "missing is written as soon as there is room."
    ),
    "log.andrea.peer": gettext_noop("{name} is ready to be timed."),
    "log.andrea.peer-failed": gettext_noop("{name} cannot be timed here: {why}"),
    "log.andrea.corpus": gettext_noop("The corpus “{name}” holds {tokens} tokens."),
    "log.andrea.resumed": gettext_noop("Continues after step {step}, from {file}."),
    "log.andrea.other-card": gettext_noop(
        "It was trained on {card} so far. Another card may round some sums differently."
    ),
    "log.andrea.other-tiles": gettext_noop(
        "Its kernels were cut otherwise so far. Some sums may round differently from here on."
    ),
    "log.andrea.schedule": gettext_noop(
        "Steps: {steps}, of them warm-up: {warmup}. The learning rate rises to {peak} and falls to "
        "{floor} times that. Threshold of the norm: {clip} (0: none)."
    ),
    "log.andrea.phase": gettext_noop("Step {step}: the smoothed loss enters the phase “{phase}”."),
    "log.andrea.polish": gettext_noop(
        "A polish: samples and state of the run before are in archive {number}."
    ),
    "log.andrea.no-telemetry": gettext_noop(
        "No telemetry: this machine has no NVIDIA driver that reports use, power and temperature."
    ),
    "log.andrea.power-limit": gettext_noop("The card may draw {watts} W."),
    "log.andrea.skipped": gettext_noop(
        "Step {step}: the gradient’s norm is not finite. The update is left out, the weights stay "
        "({skipped} so far)."
    ),
    "log.andrea.low-sample": gettext_noop(
        "The sample of step {step} scores {score}, below {lowest} ({failures} in a row)."
    ),
    "log.andrea.interpreter-times": gettext_noop(
        "On Triton’s interpreter no speed is reported: it would say nothing about a GPU."
    ),
    # Phases of the loss: see `kernels.andrea.phases`
    "phase.random": gettext_noop("random"),
    "phase.frequency": gettext_noop("frequency"),
    "phase.structure": gettext_noop("structure"),
    "phase.coherence": gettext_noop("coherence"),
    "phase.knowledge": gettext_noop("knowledge"),
    # Why nothing can go on from a checkpoint
    "refusal.resume-recording": gettext_noop(
        "A recording keeps no checkpoints, so nothing can go on from it. Train a model of your own."
    ),
    "refusal.resume-not-training": gettext_noop("This Run trains nothing that could go on."),
    "refusal.resume-no-checkpoint": gettext_noop("This Run wrote no checkpoint of that name."),
    "refusal.resume-not-kept": gettext_noop(
        "That checkpoint is no longer kept. Choose one that is."
    ),
    "refusal.resume-no-state": gettext_noop(
        "The state that belongs to that checkpoint is missing, so nothing can go on from it."
    ),
    "refusal.resume-gone": gettext_noop(
        "What this Run ran is no longer here in that version, so nothing can go on from it."
    ),
    # Tables
    "table.memory-plan": gettext_noop("Every buffer, before the first is allocated"),
    "table.memory-summary": gettext_noop("Memory by what it is for"),
    "table.resume": gettext_noop("Losses of the straight run and of the stopped and resumed one"),
    "table.adamw-moments": gettext_noop("Adam’s v for a gradient g, kept in FP32 and in FP16"),
    "table.launches": gettext_noop("Kernels in the order they ran, each with its twin"),
    "table.gradients": gettext_noop("Gradients of the kernels against Autograd in float64"),
    "table.training-speed": gettext_noop("Time of a whole training step"),
    "table.fp8": gettext_noop("Error of a product, against float64"),
    "column.product": gettext_noop("product"),
    "column.error-bf16": gettext_noop("BF16"),
    "column.error-fp8": gettext_noop("E4M3, one scale a tensor"),
    "column.error-fp8-unscaled": gettext_noop("E4M3 without scales"),
    "column.buffer": gettext_noop("buffer"),
    "column.shape": gettext_noop("shape"),
    "column.dtype": gettext_noop("dtype"),
    "column.whose": gettext_noop("for"),
    "column.step": gettext_noop("step"),
    "column.straight": gettext_noop("straight"),
    "column.resumed": gettext_noop("stopped and resumed"),
    "column.equal": gettext_noop("equal to the bit"),
    "column.gradient": gettext_noop("gradient g"),
    "column.fp32": gettext_noop("v in FP32"),
    "column.fp16": gettext_noop("v in FP16"),
    "column.update-fp32": gettext_noop("size of the update, v in FP32"),
    "column.update-fp16": gettext_noop("size of the update, v in FP16"),
    "column.series": gettext_noop("who"),
    "column.median": gettext_noop("median"),
    "column.number": gettext_noop("number"),
    "column.direction": gettext_noop("direction"),
    "column.layer": gettext_noop("block"),
    "column.launched": gettext_noop("kernels"),
    "column.twin": gettext_noop("its twin"),
    "column.tensor": gettext_noop("tensor"),
    "column.error": gettext_noop("largest error"),
    "column.largest": gettext_noop("largest value"),
    "column.low": gettext_noop("quarter below"),
    "column.high": gettext_noop("quarter above"),
    "column.rate": gettext_noop("tokens a second"),
    "column.peak": gettext_noop("peak memory"),
    # Metrics
    "metric.ema": gettext_noop("Smoothed loss"),
    "metric.learning-rate": gettext_noop("Learning rate"),
    "metric.norm": gettext_noop("Norm of the gradient, before clipping"),
    "metric.tokens-per-second": gettext_noop("Tokens a second"),
    "metric.memory": gettext_noop("Memory of the buffers"),
    "metric.gpu-use": gettext_noop("Use of the GPU"),
    "metric.gpu-power": gettext_noop("Power the GPU draws"),
    "metric.gpu-temperature": gettext_noop("Temperature of the GPU"),
    "metric.host-load": gettext_noop("Load of the host: processes that run or wait"),
    "metric.loss-scale": gettext_noop("Loss scale"),
    "metric.score": gettext_noop("Score of the sample"),
    "metric.bigrams": gettext_noop("Different word pairs"),
    "metric.trigrams": gettext_noop("Different word triples"),
    "metric.words": gettext_noop("English words"),
    "metric.characters": gettext_noop("Variety of characters"),
    "metric.plan-bytes": gettext_noop("Bytes the plan needs"),
    "metric.parameters": gettext_noop("Weights"),
    "metric.largest-batch": gettext_noop("Largest batch that fits"),
    "metric.error-bf16": gettext_noop("Error in BF16"),
    "metric.error-fp8": gettext_noop("Error in E4M3 with scales"),
    "metric.error-fp8-unscaled": gettext_noop("Error in E4M3 without scales"),
    "metric.product-time": gettext_noop("Time of a product"),
    "metric.norm-before": gettext_noop("Norm before clipping"),
    "metric.norm-after": gettext_noop("Norm after clipping"),
    "metric.forward-calls": gettext_noop("Forward passes of a step"),
    "metric.backward-calls": gettext_noop("Backward passes of a step"),
    "metric.optimizer-calls": gettext_noop("Updates of a step"),
    "metric.update-size": gettext_noop("Size of the first update, over the learning rate"),
    "metric.cold-start": gettext_noop("From the start of the process to its first step"),
    "metric.step-time": gettext_noop("Time of a training step"),
    "metric.launches-forward": gettext_noop("Launches of the forward pass"),
    "metric.launches-backward": gettext_noop("Launches of the backward pass"),
    # Procedures
    "procedure.andrea.train.title": gettext_noop("Train a language model"),
    "procedure.andrea.train.about": gettext_noop(
        "A small GPT learns to continue text, with hand-written kernels only: loss, samples, "
        "checkpoints."
    ),
    "procedure.andrea.resume-proof.title": gettext_noop("Stopped, resumed, the same to the bit"),
    "procedure.andrea.resume-proof.about": gettext_noop(
        "2k steps straight against k steps, a stop and k more: every loss and the last file."
    ),
    "procedure.andrea.memory-plan.title": gettext_noop("The memory plan"),
    "procedure.andrea.memory-plan.about": gettext_noop(
        "Every buffer of a training run, with its size, before anything is allocated."
    ),
    "procedure.andrea.fp8.title": gettext_noop("Eight bits, an experiment"),
    "procedure.andrea.fp8.about": gettext_noop(
        "Products in E4M3 with one scale a tensor, beside BF16: error, and on a GPU speed."
    ),
    "procedure.andrea.accumulation.title": gettext_noop("Gradients that add up"),
    "procedure.andrea.accumulation.about": gettext_noop(
        "Micro-batches against one large batch, and what goes wrong when a part is left out."
    ),
    "procedure.andrea.clip.title": gettext_noop("Clipping the gradient’s norm"),
    "procedure.andrea.clip.about": gettext_noop(
        "One norm over all gradients: below the threshold, above it, and not finite."
    ),
    "procedure.andrea.adamw.title": gettext_noop("AdamW and its moments"),
    "procedure.andrea.adamw.about": gettext_noop(
        "Updates of the kernel against float64, and moments in FP16 that vanish."
    ),
    "procedure.andrea.generate.title": gettext_noop("Let a model write"),
    "procedure.andrea.generate.about": gettext_noop("Free text from a checkpoint, and its score."),
    "procedure.andrea.trace.title": gettext_noop("The kernels in the order they run"),
    "procedure.andrea.trace.about": gettext_noop(
        "One step forward and backward, launch by launch: each kernel with its twin."
    ),
    "procedure.andrea.gradcheck.title": gettext_noop("Every gradient against Autograd"),
    "procedure.andrea.gradcheck.about": gettext_noop(
        "The whole model, every weight: the kernels’ gradients against float64 Autograd."
    ),
    "procedure.andrea.benchmark.title": gettext_noop("A training step, timed"),
    "procedure.andrea.benchmark.about": gettext_noop(
        "The engine against PyTorch on the same model, in turn. Needs a GPU."
    ),
}
