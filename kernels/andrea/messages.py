"""What the Procedures of ANDREA say, by code, in English: see `kernels.messages`."""

from kernels.marking import gettext_noop as noop

ANDREA: dict[str, str] = {
    # Endings
    "end.refused": noop("Not accepted: {reason}"),
    "end.saved": noop("Stopped on request after step {step}; {file} holds what is needed."),
    "end.halted": noop("Halted at step {step}: {failures} samples in a row scored below {lowest}."),
    "end.trained": noop("{steps} steps made; the last loss is {loss}."),
    "end.not-saved": noop("The checkpoint of step {step} could not be written: {reason}."),
    # Lines of the log
    "log.andrea.not-saved": noop(
        "The checkpoint of step {step} could not be written ({reason}). The one before is intact."
    ),
    "log.andrea.peer": noop("{name} is ready to be timed."),
    "log.andrea.corpus": noop("The corpus “{name}” holds {tokens} tokens."),
    "log.andrea.resumed": noop("Continues after step {step}, from {file}."),
    "log.andrea.polish": noop(
        "A polish: samples and state of the run before are in archive {number}."
    ),
    "log.andrea.no-telemetry": noop(
        "No telemetry: this machine has no NVIDIA driver that reports use, power and temperature."
    ),
    "log.andrea.power-limit": noop("The card may draw {watts} W."),
    "log.andrea.skipped": noop(
        "Step {step}: the gradient’s norm is not finite. The update is left out, the weights stay "
        "({skipped} so far)."
    ),
    "log.andrea.low-sample": noop(
        "The sample of step {step} scores {score}, below {lowest} ({failures} in a row)."
    ),
    "log.andrea.interpreter-times": noop(
        "On Triton’s interpreter no speed is reported: it would say nothing about a GPU."
    ),
    # Tables
    "table.memory-plan": noop("Every buffer, before the first is allocated"),
    "table.memory-summary": noop("Memory by what it is for"),
    "table.resume": noop("Losses of the straight run and of the stopped and resumed one"),
    "table.adamw-moments": noop("Adam’s v for a gradient g, kept in FP32 and in FP16"),
    "table.launches": noop("Kernels in the order they ran, each with its twin"),
    "table.gradients": noop("Gradients of the kernels against Autograd in float64"),
    "table.training-speed": noop("Time of a whole training step"),
    "column.buffer": noop("buffer"),
    "column.shape": noop("shape"),
    "column.dtype": noop("dtype"),
    "column.whose": noop("for"),
    "column.step": noop("step"),
    "column.straight": noop("straight"),
    "column.resumed": noop("stopped and resumed"),
    "column.equal": noop("equal to the bit"),
    "column.gradient": noop("gradient g"),
    "column.fp32": noop("v in FP32"),
    "column.fp16": noop("v in FP16"),
    "column.update-fp32": noop("size of the update, v in FP32"),
    "column.update-fp16": noop("size of the update, v in FP16"),
    "column.series": noop("who"),
    "column.median": noop("median"),
    "column.number": noop("no."),
    "column.direction": noop("direction"),
    "column.layer": noop("block"),
    "column.launched": noop("kernels"),
    "column.twin": noop("its twin"),
    "column.tensor": noop("tensor"),
    "column.error": noop("largest error"),
    "column.largest": noop("largest value"),
    "column.low": noop("quarter below"),
    "column.high": noop("quarter above"),
    "column.rate": noop("tokens a second"),
    "column.peak": noop("peak memory"),
    # Metrics
    "metric.ema": noop("Smoothed loss"),
    "metric.learning-rate": noop("Learning rate"),
    "metric.norm": noop("Norm of the gradient, before clipping"),
    "metric.tokens-per-second": noop("Tokens a second"),
    "metric.memory": noop("Memory of the buffers"),
    "metric.gpu-use": noop("Use of the GPU"),
    "metric.gpu-power": noop("Power the GPU draws"),
    "metric.gpu-temperature": noop("Temperature of the GPU"),
    "metric.loss-scale": noop("Loss scale"),
    "metric.score": noop("Score of the sample"),
    "metric.bigrams": noop("Different word pairs"),
    "metric.trigrams": noop("Different word triples"),
    "metric.words": noop("English words"),
    "metric.characters": noop("Variety of characters"),
    "metric.plan-bytes": noop("Bytes the plan needs"),
    "metric.parameters": noop("Weights"),
    "metric.norm-before": noop("Norm before clipping"),
    "metric.norm-after": noop("Norm after clipping"),
    "metric.forward-calls": noop("Forward passes of a step"),
    "metric.backward-calls": noop("Backward passes of a step"),
    "metric.optimizer-calls": noop("Updates of a step"),
    "metric.update-size": noop("Size of the first update, over the learning rate"),
    "metric.cold-start": noop("From the start of the process to its first step"),
    "metric.step-time": noop("Time of a training step"),
    "metric.launches-forward": noop("Launches of the forward pass"),
    "metric.launches-backward": noop("Launches of the backward pass"),
    # Procedures
    "procedure.andrea.train.title": noop("Train a language model"),
    "procedure.andrea.train.about": noop(
        "A small GPT learns to continue text, with hand-written kernels only: loss, samples, "
        "checkpoints."
    ),
    "procedure.andrea.resume-proof.title": noop("Stopped, resumed, the same to the bit"),
    "procedure.andrea.resume-proof.about": noop(
        "2k steps straight against k steps, a stop and k more: every loss and the last file."
    ),
    "procedure.andrea.memory-plan.title": noop("The memory plan"),
    "procedure.andrea.memory-plan.about": noop(
        "Every buffer of a training run, with its size, before anything is allocated."
    ),
    "procedure.andrea.accumulation.title": noop("Gradients that add up"),
    "procedure.andrea.accumulation.about": noop(
        "Micro-batches against one large batch, and what goes wrong when a part is left out."
    ),
    "procedure.andrea.clip.title": noop("Clipping the gradient’s norm"),
    "procedure.andrea.clip.about": noop(
        "One norm over all gradients: below the threshold, above it, and not finite."
    ),
    "procedure.andrea.adamw.title": noop("AdamW and its moments"),
    "procedure.andrea.adamw.about": noop(
        "Updates of the kernel against float64, and moments in FP16 that vanish."
    ),
    "procedure.andrea.generate.title": noop("Let a model write"),
    "procedure.andrea.generate.about": noop("Free text from a checkpoint, and its score."),
    "procedure.andrea.trace.title": noop("The kernels in the order they run"),
    "procedure.andrea.trace.about": noop(
        "One step forward and backward, launch by launch: each kernel with its twin."
    ),
    "procedure.andrea.gradcheck.title": noop("Every gradient against Autograd"),
    "procedure.andrea.gradcheck.about": noop(
        "The whole model, every weight: the kernels’ gradients against float64 Autograd."
    ),
    "procedure.andrea.benchmark.title": noop("A training step, timed"),
    "procedure.andrea.benchmark.about": noop(
        "The engine against PyTorch on the same model, in turn. Needs a GPU."
    ),
}
