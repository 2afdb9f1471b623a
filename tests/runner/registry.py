"""Procedures that misbehave on purpose, for the runner's tests (RUNNER_REGISTRY names this)."""

from kernels.procedure import Device, Parameter, Procedure
from kernels.registry import PROCEDURES as REAL
from kernels.registry import UnknownProcedure, parse

__all__ = ["PROCEDURES", "UnknownProcedure", "get", "parse"]

_MODULE = "tests.runner.misbehaving"


def procedure(name: str, *parameters: Parameter, wall_seconds: int = 60) -> Procedure:
    function = name.partition(".")[2].replace("-", "_")
    return Procedure(
        name=name,
        entry=f"{_MODULE}:{function}",
        parameters=parameters,
        devices=(Device.CPU,),
        wall_seconds=wall_seconds,
        uses_torch=False,
    )


_ALL = (
    procedure("test.count", Parameter("events", int, 5), Parameter("pause", float, 0.0)),
    procedure(
        "test.paced",
        Parameter("events", int, 100),
        Parameter("rate", float, 100.0),
        Parameter("delay", float, 0.0),
        wall_seconds=300,
    ),
    procedure("test.sleep", Parameter("seconds", float, 30.0)),
    procedure("test.ignore-stop", Parameter("seconds", float, 60.0)),
    procedure("test.checkpoints", Parameter("seconds", float, 30.0)),
    procedure("test.print-loop", Parameter("lines", int, 200_000)),
    procedure("test.print-slowly", Parameter("lines", int, 20), Parameter("pause", float, 0.05)),
    procedure("test.segfault"),
    procedure("test.exit", Parameter("status", int, 3)),
    procedure("test.eat-memory", Parameter("megabytes", int, 100_000)),
    procedure("test.allocation-refused"),
    procedure("test.raise"),
    procedure("test.bad-code"),
    procedure("test.huge-event"),
    procedure("test.large-events", Parameter("events", int, 300)),
    procedure("test.odd-text"),
    procedure("test.artifacts"),
    procedure("test.leave-children"),
    procedure("test.look-around"),
    procedure("test.too-slow", wall_seconds=2),
    procedure("test.cases", Parameter("failing", int, 0)),
    procedure("test.events-flood", Parameter("events", int, 25_000)),
    Procedure("test.gpu-only", f"{_MODULE}:count", devices=(Device.CUDA,), uses_torch=False),
)
PROCEDURES = {p.name: p for p in _ALL} | REAL


def get(name: str) -> Procedure:
    try:
        return PROCEDURES[name]
    except KeyError:
        raise UnknownProcedure(name) from None
