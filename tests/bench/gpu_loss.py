"""The loss with its gradient on a card, by how it is cut, and as Liger-Kernel computes it.

8192 x 50,257 logits in BF16, rows 50,304 apart, as gpt2-124M has them at batch 8. Every candidate
is first judged against float64 on fresh logits, and must give the same bits twice. The floor is
one read and one write of the rows at the speed of a copy. An odd number of columns costs Liger
its wide loads, so it is timed on all 50,304 too, where the columns behind count: not judged.
"""

import itertools
from functools import partial

import torch

from kernels.andrea.operators import loss_fast, loss_held, tiles
from tests.bench._gpu_candidates import (
    VOCABULARY,
    Call,
    Tensor,
    copy_speed,
    microseconds,
    report,
    set_while,
    with_card,
)
from tests.bench._gpu_liger import liger_loss
from tests.bench._gpu_loss import ROW, ROWS, Problem, Way

BEHIND = ROW - VOCABULARY
# Warps, columns of a tile, tiles ahead.
HELD = (
    *((16, 8192, ahead) for ahead in (1, 2, 3)),
    *((32, 16384, 1), (32, 8192, 1), (32, 8192, 3), (8, 4096, 4), (8, 2048, 8), (16, 4096, 4)),
)
UNJUDGED = "Liger-Kernel, 50304 columns"


def main() -> None:
    if not torch.cuda.is_available():
        print("No GPU here: nothing is timed.")
        return
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    speed = copy_speed()
    print(f"a copy: {speed:.2f} TB/s")
    problem = Problem()
    found: dict[str, Call] = {}
    for name, way in ways(problem).items():
        fault = judged(problem, name, way)
        if fault:
            print(f"  {name}: {fault}", flush=True)
        else:
            found[name] = problem.cycled(way)
    floor = microseconds(2 * ROWS * ROW * 2, speed)
    report("loss, both passes, 8192 x 50304", floor, found, problem.refresh, shown=len(found))


def judged(problem: Problem, name: str, way: Way) -> str:
    try:
        fault = problem.fault(way, zeros_behind="Liger" not in name)
    except Exception as error:  # a candidate that does not compile must not hide the others
        return f"{type(error).__name__} {str(error)[:200]}"
    return "" if name == UNJUDGED else fault


def ways(problem: Problem) -> dict[str, Way]:
    p = problem
    rest = p.targets, p.count, p.upstream, p.losses

    def cached(logits: Tensor) -> None:
        loss_fast.launch(logits, *rest, BEHIND)

    def held(logits: Tensor) -> None:
        loss_held.launch(logits, *rest, BEHIND)

    def set_held(walk: tiles.Walk, logits: Tensor) -> None:
        with_card(partial(held, logits), held=walk)()

    def set_cached(walk: tiles.Walk, logits: Tensor) -> None:
        with_card(partial(cached, logits), loss=walk)()

    made: dict[str, Way] = {
        "as the engine calls it": lambda x: loss_fast.forward_backward(x, *rest, p.mean, BEHIND)
    }
    one_by_one = {"assembler": lambda tensor: False}
    made["read twice, rounded one by one"] = lambda x: set_while(
        loss_fast, one_by_one, partial(cached, x)
    )()
    for programs, stages in itertools.product((2, 3, 4), (3, 6)):
        walk = tiles.Walk(2048, 8, stages, programs)
        made[f"read twice, {programs} programs, {stages} stages"] = partial(set_cached, walk)
    for warps, block, ahead in HELD:
        walk = tiles.Walk(block, warps, ahead, programs=1)
        made[f"held, {warps} warps, tiles of {block}, {ahead} ahead"] = partial(set_held, walk)
    made["held, rounded one by one"] = lambda x: set_while(
        loss_held, one_by_one, partial(held, x)
    )()
    for name, columns in (("Liger-Kernel", VOCABULARY), (UNJUDGED, ROW)):
        liger = liger_loss(p, columns)
        if liger:
            made[name] = liger
    return made
