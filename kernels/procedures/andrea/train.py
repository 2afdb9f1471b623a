"""andrea.train: a language model, trained by the kernels of the course.

What was asked for is looked at whole, then comes the memory plan, then the loss by step, samples,
and checkpoints as Artifacts. Stop writes a checkpoint and ends; Checkpoint writes one and goes on.
"""

from collections.abc import Iterator

from kernels.andrea.training import Training
from kernels.events import Event
from kernels.procedure import Context
from kernels.procedures.andrea.configuring import config_of
from kernels.procedures.andrea.jobs import device_of, job_of, require_memory
from kernels.procedures.andrea.memory import told


def run(context: Context) -> Iterator[Event]:
    device, config = device_of(context), config_of(context.parameters)
    needed = require_memory(config, device, context.version)
    training = Training(job_of(context, config, context.outputs), device)
    yield from told(config, needed)
    yield from training.run(context)
