"""What is measured beside the training itself: speed, memory, what the card and the host report."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import torch

from kernels.andrea.engine import Engine
from kernels.andrea.pace import Readings
from kernels.andrea.telemetry import Telemetry, open_telemetry
from kernels.events import Event, Log, Metric, Note


class Gauges:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.on_gpu = engine.device.type == "cuda"
        self.telemetry: Telemetry | None = None
        self.readings = Readings()
        self.read_at, self.read_step = 0.0, 0
        self.beside = 0.0  # seconds since then that were no training

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is done meanwhile (a sample, a checkpoint) does not count as training."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.beside += time.monotonic() - began

    def open(self) -> Iterator[Event]:
        if self.on_gpu:
            self.telemetry = open_telemetry(identity(self.engine.device))
        if self.telemetry is None:
            yield Log(Note("log.andrea.no-telemetry"))
        elif (watts := self.telemetry.power_limit()) is not None:
            yield Log(Note("log.andrea.power-limit", {"watts": watts}))
        if not self.on_gpu:
            yield Log(Note("log.andrea.interpreter-times"))

    def read(self, step: int) -> Iterator[Metric]:
        """A reading, if one is due."""
        if not self.readings.due():
            return
        now = time.monotonic()
        seconds, steps = now - self.read_at - self.beside, step - self.read_step
        if self.on_gpu and self.read_at:
            tokens = steps * self.engine.config.micro_batches * self.engine.config.rows
            yield Metric("tokens-per-second", tokens / seconds, step)
        yield Metric("memory", self.memory(), step, "bytes")
        yield Metric("host-load", psutil.getloadavg()[0], step)  # over the last minute
        if self.telemetry is not None:
            yield from self.telemetry.read(step)
        self.read_at, self.read_step, self.beside = now, step, 0.0

    def memory(self) -> float:
        """On a GPU all that is taken of it; on the interpreter the buffers."""
        if self.on_gpu:
            free, total = torch.cuda.mem_get_info(self.engine.device)
            return float(total - free)
        return float(self.engine.plan.bytes)

    def close(self) -> None:
        if self.telemetry is not None:
            self.telemetry.close()
            self.telemetry = None


def identity(device: torch.device) -> str:
    """The card's UUID as NVML writes it: CUDA's numbering of cards is not NVML's."""
    return f"GPU-{torch.cuda.get_device_properties(device).uuid}"
