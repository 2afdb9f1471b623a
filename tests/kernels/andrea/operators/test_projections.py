"""The products: R-7 and R-9, their layouts, and sums that are the same every time."""

import pytest
import torch

from kernels.andrea.operators import pair, products

Tensor = torch.Tensor
VERSIONS = [1, 2]


def normal(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def qkv_passes(w: Tensor, qkv: Tensor, dqkv: Tensor, version: int) -> tuple[Tensor, ...]:
    x = normal(17, 12, seed=4)
    dx, dw = torch.empty(17, 12), torch.zeros(3, 12, 12)
    pair("attn_qkv", version).forward(x, w, qkv)
    pair("attn_qkv", version).backward(dqkv, x, w, dx, dw)
    return qkv, dx, dw


def side_by_side(three: Tensor) -> Tensor:
    """The same [3, M, d], lying in memory as [M, 3, d]."""
    return three.transpose(0, 1).contiguous().transpose(0, 1)


@pytest.mark.parametrize("version", VERSIONS)
def test_r7_three_matrices_lie_one_after_another_or_side_by_side(version: int) -> None:
    w, dqkv = normal(3, 12, 12), normal(3, 17, 12, seed=2)
    apart = qkv_passes(w, torch.empty(3, 17, 12), dqkv, version)
    joined = qkv_passes(
        side_by_side(w), side_by_side(torch.empty(3, 17, 12)), side_by_side(dqkv), version
    )
    for one, other in zip(apart, joined, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("version", VERSIONS)
def test_r7_dx_is_the_sum_over_q_k_and_v(version: int) -> None:
    w, dqkv = normal(3, 12, 12), normal(3, 17, 12, seed=2)
    _, dx, _ = qkv_passes(w, torch.empty(3, 17, 12), dqkv, version)
    shares = []
    for which in range(3):
        alone = torch.zeros_like(dqkv)
        alone[which] = dqkv[which]
        shares.append(qkv_passes(w, torch.empty(3, 17, 12), alone, version)[1])
    assert torch.allclose(dx, shares[0] + shares[1] + shares[2], atol=1e-5)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("operator", ["attn_out", "attn_qkv", "logits"])
def test_r9_two_equal_backward_passes_give_twice_one(operator: str, version: int) -> None:
    backward = pair(operator, version).backward
    if operator == "attn_qkv":
        given, sums = (normal(3, 17, 12), normal(17, 12), normal(3, 12, 12)), torch.zeros(3, 12, 12)
    elif operator == "logits":
        given, sums = (normal(17, 9), normal(17, 12), normal(9, 12)), torch.zeros(9, 12)
    else:
        given, sums = (normal(17, 12), normal(17, 12), normal(12, 12)), torch.zeros(12, 12)
    dx = torch.empty(17, 12)
    backward(*given, dx, sums)
    once = sums.clone()
    backward(*given, dx, sums)
    if version == 1:
        assert torch.equal(sums, 2 * once)
    else:  # the library may add its terms to the sum one by one
        assert torch.allclose(sums, 2 * once, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_same_call_gives_the_same_bits(version: int) -> None:
    passes = [
        qkv_passes(normal(3, 12, 12), torch.empty(3, 17, 12), normal(3, 17, 12, seed=2), version)
        for _ in range(2)
    ]
    for one, other in zip(*passes, strict=True):
        assert torch.equal(one, other)


def test_the_librarys_sums_are_fp32_for_our_products_alone() -> None:
    switches = torch.backends.cuda.matmul
    before = switches.allow_bf16_reduced_precision_reduction
    with products.fp32_sums():
        assert switches.allow_bf16_reduced_precision_reduction is False
        assert switches.allow_fp16_reduced_precision_reduction is False
    assert switches.allow_bf16_reduced_precision_reduction is before


def test_a_sum_of_16_bit_products_is_kept_in_fp32() -> None:
    ones, total = torch.ones(8, 4096, dtype=torch.bfloat16), torch.zeros(8, 8)
    products.add_product(ones, ones.T, total)
    products.add_product(ones[:, :1], ones[:, :1].T, total)
    assert total.unique().tolist() == [4097.0]  # no BF16 number: its neighbours are 4096 and 4128
