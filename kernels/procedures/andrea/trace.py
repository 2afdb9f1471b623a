"""andrea.trace: the kernels of one micro-batch in the order they ran, each with its twin."""

from collections.abc import Iterator
from dataclasses import replace

from kernels.andrea.engine import Engine
from kernels.andrea.operators import BY_NAME
from kernels.andrea.program import Launch
from kernels.events import Case, Column, Event, Metric, Table, Verdict
from kernels.procedure import Context
from kernels.procedures.andrea.configuring import config_of
from kernels.procedures.andrea.jobs import device_of, require_memory

# The backward pass of one block: the MLP's half first, and in each half the residual,
# the sub-layer from its end, the LayerNorm, whose gradient is added into the stream's.
BLOCK_BACKWARD = (
    "k_residual_add_bwd",
    "k_mlp_bwd",
    "k_layernorm_bwd",
    "k_residual_add_bwd",
    "k_attn_out_bwd",
    "k_attn_bwd",
    "k_attn_qkv_bwd",
    "k_layernorm_bwd",
)


def run(context: Context) -> Iterator[Event]:
    config = replace(config_of(context.parameters), micro_batches=1)
    device = device_of(context)
    require_memory(config, device)
    forward, backward = traced(Engine(config, device))
    yield table(forward + backward)
    yield Metric("launches-forward", sum(len(launch.kernels) for launch in forward))
    yield Metric("launches-backward", sum(len(launch.kernels) for launch in backward))
    orders = [block(backward, layer) for layer in range(config.layers)]
    yield case("block-order", all(order == BLOCK_BACKWARD for order in orders))
    yield case("reversed", twins(backward) == twins(forward)[::-1])


def traced(engine: Engine) -> tuple[list[Launch], list[Launch]]:
    """What was launched, forward and backward, on tokens that are all zero."""
    found: list[list[Launch]] = []
    for part in (engine.forward, engine.backward):
        engine.trace = []
        part()
        found.append(engine.trace)
    engine.trace = None
    return found[0], found[1]


def block(launches: list[Launch], layer: int) -> tuple[str, ...]:
    """The first kernel of each operator of one block, in order."""
    return tuple(
        launch.kernels[0]
        for launch in launches
        if launch.layer == layer and launch.direction != "utility"
    )


def twins(launches: list[Launch]) -> list[tuple[str, int | None]]:
    """What forward and backward must share: the operators, with their blocks."""
    return [(one.operator, one.layer) for one in launches if one.direction != "utility"]


def table(launches: list[Launch]) -> Table:
    rows = []
    for number, launch in enumerate(launches, start=1):
        twin = ""
        if launch.direction != "utility":
            operator = BY_NAME[launch.operator]
            twin = (operator.backward if launch.direction == "forward" else operator.forward)[0]
        layer = "" if launch.layer is None else launch.layer
        rows.append((number, launch.direction, layer, ", ".join(launch.kernels), twin))
    keys = ("number", "direction", "layer", "launched", "twin")
    return Table("launches", tuple(Column(key) for key in keys), tuple(rows))


def case(name: str, good: bool) -> Case:
    return Case(name, Verdict.PASSED if good else Verdict.FAILED, {"check": name})
