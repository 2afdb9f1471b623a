"""What a kernel would read from the wrong place is refused before anything is written."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from kernels.andrea.operators import (
    TABLE,
    adamw,
    attn,
    casts,
    grad_norm,
    layernorm,
    layernorm_fast,
    loss,
    loss_fast,
    pair,
    residual,
)
from kernels.contract import ContractError

Tensor = torch.Tensor


def numbers(*shape: int) -> Tensor:
    return torch.ones(*shape)


def poison(*shape: int) -> Tensor:
    return torch.full(shape, math.nan)


# Views that are not laid out as their shape says: each would silently give wrong numbers.
VIEWS: list[tuple[str, Tensor]] = [
    ("transposed", numbers(6, 4).T),
    ("every second column", numbers(4, 12)[:, ::2]),
    ("a slice of columns", numbers(4, 9)[:, :6]),
    ("expanded, as .sum().backward() sends", numbers(1, 1).expand(4, 6)),
]


@pytest.mark.parametrize("view", [v for _, v in VIEWS], ids=[name for name, _ in VIEWS])
def test_a_strided_input_is_refused_by_name_and_nothing_is_written(view: Tensor) -> None:
    out, mean, variance = poison(4, 6), poison(4), poison(4)
    with pytest.raises(ContractError, match="delta is not contiguous"):
        residual.forward(numbers(4, 6), view, out)
    with pytest.raises(ContractError, match="x is not contiguous"):
        layernorm.forward(view, numbers(6), numbers(6), out, mean, variance)
    assert out.isnan().all() and mean.isnan().all()


def none(*shape: int) -> Tensor:
    return numbers(0, *shape)


CHUNKS = adamw.chunks([(0, 4, True)], torch.device("cpu"))
# Of each operator's pair: the arguments of both passes where a micro-batch has no rows.
EMPTY: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "embed": (
        (torch.zeros(0, 4, dtype=torch.int32), numbers(5, 4), numbers(4, 4), none(4)),
        (none(4), none(), numbers(6), numbers(5, 4), numbers(4, 4), 4),
    ),
    "layernorm": (
        (none(4), numbers(4), numbers(4), none(4), none(), none()),
        (none(4), none(4), numbers(4), *[none()] * 2, none(4), *[numbers(4)] * 2, numbers(1, 2, 4)),
    ),
    "attn_qkv": (
        (none(4), numbers(3, 4, 4), numbers(3, 0, 4)),
        (numbers(3, 0, 4), none(4), numbers(3, 4, 4), none(4), numbers(3, 4, 4)),
    ),
    "attn": (
        (*[none(4)] * 4, numbers(2, 0), 2),
        (*[none(4)] * 5, numbers(2, 0), *[none(4)] * 3, numbers(2, 0), 2),
    ),
    "attn_out": (
        (none(4), numbers(4, 4), none(4)),
        (none(4), none(4), numbers(4, 4), none(4), numbers(4, 4)),
    ),
    "mlp": (
        (none(4), numbers(4, 16), numbers(16, 4), none(16), none(16), none(4)),
        (
            *(none(4), none(4), none(16), numbers(4, 16), numbers(16, 4)),
            *(none(4), numbers(4, 16), numbers(16, 4), none(16), none(16)),
        ),
    ),
    "residual": ((none(4),) * 3, (none(4),) * 3),
    "logits": (
        (none(4), numbers(5, 4), none(5)),
        (none(5), none(4), numbers(5, 4), none(4), numbers(5, 4)),
    ),
    "loss": (
        (none(5), none(), numbers(1), none(), none(), numbers(1)),
        (none(5), none(), numbers(1), none(), numbers(1)),
    ),
}
UTILITIES: dict[str, Callable[[], Any]] = {
    "count": lambda: loss.count(none(), numbers(1)),
    "both passes": lambda: loss_fast.forward_backward(
        none(5), none(), numbers(1), numbers(1), none(), numbers(1)
    ),
    "norm": lambda: grad_norm.partial(none(), numbers(1)),
    "final": lambda: grad_norm.final(none(), numbers(1), 1.0, numbers(4)),
    "scale": lambda: grad_norm.scale(none(), numbers(1)),
    "adamw": lambda: adamw.step(
        *[none()] * 4, CHUNKS, numbers(3), numbers(4), 0.9, 0.999, 1e-8, 0.1
    ),
    "cast": lambda: casts.cast(none(), none()),
    "pack": lambda: casts.pack(numbers(3, 0, 0), numbers(0, 3, 0)),
    "zero": lambda: casts.zero(none()),
    "residual and norm": lambda: layernorm_fast.forward_residual(
        *[none(4)] * 3, numbers(4), numbers(4), none(4), none(), none()
    ),
}


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("operator", [operator.name for operator in TABLE])
def test_a_micro_batch_without_rows_is_refused(operator: str, version: int, direction: str) -> None:
    given = EMPTY[operator][direction == "backward"]
    with pytest.raises(ContractError, match="has no elements"):
        getattr(pair(operator, version), direction)(*given)


@pytest.mark.parametrize("call", UTILITIES.values(), ids=UTILITIES.keys())
def test_nothing_to_do_is_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(ContractError, match="has no elements"):
        call()


def test_queries_keys_and_values_must_lie_alike() -> None:
    apart = numbers(8, 3, 4).unbind(1)
    with pytest.raises(ContractError, match="k does not lie in memory as q does"):
        attn.forward(apart[0], numbers(8, 4), apart[2], numbers(8, 4), numbers(2, 4), 1)


@pytest.mark.parametrize("module", [loss, loss_fast])
def test_a_label_beyond_the_vocabulary_gives_no_silent_number(module: Any) -> None:
    logits, targets = numbers(3, 5), torch.tensor([1, 5, 4], dtype=torch.int32)
    losses, lse, mean = poison(3), poison(3), poison(1)
    module.PAIR.forward(logits, targets, torch.tensor([3.0]), losses, lse, mean)
    assert losses.isnan().tolist() == [False, True, False]
    assert mean.isnan().all()
