"""From the parameters of a Procedure to a configuration, and to a training job."""

from pathlib import Path

import torch

from kernels.andrea.arena import free_memory
from kernels.andrea.config import Config
from kernels.andrea.corpus import prepare
from kernels.andrea.plan import BESIDE_ON_GPU, Plan, plan, require_room
from kernels.andrea.training import Job
from kernels.procedure import BadParameter, Context

CADENCE = 100  # steps between samples, and between checkpoints, at full size


def job_of(context: Context, config: Config, folder: Path) -> Job:
    """What `andrea.train` asks for. Raises BadParameter for a corpus or path that cannot be."""
    given = context.parameters
    short = CADENCE if config.steps >= 10 * CADENCE else max(1, config.steps // 3)
    resume = given.get("resume", "")
    if resume and not Path(resume).is_file():
        raise BadParameter(f"resume = {resume!r} is not there; accepted: a checkpoint file.")
    return Job(
        config=config,
        model=given["config"],
        folder=folder,
        corpus=prepare(given["corpus"], folder, config.vocabulary, config.context),
        version=context.version,
        resume=Path(resume) if resume else None,
        polish=bool(given.get("polish")),
        sample_every=given.get("sample_every") or short,
        checkpoint_every=given.get("checkpoint_every") or short,
        sample_tokens=given.get("sample_tokens", 420),
    )


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
