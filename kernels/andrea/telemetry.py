"""What the card says of itself while it trains, through NVML. Needs no torch.

A machine without NVML has no telemetry: `open_telemetry` gives None and the run says so once.
"""

from dataclasses import dataclass
from typing import Any

import pynvml

from kernels.events import Metric


@dataclass(frozen=True)
class Telemetry:
    """A handle on one card."""

    handle: Any

    def read(self, step: int) -> list[Metric]:
        """Use, power and temperature; a reading that the card refuses is left out."""
        readings = (
            ("gpu-use", "percent", lambda: pynvml.nvmlDeviceGetUtilizationRates(self.handle).gpu),
            ("gpu-power", "W", lambda: pynvml.nvmlDeviceGetPowerUsage(self.handle) / 1000),
            (
                "gpu-temperature",
                "°C",
                lambda: pynvml.nvmlDeviceGetTemperature(self.handle, pynvml.NVML_TEMPERATURE_GPU),
            ),
        )
        found = []
        for name, unit, ask in readings:
            try:
                found.append(Metric(name, float(ask()), step, unit))
            except pynvml.NVMLError:
                continue
        return found

    def power_limit(self) -> float | None:
        """Watts the card may draw."""
        try:
            return float(pynvml.nvmlDeviceGetEnforcedPowerLimit(self.handle)) / 1000
        except pynvml.NVMLError:
            return None

    def close(self) -> None:
        pynvml.nvmlShutdown()


def open_telemetry(card: str) -> Telemetry | None:
    """The card with that UUID; None where NVML or the card is not there."""
    try:
        pynvml.nvmlInit()
        return Telemetry(pynvml.nvmlDeviceGetHandleByUUID(card))
    except pynvml.NVMLError:
        return None
