"""The Procedures a worker of this site may run. Which ones is a setting, so that tests can add
some that crash."""

from functools import cache
from importlib import import_module
from types import ModuleType

from django.conf import settings

from kernels.procedure import Device, Procedure
from runner.models import Queue

DEVICES = {Queue.GPU: Device.CUDA, Queue.CPU: Device.CPU}


@cache
def registry() -> ModuleType:
    """`get(name)` and `parse(procedure, parameters)`: `kernels.registry`, but in tests."""
    return import_module(settings.RUNNER_REGISTRY)


def find(name: str) -> Procedure:
    """Raises UnknownProcedure."""
    found: Procedure = registry().get(name)
    return found


def queues_of(procedure: Procedure) -> tuple[str, ...]:
    """Those whose devices the Procedure accepts."""
    return tuple(queue.value for queue, device in DEVICES.items() if device in procedure.devices)
