"""What a step can start, and on what."""

from dataclasses import dataclass
from typing import Any

from kernels.procedure import Procedure
from runner import api
from runner.api import DeviceStatus, Quota, RunView
from runner.procedures import queues_of


@dataclass(frozen=True)
class Offer:
    """A form that starts the Procedure, with the devices it may be started on."""

    action: str
    devices: list[DeviceStatus]
    quota: Quota | None
    recording: RunView | None
    locked: bool = False

    @property
    def online(self) -> list[DeviceStatus]:
        return [device for device in self.devices if device.online]

    @property
    def choice(self) -> bool:
        """Whether there is anything to choose between."""
        return len(self.devices) > 1

    @property
    def preferred(self) -> str:
        """A GPU where one is online. Anything else has to be chosen by its name."""
        return next((device.device for device in self.online), "")

    @property
    def no_gpu(self) -> bool:
        return not any(device.online and device.device == "gpu" for device in self.devices)

    @property
    def gpu_only(self) -> bool:
        return all(device.device == "gpu" for device in self.devices)

    @property
    def gpu_less(self) -> bool:
        """A Procedure without a kernel: there is no interpreter to name."""
        return all(device.device == "cpu" for device in self.devices)

    @property
    def left(self) -> dict[str, int] | None:
        """What the day still holds, once some of it is used."""
        quota = self.quota
        return {"n": quota.left, "limit": quota.limit} if quota and quota.used else None

    @property
    def few_left(self) -> bool:
        return self.quota is not None and self.quota.few_left


def offer(person: Any, procedure: Procedure, action: str, *, locked: bool) -> Offer:
    """What the step can start, on the devices that the Procedure accepts."""
    possible = queues_of(procedure)
    devices = [d for d in api.devices() if d.device in possible]
    no_gpu = not any(d.online and d.device == "gpu" for d in devices)
    recordings = api.recordings(procedure.name) if no_gpu else []
    quota = api.quota(person) if person.is_authenticated else None
    return Offer(action, devices, quota, next(iter(recordings), None), locked)
