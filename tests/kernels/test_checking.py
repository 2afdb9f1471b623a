"""The judge: what passes, what never passes, and what the canaries see."""

import math

import pytest
import torch

from kernels.checking import TOLERANCES, compare, generator, guarded, poisoned

FP32, FP16 = torch.float32, torch.float16


@pytest.mark.parametrize(
    ("dtype", "reference", "allowed"),
    [(FP32, 1.0, 0.00011), (FP32, 100.0, 0.01001), (FP16, 1.0, 0.006), (FP16, 100.0, 0.303)],
)
def test_the_tolerances_are_the_declared_ones(
    dtype: torch.dtype, reference: float, allowed: float
) -> None:
    tolerance = TOLERANCES[dtype]
    assert tolerance.atol + tolerance.rtol * reference == pytest.approx(allowed)


def test_zeros_fail() -> None:
    expected = torch.randn(17, 31, generator=generator(1), dtype=torch.float64)
    for dtype in TOLERANCES:
        assert not compare(torch.zeros(17, 31, dtype=dtype), expected, TOLERANCES[dtype]).passed


def test_a_result_more_exact_than_the_reference_passes() -> None:
    expected = torch.randn(17, 31, generator=generator(2), dtype=torch.float64)
    assert compare(expected.clone(), expected, TOLERANCES[FP32]).passed


def test_one_element_outside_fails_however_small_the_mean_error() -> None:
    expected = torch.ones(1000, dtype=torch.float64)
    got = torch.ones(1000)
    got[7] += 0.0002
    comparison = compare(got, expected, TOLERANCES[FP32])
    assert not comparison.passed
    assert comparison.worst is not None and comparison.worst.index == (7,)


def test_the_largest_error_alone_decides_nothing() -> None:
    expected = torch.tensor([100.0, 0.001], dtype=torch.float64)
    large = compare(torch.tensor([100.009, 0.001]), expected, TOLERANCES[FP32])
    small = compare(torch.tensor([100.0, 0.0011]), expected, TOLERANCES[FP32])
    assert large.passed and not small.passed
    assert large.max_abs_error > small.max_abs_error


def test_nan_never_passes() -> None:
    expected = torch.tensor([math.nan, 1.0], dtype=torch.float64)
    assert not compare(torch.tensor([math.nan, 1.0]), expected, TOLERANCES[FP32]).passed


def test_an_infinity_passes_only_where_the_oracle_cast_down_has_it() -> None:
    expected = torch.tensor([70_000.0, -70_000.0, 1.0], dtype=torch.float64)
    right = torch.tensor([math.inf, -math.inf, 1.0], dtype=FP16)
    wrong = torch.tensor([math.inf, math.inf, 1.0], dtype=FP16)
    assert compare(right, expected, TOLERANCES[FP16]).passed
    assert not compare(wrong, expected, TOLERANCES[FP16]).passed


def test_a_write_beside_a_tensor_shows() -> None:
    buffer = poisoned((2, 3), FP32, torch.device("cpu"), 8)
    buffer.tensor.fill_(1.0)
    assert not buffer.strips_touched()
    strip = (buffer.whole.numel() - 6) // 2
    buffer.whole[strip + 6] = 0.0
    assert buffer.strips_touched()


def test_a_changed_input_shows() -> None:
    side = guarded(torch.ones(4), 8)
    assert not side.changed()
    side.tensor[2] = 1.5
    assert side.changed()


def test_draws_are_a_pure_function_of_their_parts() -> None:
    assert torch.equal(*(torch.randn(5, generator=generator(1, 2)) for _ in range(2)))
    first, second = (torch.randn(5, generator=generator(*parts)) for parts in ((1, 2), (2, 1)))
    assert not torch.equal(first, second)
