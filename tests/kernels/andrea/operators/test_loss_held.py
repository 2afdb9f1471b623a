"""The loss that keeps its row in registers: against the oracle, row after row, in whole words."""

import math

import pytest
import torch

from kernels.andrea.operators import loss, loss_fast, loss_held

Tensor = torch.Tensor
BEYOND = 7.0  # what lies behind the columns that may be written


def problem(
    dtype: torch.dtype, rows: int, vocabulary: int, behind: int
) -> tuple[Tensor, Tensor, Tensor]:
    """A buffer of rows, its first `vocabulary` columns, and targets."""
    source = torch.Generator().manual_seed(vocabulary)
    width = vocabulary + behind
    buffer = torch.full((rows, width + 8), BEYOND).to(dtype)
    buffer[:, :vocabulary] = (torch.randn(rows, vocabulary, generator=source) * 4).to(dtype)
    buffer[:, vocabulary:width] = 1e4  # would be the largest of its row, were it counted
    targets = torch.randint(0, vocabulary, (rows,), generator=source).int()
    return buffer, buffer[:, :vocabulary], targets


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    ("rows", "vocabulary", "behind"),
    [(5, 257, 63), (1, 250, 6), (7, 62, 2), (2, 129, 1), (3, 256, 0)],
)
def test_rows_held_give_the_loss_and_its_gradient(
    dtype: torch.dtype, rows: int, vocabulary: int, behind: int
) -> None:
    buffer, logits, targets = problem(dtype, rows, vocabulary, behind)
    if rows > 3:
        targets[2] = loss.IGNORED
    exact, upstream = logits.double(), torch.rand(rows) + 0.5
    count, losses = (targets >= 0).sum().float()[None], torch.full((rows,), math.nan)
    _, due, _ = loss.reference_forward(exact, targets)
    # Times the count: without it a row's gradient is O(1), as the tolerance wants it.
    slopes = loss.reference_backward(exact, targets, upstream.double() * rows)
    loss_held.launch(logits, targets, count, upstream * rows, losses, behind)
    assert (losses - due).abs().max() < 1e-5
    # The interpreter cuts BF16's last bits off.
    assert torch.allclose(logits.double(), slopes, rtol=2**-7, atol=1e-7)
    assert not buffer[:, vocabulary : vocabulary + behind].any()
    assert (buffer[:, vocabulary + behind :] == BEYOND).all()


def test_whole_tiles_of_infinity_and_large_logits_stay_numbers() -> None:
    _, logits, targets = problem(torch.bfloat16, 3, 320, 0)
    logits[0, :200] = -math.inf
    logits[1] += 200
    targets[:] = 300
    exact = logits.double()
    due = loss.reference_backward(exact, targets, torch.tensor(3.0).double())
    losses = torch.full((3,), math.nan)
    loss_held.launch(logits, targets, torch.tensor([3.0]), torch.tensor([3.0]), losses, 0)
    assert torch.allclose(logits.double(), due, rtol=2**-7, atol=1e-4)
    assert (losses - loss.reference_forward(exact, targets)[1]).abs().max() < 1e-4


def test_a_label_that_is_no_column_costs_nan_and_writes_nowhere() -> None:
    buffer, logits, targets = problem(torch.bfloat16, 3, 62, 2)
    targets[1] = 64
    losses = torch.zeros(3)
    loss_held.launch(logits, targets, torch.tensor([3.0]), torch.tensor([1.0]), losses, 2)
    assert losses.isnan().tolist() == [False, True, False]
    assert (buffer[:, 64:] == BEYOND).all()


def test_only_a_card_holds_rows() -> None:
    assert not loss_held.fits(torch.zeros(2, 50_304, dtype=torch.bfloat16), 0)
    # Elsewhere both passes are `loss_fast`'s own.
    logits = torch.randn(2, 40_000, generator=torch.Generator().manual_seed(1))
    losses, mean = torch.empty(2), torch.empty(1)
    targets = torch.tensor([1, 39_999], dtype=torch.int32)
    due, _, _ = loss.reference_forward(logits.double(), targets)
    loss_fast.forward_backward(logits, targets, torch.tensor([2.0]), torch.ones(1), losses, mean)
    assert float(mean) == pytest.approx(float(due), abs=1e-5)
