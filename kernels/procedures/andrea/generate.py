"""andrea.generate: what a model writes, from a checkpoint or from untrained weights."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from kernels.andrea import initial
from kernels.andrea.arena import Arena
from kernels.andrea.checkpoint import CheckpointError, load_weights
from kernels.andrea.config import Config
from kernels.andrea.corpus import text_of
from kernels.andrea.job import WHOLE
from kernels.andrea.layout import parameter_count
from kernels.andrea.plan import Plan, decoder
from kernels.andrea.program import cut
from kernels.andrea.sampling import Decoder, write
from kernels.andrea.scoring import score
from kernels.events import Event, Metric, Progress, Sample
from kernels.procedure import BadParameter, Context
from kernels.procedures.andrea.configuring import config_of
from kernels.procedures.andrea.jobs import device_of, require_file, require_memory_to_write

EVERY = 20  # tokens between two words on progress


def run(context: Context) -> Iterator[Event]:
    config, count = config_of(context.parameters), context["tokens"]
    require_file("checkpoint", context["checkpoint"])
    device, needed = device_of(context), Plan(tuple(decoder(config)))
    require_memory_to_write(config, needed, device)
    step, flat = weights(context, config)
    arena = Arena(needed, device)
    model = Decoder(config, cut(config, torch.from_numpy(flat).to(device)), arena.buffers)
    prompt = context["prompt"].encode()
    tokens: list[int] = []
    draws = write(model, count, config.seed, 0, prompt, context["temperature"])
    for token in draws:
        if context.stop.is_set():
            return
        tokens.append(token)
        if len(tokens) % EVERY == 0:
            yield Progress(len(tokens), count)
    text = text_of([*prompt, *tokens])
    scored = score(text)
    yield Sample(step, text, scored.shown())
    yield Metric("score", scored.total)


def weights(context: Context, config: Config) -> tuple[int, np.ndarray]:
    """The checkpoint's step and weights, or those a training would start with. Raises
    BadParameter."""
    if not context["checkpoint"]:
        return 0, initial.weights(config)
    try:
        return load_weights(Path(context["checkpoint"]), parameter_count(config))
    except CheckpointError as error:
        raise BadParameter(f"checkpoint: {error}; {WHOLE}.") from None
