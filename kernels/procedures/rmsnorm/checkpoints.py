"""rmsnorm.checkpoints: weights written, read back and compared; a damaged file is refused.

Weights only: the state of the optimizer is not saved, so this is no exact resume.
"""

from collections.abc import Iterator

import torch

from kernels.events import Case, Event, Verdict
from kernels.procedure import Context
from kernels.procedures.rmsnorm.training import CHECKPOINT, Network, load, pair, save, train


def run(context: Context) -> Iterator[Event]:
    both = pair(context)
    for event in train(context, both):
        if not isinstance(event, Case):
            yield event
    if context.stop.is_set():
        return
    yield save(context, both.kernel)
    fresh = Network(both.kernel.norm, context["seed"] + 1).to(both.device)
    differed = not same_weights(fresh, both.kernel)
    load(context, fresh)
    yield case("differs-before", differed)
    yield case("same-weights", same_weights(fresh, both.kernel))
    inputs = both.test.inputs.to(both.device)
    with torch.no_grad():
        yield case("outputs", torch.equal(fresh(inputs), both.kernel(inputs)))
    yield case("no-leftovers", not list(context.outputs.rglob("*.partial*")))
    yield case("damaged-refused", damaged_refused(context, fresh))


def same_weights(a: Network, b: Network) -> bool:
    pairs = zip(a.state_dict().values(), b.state_dict().values(), strict=True)
    return all(torch.equal(left, right) for left, right in pairs)


def damaged_refused(context: Context, network: Network) -> bool:
    """Half a file must not load; the whole one is put back."""
    path = context.outputs / CHECKPOINT
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    try:
        load(context, network)
    except (RuntimeError, EOFError, OSError):
        return True
    finally:
        path.write_bytes(whole)
    return False


def case(name: str, good: bool) -> Case:
    return Case(name, Verdict.PASSED if good else Verdict.FAILED, {"check": name})
