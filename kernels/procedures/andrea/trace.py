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
    "residual",
    "mlp",
    "layernorm",
    "residual",
    "attn_out",
    "attn",
    "attn_qkv",
    "layernorm",
)
BOTH = (("k_loss_fwd_bwd",), ("k_loss_fwd_bwd_held",))  # passes, in one launch
LIBRARY = "cuBLAS"  # what a launch without a kernel of ours goes to


def run(context: Context) -> Iterator[Event]:
    config = replace(config_of(context.parameters), micro_batches=1)
    device = device_of(context)
    require_memory(config, device, context.version)
    forward, backward = traced(Engine(config, device, context.version))
    yield table(forward + backward, context.version)
    yield Metric("launches-forward", sum(len(launch.kernels) for launch in forward))
    yield Metric("launches-backward", sum(len(launch.kernels) for launch in backward))
    orders = [block(backward, layer) for layer in range(config.layers)]
    yield case("block-order", all(order == due_order(context.version) for order in orders))
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


def due_order(version: int) -> tuple[str, ...]:
    """In version 2 nothing is launched for the residual connection: its gradient stays in place."""
    return tuple(name for name in BLOCK_BACKWARD if version == 1 or name != "residual")


def block(launches: list[Launch], layer: int) -> tuple[str, ...]:
    """The operators of one block, in order."""
    return tuple(
        launch.operator
        for launch in launches
        if launch.layer == layer and launch.direction != "utility"
    )


def twins(launches: list[Launch]) -> list[str]:
    """What forward and backward must share: the operators. A launch that does both passes has no
    twin, and a LayerNorm joined to the sum before it has that of the LayerNorm."""
    pairs = [twin(launch) for launch in launches if launch.direction != "utility"]
    return [operator for operator in pairs if operator]


def twin(launch: Launch) -> str:
    """The operator whose backward pass undoes it, or the other way round; none of both at once."""
    if launch.kernels[:1] == ("k_residual_layernorm_fwd",):
        return "layernorm"
    return "" if launch.kernels[:1] in BOTH else launch.operator


def table(launches: list[Launch], version: int) -> Table:
    rows = []
    for number, launch in enumerate(launches, start=1):
        other = ""
        if launch.direction != "utility" and (operator := twin(launch)):
            direction = "backward" if launch.direction == "forward" else "forward"
            found = BY_NAME[operator].kernels(direction, version)
            other = found[0] if found else LIBRARY
        layer = "" if launch.layer is None else launch.layer
        kernels = ", ".join(launch.kernels) or LIBRARY
        rows.append((number, launch.direction, layer, kernels, other))
    keys = ("number", "direction", "layer", "launched", "twin")
    return Table("launches", tuple(Column(key) for key in keys), tuple(rows))


def case(name: str, good: bool) -> Case:
    return Case(name, Verdict.PASSED if good else Verdict.FAILED, {"check": name})
