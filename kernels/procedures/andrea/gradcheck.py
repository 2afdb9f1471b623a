"""andrea.gradcheck: every weight's gradient, by the kernels and by Autograd in float64.

The whole model, tied and untied, with weights far from zero. An error is measured against the
tensor's largest gradient, so that a gradient of zeros cannot pass.
"""

from collections.abc import Iterator

import torch

from kernels.andrea import reference
from kernels.andrea.config import Config, Precision
from kernels.andrea.engine import Engine
from kernels.andrea.layout import layout
from kernels.events import Case, Column, Event, Progress, Table
from kernels.procedure import Context
from kernels.procedures.andrea.jobs import device_of
from kernels.procedures.andrea.small import give, judged, shaken, small, tokens

# Of a tensor's largest gradient. Declared beforehand; a failing case never widens them.
ALLOWED = {Precision.FP32: 1e-5, Precision.FP16: 1e-2, Precision.BF16: 5e-2, Precision.FP8: 0.5}


def run(context: Context) -> Iterator[Event]:
    precision = Precision(context["precision"] or Precision.FP32)
    device = device_of(context)
    rows: list[tuple[str | float, ...]] = []
    models = [small(context["seed"], tied=tied, precision=precision) for tied in (True, False)]
    total = sum(len(layout(config)) + 1 for config in models)
    for config in models:
        kind = "tied" if config.tied else "untied"
        for case, largest in compare(config, device, context.version):
            if context.stop.is_set():
                return
            rows.append((f"{kind} {case.what}", largest, case.max_abs_error or 0.0))
            yield case
            yield Progress(len(rows), total)
    columns = tuple(Column(key) for key in ("tensor", "largest", "error"))
    yield Table("gradients", columns, tuple(rows))


def compare(config: Config, device: torch.device, version: int) -> Iterator[tuple[Case, float]]:
    """A case for the loss and one for each weight's gradient, with the largest due value."""
    engine = Engine(config, device, version)
    shaken(engine, config.seed)
    ids, targets = tokens(config)
    give(engine, ids, targets)
    engine.forward()
    engine.backward()
    oracle = weights_in_float64(engine)
    on_device = (torch.from_numpy(part[0]).to(device) for part in (ids, targets))
    due = reference.loss(config, oracle, *on_device)
    due.backward()
    unscale = engine.arena["loss_scale"][1].double()  # FP16's loss is scaled up
    got = {name: g.double() * unscale for name, g in engine.views.gradients.items()}
    got["loss"] = engine.arena["report"][0].double()
    expected = {"loss": due.detach()} | {name: w.grad for name, w in oracle.items()}
    for name, value in expected.items():
        assert value is not None
        largest = float(value.abs().max())
        error = float((got[name] - value).abs().max())
        allowed = ALLOWED[config.precision] * largest
        case = judged(
            f"{'tied' if config.tied else 'untied'}-{name}", error <= allowed, error, allowed
        )
        yield with_what(case, name), largest


def weights_in_float64(engine: Engine) -> dict[str, torch.Tensor]:
    """What the kernels read, widened: rounding the masters is no error of the kernels."""
    views = engine.views
    read = {
        name: views.masters[name] if ".ln" in name or name[:3] == "lnf" else w
        for name, w in views.weights.items()
    }
    return {
        slot.name: read[slot.name].double().clone().requires_grad_()
        for slot in layout(engine.config)
    }


def with_what(case: Case, name: str) -> Case:
    return Case(
        case.id,
        case.verdict,
        {"tensor": name},
        None,
        name,
        case.max_abs_error,
        case.atol,
        case.rtol,
    )
