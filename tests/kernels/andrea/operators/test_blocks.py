"""What is true of a block's operators whatever the numbers: R-5, R-6, R-8, R-10 and R-11."""

import math
from typing import Any

import pytest
import torch

from kernels.andrea.operators import attn, embed, layernorm, layernorm_fast, pair, residual

Tensor = torch.Tensor


def normal(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def embedding_gradient(ids: Tensor, vocabulary: int, dout: Tensor, version: int = 1) -> Tensor:
    dwte, dwpe = torch.zeros(vocabulary, dout.shape[1]), torch.zeros(ids.shape[1], dout.shape[1])
    order, first = embed.segments(ids, vocabulary)
    pair("embed", version).backward(dout, order, first, dwte, dwpe, ids.shape[1])
    return dwte


@pytest.mark.parametrize("version", [1, 2])
def test_r5_repeated_tokens_add_up_and_absent_ones_keep_an_exact_zero(version: int) -> None:
    ids = torch.tensor([[3, 3, 5], [3, 0, 3]], dtype=torch.int32)
    dout = normal(6, 8)
    dwte = embedding_gradient(ids, 7, dout, version)
    assert torch.allclose(dwte[3], dout[0] + dout[1] + dout[3] + dout[5], atol=1e-6)
    assert torch.equal(dwte[5], dout[2])
    assert dwte[[1, 2, 4, 6]].count_nonzero() == 0


def test_r5_a_tied_table_gets_the_sum_of_two_contributions() -> None:
    ids = torch.tensor([[1, 2, 1]], dtype=torch.int32)
    dout, dlogits, x, e = normal(3, 8), normal(3, 4, seed=2), normal(3, 8, seed=3), normal(4, 8)
    tied, alone = torch.zeros(4, 8), torch.zeros(4, 8)
    order, first = embed.segments(ids, 4)
    pair("logits", 1).backward(dlogits, x, e, torch.empty(3, 8), tied)
    pair("logits", 1).backward(dlogits, x, e, torch.empty(3, 8), alone)
    embed.backward(dout, order, first, tied, torch.zeros(3, 8), 3)
    assert torch.allclose(tied, alone + embedding_gradient(ids, 4, dout), atol=1e-6)


def test_r5_segments_hold_every_place_once_in_order() -> None:
    ids = torch.randint(0, 11, (4, 32), generator=torch.Generator().manual_seed(1))
    order, first = embed.segments(ids, 11)
    assert sorted(order.tolist()) == list(range(128))
    for token in range(11):
        places = order[first[token] : first[token + 1]].tolist()
        assert places == [i for i, other in enumerate(ids.flatten().tolist()) if other == token]


def layernorm_dx(dy: Tensor, x: Tensor, gamma: Tensor, version: int = 1) -> Tensor:
    rows, width = x.shape
    y, dx = torch.empty_like(x), torch.empty_like(x)
    mean, variance = torch.empty(rows), torch.empty(rows)
    layernorm.forward(x, gamma, torch.zeros(width), y, mean, variance)
    module = layernorm if version == 1 else layernorm_fast
    scratch = torch.empty(module.scratch(rows, width, x.device))
    grads = torch.zeros(width), torch.zeros(width)
    module.backward(dy, x, gamma, mean, variance, dx, *grads, scratch)
    return dx


@pytest.mark.parametrize("version", [1, 2])
def test_r6_dx_has_no_part_along_the_mean_nor_along_xhat(version: int) -> None:
    x, gamma = normal(17, 33), normal(33, seed=2)
    dx = layernorm_dx(normal(17, 33, seed=3), x, gamma, version).double()
    xhat = (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True, correction=0)
    assert dx.sum(dim=-1).abs().max() < 1e-5
    assert (dx * xhat).sum(dim=-1).abs().max() < 1e-3  # eps keeps it from being zero


def test_r6_the_oracle_agrees_with_finite_differences() -> None:
    x, gamma, beta = normal(3, 7).double(), normal(7).double(), normal(7).double()
    dy = normal(3, 7, seed=2).double()
    dx, dgamma, dbeta = layernorm.reference_backward(dy, x, gamma)
    for tensor, gradient in ((x, dx), (gamma, dgamma), (beta, dbeta)):
        moved = torch.zeros_like(tensor)
        moved.view(-1)[2] = 1e-6

        def value(step: Tensor, tensor: Tensor = tensor) -> float:
            given = [side + step if side is tensor else side for side in (x, gamma, beta)]
            return float((layernorm.reference_forward(*given)[0] * dy).sum())

        slope = (value(moved) - value(-moved)) / 2e-6
        assert slope == pytest.approx(float(gradient.view(-1)[2]), rel=1e-5, abs=1e-8)


def test_r6_statistics_are_saved_and_enough_for_the_backward_pass() -> None:
    x = normal(5, 9) + 50
    mean, variance = torch.empty(5), torch.empty(5)
    layernorm.forward(x, torch.ones(9), torch.zeros(9), torch.empty(5, 9), mean, variance)
    assert torch.allclose(mean, x.mean(-1))
    assert torch.allclose(variance, x.var(-1, correction=0), rtol=1e-4)


def test_the_sum_and_the_layernorm_behind_it_come_in_one_launch() -> None:
    x, delta, gamma, beta = normal(17, 33), normal(17, 33, seed=2), normal(33), normal(33, seed=3)
    made = [torch.full((17, 33), math.nan) for _ in range(4)]
    one, two = [torch.empty(17) for _ in range(2)], [torch.empty(17) for _ in range(2)]
    residual.forward(x, delta, made[0])
    layernorm.forward(made[0], gamma, beta, made[1], *one)
    layernorm_fast.forward_residual(x, delta, made[2], gamma, beta, made[3], *two)
    for apart, joined in zip((*made[:2], *one), (*made[2:], *two), strict=True):
        assert torch.equal(apart, joined)


def attention(q: Tensor, k: Tensor, v: Tensor, version: int) -> Tensor:
    o, lse = torch.full_like(q, math.nan), torch.empty(2, q.shape[0])
    pair("attn", version).forward(q, k, v, o, lse, 2)
    return o


def attention_gradients(do: Tensor, qkv: Tensor, version: int) -> tuple[Tensor, ...]:
    length = do.shape[0]
    o, lse = torch.empty_like(do), torch.empty(2, length)
    pair("attn", version).forward(*qkv, o, lse, 2)
    made = tuple(torch.full_like(do, math.nan) for _ in range(3))
    scratch = torch.empty(2, length)
    pair("attn", version).backward(do, *qkv, o, lse, *made, scratch, 2)
    return made


@pytest.mark.parametrize("version", [1, 2])
def test_r8_the_first_row_sees_only_itself(version: int) -> None:
    qkv = normal(3, 17, 16)
    assert torch.allclose(attention(*qkv, version)[0], qkv[2, 0], atol=1e-6)


@pytest.mark.parametrize("version", [1, 2])
def test_r8_the_future_has_no_influence_and_no_gradient(version: int) -> None:
    qkv, changed = normal(3, 17, 16), normal(3, 17, 16)
    changed[:, 9:] = normal(3, 8, 16, seed=5)
    before, after = attention(*qkv, version), attention(*changed, version)
    assert torch.equal(before[:9], after[:9])
    do = torch.zeros(17, 16)
    do[:9] = normal(9, 16, seed=6)
    for gradient in attention_gradients(do, qkv, version):
        assert gradient[9:].count_nonzero() == 0


def test_r8_in_the_oracle_rows_of_ds_sum_to_zero() -> None:
    """Moving every key by the same vector changes no weight: dK sums to zero over the keys
    that a row sees, weighted as that row's scores are."""
    q, k, v, do = normal(4, 17, 16).double()
    weights, _ = attn.reference_weights(q, k, 2, 17)
    dp = attn.split(do, 2, 17) @ attn.split(v, 2, 17).transpose(-1, -2)
    ds = weights * (dp - (dp * weights).sum(dim=-1, keepdim=True))
    assert ds.sum(dim=-1).abs().max() < 1e-12
    shifted = attn.reference_backward(do, q, k + 3.0, v, 2, 17)
    assert torch.allclose(shifted[0], attn.reference_backward(do, q, k, v, 2, 17)[0])


@pytest.mark.parametrize("version", [1, 2])
def test_r10_gelu_saturates_without_a_nan(version: int) -> None:
    made_by = pair("mlp", version)
    x = torch.tensor([[-1e30, -200.0, -11.5, 0.0, 11.5, 200.0, 1e30]]).T
    one = torch.ones(1, 1)
    h, a, y = (torch.empty(7, 1) for _ in range(3))
    made_by.forward(x, one, one, h, a, y)
    assert torch.equal(a, x.clamp(min=0.0))
    made: list[Any] = [torch.full((7, 1), math.nan) for _ in range(3)]
    made_by.backward(
        torch.ones(7, 1), x, h, one, one, made[0], torch.zeros(1, 1), torch.zeros(1, 1), *made[1:]
    )
    assert made[0].flatten().tolist() == [0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 1.0]


@pytest.mark.parametrize("version", [1, 2])
def test_r10_the_backward_pass_needs_only_x_and_h(version: int) -> None:
    """The activation's buffer may hold anything: it is made again from h."""
    x, dy, w_1, w_2 = normal(5, 4), normal(5, 4, seed=2), normal(4, 16), normal(16, 4, seed=3)
    h = x @ w_1
    results = []
    for left in (0.0, math.nan):
        dx, dw_1, dw_2 = torch.empty(5, 4), torch.zeros(4, 16), torch.zeros(16, 4)
        a, dh = torch.full((5, 16), left), torch.full((5, 16), left)
        pair("mlp", version).backward(dy, x, h, w_1, w_2, dx, dw_1, dw_2, a, dh)
        results.append((dx, dw_1, dw_2))
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)


def test_r11_the_same_gradient_goes_to_both_branches_and_adds_to_the_stream() -> None:
    dy, skip, ddelta = normal(5, 9), normal(5, 9, seed=2), torch.full((5, 9), math.nan)
    dx = skip.clone()
    residual.backward(dy, dx, ddelta)
    assert torch.equal(ddelta, dy)
    assert torch.equal(dx, skip + dy)


def test_r11_what_reaches_the_block_is_the_skip_branch_plus_the_sub_layer() -> None:
    x, dy, gamma = normal(5, 9), normal(5, 9, seed=2), normal(9, seed=3)
    dx, ddelta = torch.zeros(5, 9), torch.empty(5, 9)
    residual.backward(dy, dx, ddelta)
    mean, variance = x.mean(-1), x.var(-1, correction=0)
    scratch = torch.empty(layernorm.scratch(5, 9, x.device))
    grads = torch.zeros(9), torch.zeros(9)
    layernorm.backward(ddelta, x, gamma, mean, variance, dx, *grads, scratch, accumulate=True)
    through = layernorm_dx(dy, x, gamma)
    assert torch.allclose(dx, dy + through, atol=1e-6)
