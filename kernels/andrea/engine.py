"""The engine: buffers allocated once, a step as launches on them, on a GPU recorded and replayed.

A step is n micro-batches forward and backward, gradients adding up; their mean; the global
norm and its clipping; AdamW; gradients back to zero. Nothing is allocated in it and nothing
waits for the device: the loss and the norm of a step are read while the next one runs.
"""

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import torch

from kernels.andrea import initial, scalars
from kernels.andrea.arena import Arena
from kernels.andrea.checkpoint import Checkpoint
from kernels.andrea.config import Config, Precision
from kernels.andrea.host import HostSlot
from kernels.andrea.layout import layout
from kernels.andrea.operators import adamw, casts, grad_norm
from kernels.andrea.plan import Plan, plan
from kernels.andrea.program import Launch, Program, stacked, views
from kernels.andrea.program_fast import FastProgram
from kernels.andrea.schedule_tables import corrections, rates
from kernels.andrea.state import State
from kernels.compiling import compile_ahead
from kernels.procedure import BadParameter

SKIPPED = 3  # its place in grad_norm's result
NO_CLIP = float(np.finfo(np.float32).max)  # a threshold that every finite norm is below
PROGRAMS: dict[int, type[Program]] = {1: Program, 2: FastProgram}


class Engine:
    """A model of `config` on `device`; `version` 1 is the operators as taught. It begins with
    the weights of its seed, or goes on from `start`.

    Raises MemoryRefused, before anything is allocated, when the memory plan does not fit, and
    BadParameter for a precision that it cannot train in.
    """

    def __init__(
        self,
        config: Config,
        device: torch.device,
        version: int = 1,
        start: tuple[Checkpoint, State] | None = None,
    ) -> None:
        require_precision(config)
        self.config, self.device, self.version = config, device, version
        self.plan: Plan = plan(config, version)
        self.arena = Arena(self.plan, device)
        self.views = views(config, self.arena)
        kind = PROGRAMS[version]
        self.programs = [kind(self.views, i) for i in range(config.micro_batches)]
        self.result = self.arena["report"][config.micro_batches :]
        self.updating = list(self.build_update())
        self.trace: list[Launch] | None = None
        self.slots = (HostSlot(config, device), HostSlot(config, device))
        self.graph: torch.cuda.CUDAGraph | None = None
        self.arena["rates"].copy_(torch.from_numpy(rates(config)))
        self.arena["corrections"].copy_(torch.from_numpy(corrections(config)))
        with ThreadPoolExecutor(1) as beside:  # a large model's weights take seconds to draw
            beginning = beside.submit(lambda: start or first(config))
            if device.type == "cuda":
                # cuBLAS may pick another algorithm where its workspace is of another size.
                os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
                self.record()
            self.put(*beginning.result())

    # A step

    def feed(self, slot: HostSlot) -> None:
        """Copy the micro-batches of `slot` to the device, in the order of the work there."""
        for name, tensor in slot.tensors.items():
            self.arena[name].copy_(tensor, non_blocking=True)

    def step(self, slot: HostSlot) -> None:
        """One optimizer step on what was fed. Returns before the device is done; the slot
        receives the report."""
        if self.graph is not None:
            self.graph.replay()
        else:
            self.launch()
        slot.receive(self.arena["report"])

    def launch(self) -> None:
        for index in range(self.config.micro_batches):
            self.forward(index)
            self.backward(index)
        self.update()

    def forward(self, index: int = 0) -> None:
        """Micro-batch `index` through the model; its loss goes to its place in the report."""
        self.run(self.programs[index].forward)

    def backward(self, index: int = 0) -> None:
        """Add the gradients of micro-batch `index`, whose forward pass came last."""
        self.run(self.programs[index].backward)

    def update(self) -> None:
        """Mean, norm, clip, AdamW, gradients back to zero, and the next step's numbers."""
        self.run(self.updating)

    def zero_grads(self) -> None:
        casts.zero(self.arena["gradients"])

    def run(self, launches: Iterable[Launch]) -> None:
        for launch in launches:
            if self.trace is not None:
                self.trace.append(launch)
            launch.call()

    def build_update(self) -> Iterator[Launch]:
        """The mean and the clip factor are one number, which AdamW multiplies gradients by."""
        config, arena = self.config, self.arena
        flat = arena["gradients"]
        partials = arena["norm_partials"][: grad_norm.programs(flat)]
        inverse = arena["loss_scale"][1:]
        yield utility("k_grad_norm_partial", partial(grad_norm.partial, flat, partials))
        final = partial(grad_norm.final, partials, inverse, config.clip or NO_CLIP, self.result)
        yield utility("k_grad_norm_final", final)
        runs = [(slot.offset, slot.offset + slot.count, slot.decays) for slot in layout(config)]
        yield utility(
            "k_adamw",
            partial(
                adamw.step,
                *(arena["weights"], flat, arena["m"], arena["v"]),
                *(adamw.chunks(runs, self.device), arena["schedule"], self.result),
                *(config.beta1, config.beta2, config.epsilon, config.decay),
                working=arena.buffers.get("working"),
            ),
        )
        yield from self.packing()
        yield utility(
            "k_advance",
            partial(
                scalars.advance,
                *(arena["counters"], self.result, arena["rates"], arena["corrections"]),
                *(arena["schedule"], arena["loss_scale"], config.micro_batches),
                scaled=config.precision is Precision.FP16,
            ),
        )

    def packing(self) -> Iterator[Launch]:
        """W_Q, W_K and W_V of every layer side by side again, where a version reads them so."""
        if "packed" in self.arena.buffers:
            every = stacked(self.config, self.views.weights)
            yield utility("k_pack", partial(casts.pack, every, self.arena["packed"]))

    def record(self) -> None:
        """Compile every kernel, run one step on zeros, then record a step as a graph."""
        self.reset()
        side = torch.cuda.Stream(self.device)
        side.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(side):
            compile_ahead(self.launch)
            self.launch()
        torch.cuda.current_stream(self.device).wait_stream(side)
        torch.cuda.synchronize(self.device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.launch()
        self.graph = graph

    # What a run continues from

    def put(self, checkpoint: Checkpoint, state: State) -> None:
        """Continue from there: weights, moments, counters, loss scale; gradients zero."""
        self.reset()
        for name, array in (
            ("weights", checkpoint.weights),
            ("m", checkpoint.m),
            ("v", checkpoint.v),
        ):
            self.arena[name].copy_(torch.from_numpy(array))
        self.refresh()
        last = self.config.steps - 1
        row = min(state.applied + 1, self.arena["corrections"].shape[0] - 1)
        schedule = self.arena["schedule"]
        schedule[0] = self.arena["rates"][min(checkpoint.step, last)]
        schedule[1:] = self.arena["corrections"][row]
        self.arena["counters"].copy_(
            torch.tensor([checkpoint.step, state.applied, state.good], dtype=torch.int32)
        )
        self.arena["loss_scale"].copy_(torch.tensor(self.scales(state.scale)))
        self.result[SKIPPED] = state.skipped

    def refresh(self) -> None:
        """Make the copies of the weights that the kernels read from the masters again."""
        if "working" in self.arena.buffers:
            casts.cast(self.arena["weights"], self.arena["working"])
        for launch in self.packing():
            launch.call()

    def scales(self, scale: float) -> list[float]:
        """S and 1/(n S), the second as the device computes it."""
        product = torch.tensor(scale * self.config.micro_batches, dtype=torch.float32)
        return [scale, float(torch.tensor(1.0) / product)]

    def reset(self) -> None:
        """Gradients, moments, weights and counters as they were when the engine was made."""
        for name in ("weights", "gradients", "m", "v", "counters", "report", "schedule"):
            self.arena[name].zero_()

    def checkpoint(self) -> Checkpoint:
        """Weights and moments on the host. Waits for the device."""
        step = int(self.arena["counters"][0])
        copies = (self.arena[name].to("cpu", copy=True) for name in ("weights", "m", "v"))
        return Checkpoint(step, *(copy.numpy() for copy in copies))

    def state(self) -> State:
        """What else decides the next step. Waits for the device."""
        _, applied, good = self.arena["counters"].tolist()
        scale = float(self.arena["loss_scale"][0])
        return State(scale, good, applied, skipped=int(self.result[SKIPPED]))


def first(config: Config) -> tuple[Checkpoint, State]:
    """What a run starts with: a function of the seed."""
    weights = initial.weights(config)
    zeros = np.zeros_like(weights)
    return Checkpoint(0, weights, zeros, zeros), initial.state(config)


def require_precision(config: Config) -> None:
    if config.precision is Precision.FP8:
        raise BadParameter(
            "precision = 'fp8-e4m3' is not accepted for training; accepted: fp32, fp16, bf16."
        )


def utility(kernel: str, call: partial[None]) -> Launch:
    return Launch(kernel.removeprefix("k_"), "utility", None, (kernel,), call)
