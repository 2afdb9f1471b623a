"""What a kernel would read from the wrong place is refused before anything is written."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from kernels.andrea.operators import attn, embed, grad_norm, layernorm, loss, loss_fast, residual
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


EMPTY: list[tuple[str, Callable[[], Any]]] = [
    ("residual", lambda: residual.backward(numbers(0, 4), numbers(0, 4), numbers(0, 4))),
    ("grad_norm", lambda: grad_norm.scale(numbers(0), numbers(1))),
    (
        "embed",
        lambda: embed.forward(
            torch.zeros(0, 4, dtype=torch.int32), numbers(5, 4), numbers(4, 4), numbers(0, 4)
        ),
    ),
]


@pytest.mark.parametrize("call", [call for _, call in EMPTY], ids=[name for name, _ in EMPTY])
def test_no_rows_are_refused(call: Callable[[], Any]) -> None:
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
