"""The operator itself: worked examples, the oracle, and every version on awkward shapes."""

import pytest
import torch

from kernels.checking import TOLERANCES, compare
from kernels.rmsnorm import CALLS, manual_backward, rmsnorm, rmsnorm_reference
from kernels.rmsnorm_versions import VERSIONS

ON_CPU = (1, 2, 3)
SHAPES = ((1, 1), (1, 3), (17, 3), (5, 255), (3, 257), (2, 4095), (17, 31))


def row(*values: float) -> torch.Tensor:
    return torch.tensor([values], dtype=torch.float64)


def test_the_row_three_four_gives_the_numbers_of_the_lesson() -> None:
    y = rmsnorm_reference(row(3, 4), torch.ones(2, dtype=torch.float64))
    assert y[0].tolist() == pytest.approx([0.84852810, 1.13137080], abs=5e-9)
    scaled = rmsnorm_reference(row(3, 4), row(2, 0.5)[0])
    assert scaled[0].tolist() == pytest.approx([1.69705621, 0.56568540], abs=5e-9)


def test_its_gradients_are_the_numbers_of_the_lesson() -> None:
    ones = torch.ones(2, dtype=torch.float64)
    dx, dgamma = manual_backward(row(3, 4), ones, row(1, 2))
    assert dx[0].tolist() == pytest.approx([-0.09050963, 0.06788229], abs=5e-9)
    assert dgamma.tolist() == pytest.approx([0.848528, 2.262742], abs=5e-7)


def test_dx_is_orthogonal_to_x_up_to_epsilon() -> None:
    dx, _ = manual_backward(row(3, 4), torch.ones(2, dtype=torch.float64), row(1, 2))
    assert abs(float((row(3, 4) * dx).sum())) < 1e-6


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_the_reference_answers_in_the_dtype_of_x(dtype: torch.dtype) -> None:
    assert rmsnorm_reference(torch.ones(2, 3, dtype=dtype), torch.ones(3)).dtype == dtype


def test_the_reference_computes_halves_in_fp32() -> None:
    y = rmsnorm_reference(torch.full((1, 257), 300.0, dtype=torch.float16), torch.ones(257))
    assert torch.equal(y, torch.ones_like(y))


@pytest.mark.parametrize("version", ON_CPU)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_whole_calls_agree_with_the_oracle(version: int, shape: tuple[int, int]) -> None:
    assert_whole_call(version, shape, torch.float32)


@pytest.mark.parametrize("version", (2, 3))
@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ((3, 257), torch.bfloat16),
        ((1, 8193), torch.float32),  # the first width that is walked over in chunks
        ((513, 8), torch.float16),  # the first height beyond version 3's single launch
        ((1, 65_536), torch.float32),
    ],
    ids=str,
)
def test_the_wider_contract_holds(version: int, shape: tuple[int, int], dtype: torch.dtype) -> None:
    assert_whole_call(version, shape, dtype)


def assert_whole_call(version: int, shape: tuple[int, int], dtype: torch.dtype) -> None:
    source = torch.Generator().manual_seed(shape[0] * 100_003 + shape[1])
    x, dy = (torch.randn(shape, generator=source).to(dtype) for _ in range(2))
    gamma = torch.randn(shape[1], generator=source).to(dtype)
    x.requires_grad_()
    gamma.requires_grad_()
    y = VERSIONS[version].apply(x, gamma, 1e-6)
    y.backward(dy)
    exact = (x.detach().double(), gamma.detach().double(), dy.double())
    due = (rmsnorm_reference(*exact[:2]), *manual_backward(*exact))
    assert x.grad is not None and gamma.grad is not None
    for got, expected in zip((y.detach(), x.grad, gamma.grad), due, strict=True):
        assert got.dtype == dtype
        assert compare(got, expected, TOLERANCES[dtype]).passed


@pytest.mark.parametrize("version", (2, 3))
def test_no_rows_give_no_output_and_a_gradient_of_zeros(version: int) -> None:
    x, gamma = torch.ones(0, 5, requires_grad=True), torch.ones(5, requires_grad=True)
    y = VERSIONS[version].apply(x, gamma, 1e-6)
    y.sum().backward()
    assert y.shape == (0, 5)
    assert gamma.grad is not None and torch.equal(gamma.grad, torch.zeros(5))


@pytest.mark.parametrize("version", ON_CPU)
def test_x_and_gamma_may_differ_in_dtype(version: int) -> None:
    x = torch.randn(2, 6, dtype=torch.float16, requires_grad=True)
    gamma = torch.ones(6, requires_grad=True)
    y = VERSIONS[version].apply(x, gamma, 1e-6)
    y.sum().backward()
    assert x.grad is not None and gamma.grad is not None
    assert (y.dtype, x.grad.dtype, gamma.grad.dtype) == (x.dtype, x.dtype, gamma.dtype)


@pytest.mark.parametrize("version", ON_CPU)
def test_passes_through_the_wrapper_are_counted(version: int) -> None:
    CALLS.update(forward=0, backward=0)
    x = torch.ones(2, 6, requires_grad=True)
    VERSIONS[version].apply(x, torch.ones(6), 1e-6).sum().backward()
    assert CALLS == {"forward": 1, "backward": 1}


@pytest.mark.parametrize("version", ON_CPU)
def test_a_second_derivative_is_refused(version: int) -> None:
    x = torch.ones(2, 6, requires_grad=True)
    y = VERSIONS[version].apply(x, torch.ones(6), 1e-6)
    with pytest.raises((RuntimeError, ValueError)):
        (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        first.sum().backward()


def test_version_one_is_the_kernel_of_the_lessons() -> None:
    assert VERSIONS[1].apply is rmsnorm
