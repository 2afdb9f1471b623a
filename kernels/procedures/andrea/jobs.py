"""From the parameters of a Procedure to a configuration, and to a training job."""

import os
from pathlib import Path

import torch

from kernels.andrea.arena import free_memory
from kernels.andrea.config import Config
from kernels.andrea.corpus import survey
from kernels.andrea.job import Job
from kernels.andrea.layout import parameter_count
from kernels.andrea.plan import BESIDE_ON_GPU, MemoryRefused, Plan, plan, require_room, shown
from kernels.procedure import BadParameter, Context

CADENCE = 100  # steps between samples, and between checkpoints, at full size


def job_of(context: Context, config: Config, folder: Path) -> Job:
    """What `andrea.train` asks for. Writes nothing.

    Raises BadParameter for a corpus or path that cannot be.
    """
    given = context.parameters
    short = CADENCE if config.steps >= 10 * CADENCE else max(1, config.steps // 3)
    resume = given.get("resume", "")
    require_file("resume", resume)
    return Job(
        config=config,
        model=given["config"],
        folder=folder,
        text=survey(given["corpus"], config.vocabulary, config.context),
        version=context.version,
        resume=Path(resume) if resume else None,
        polish=bool(given.get("polish")),
        sample_every=given.get("sample_every") or short,
        checkpoint_every=given.get("checkpoint_every") or short,
        sample_tokens=given.get("sample_tokens", 420),
    )


def require_file(key: str, path: str) -> None:
    """Raises BadParameter for the path of a checkpoint where no file is; "" names none."""
    if path and not os.path.exists(path):  # false too for a name that no file can have
        raise BadParameter(f"{key} = {path!r} is not there; accepted: a checkpoint file.")
    if path and not os.path.isfile(path):
        raise BadParameter(f"{key} = {path!r} is no file; accepted: a checkpoint file.")


def device_of(context: Context) -> torch.device:
    """The device, with torch told to use one thread where the interpreter has the cores."""
    device = torch.device(context.device.value)
    if device.type == "cpu":
        torch.set_num_threads(1)
    return device


def require_memory(config: Config, device: torch.device, version: int = 1) -> Plan:
    """The plan, if it fits. Raises MemoryRefused."""
    needed = plan(config, version)
    beside = BESIDE_ON_GPU if device.type == "cuda" else 0
    require_room(needed, free_memory(device), beside)
    return needed


def require_memory_to_write(config: Config, beside: Plan, device: torch.device) -> None:
    """Room for the weights and for `beside`, the decoder's buffers. Raises MemoryRefused."""
    own = BESIDE_ON_GPU if device.type == "cuda" else 0
    total, free = 4 * parameter_count(config) + beside.bytes + own, free_memory(device)
    if total > free:
        raise MemoryRefused(
            f"width: this model needs {shown(total)} to write and {shown(free)} are free; "
            "accepted: a smaller width, fewer layers or a smaller vocabulary."
        )
