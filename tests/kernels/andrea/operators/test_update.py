"""Loss, norm, clipping, AdamW and the copies: R-12 and R-16 to R-18, with what they leave alone."""

import math

import pytest
import torch

from kernels.andrea.operators import adamw, casts, grad_norm, loss, loss_fast

Tensor = torch.Tensor


def normal(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def loss_of(logits: Tensor, targets: Tensor) -> tuple[float, Tensor]:
    """The loss, and dlogits with an upstream gradient of 1."""
    rows = len(targets)
    count, mean = torch.full((1,), math.nan), torch.full((1,), math.nan)
    losses, lse = torch.empty(rows), torch.empty(rows)
    dlogits, targets = logits.clone(), targets.int()
    loss.count(targets, count)
    loss.forward(logits, targets, count, losses, lse, mean)
    loss.backward(dlogits, targets, count, lse, torch.ones(1))
    return float(mean), dlogits


def test_r12_uniform_logits_cost_ln_v() -> None:
    value, _ = loss_of(torch.full((3, 8449), 0.5), torch.tensor([0, 8448, 17]))
    assert value == pytest.approx(math.log(8449), abs=1e-5)
    assert value == pytest.approx(9.0418, abs=5e-5)


def test_r12_each_row_of_dlogits_sums_to_zero() -> None:
    _, dlogits = loss_of(normal(17, 257) * 3, torch.arange(17))
    assert dlogits.double().sum(dim=-1).abs().max() < 1e-7


def test_r12_all_labels_ignored_give_no_loss_and_no_gradient() -> None:
    value, dlogits = loss_of(normal(5, 33), torch.full((5,), loss.IGNORED))
    assert value == 0.0
    assert dlogits.count_nonzero() == 0


def test_r12_the_upstream_gradient_scales_each_row() -> None:
    logits, targets = normal(4, 9), torch.tensor([1, 2, 3, 4], dtype=torch.int32)
    count, lse = torch.tensor([4.0]), logits.logsumexp(dim=-1)
    one, many = logits.clone(), logits.clone()
    loss.backward(one, targets, count, lse, torch.ones(1))
    loss.backward(many, targets, count, lse, torch.tensor([0.0, 1.0, 2.0, 4.0]))
    assert torch.equal(many, one * torch.tensor([[0.0], [1.0], [2.0], [4.0]]))


def test_r12_padding_behind_a_row_is_neither_read_nor_written() -> None:
    padded = torch.full((5, 40), 1e30)
    padded[:, :33] = normal(5, 33)
    targets = torch.arange(5, dtype=torch.int32)
    count, losses, mean = torch.tensor([5.0]), torch.empty(5), torch.empty(1)
    due, due_mean = padded[:, :33].clone(), torch.empty(1)
    loss_fast.forward_backward(padded[:, :33], targets, count, torch.ones(1), losses, mean)
    loss_fast.forward_backward(due, targets, count, torch.ones(1), losses, due_mean)
    assert torch.equal(padded[:, 33:], torch.full((5, 7), 1e30))
    assert torch.equal(padded[:, :33], due) and torch.equal(mean, due_mean)


def test_r12_columns_behind_the_vocabulary_become_zero_where_asked() -> None:
    padded = torch.full((5, 40), 1e30)
    padded[:, :33] = normal(5, 33)
    targets = torch.arange(5, dtype=torch.int32)
    count, losses, mean = torch.tensor([5.0]), torch.empty(5), torch.empty(1)
    due, due_mean = padded[:, :33].clone(), torch.empty(1)
    loss_fast.forward_backward(padded[:, :33], targets, count, torch.ones(1), losses, mean, 7)
    loss_fast.forward_backward(due, targets, count, torch.ones(1), losses, due_mean)
    assert torch.equal(padded[:, 33:], torch.zeros(5, 7))
    assert torch.equal(padded[:, :33], due) and torch.equal(mean, due_mean)


def test_r12_two_launches_and_one_agree() -> None:
    logits, targets = normal(9, 65) * 4, torch.arange(9)
    value, dlogits = loss_of(logits, targets)
    mean, fused = torch.empty(1), logits.clone()
    loss_fast.forward_backward(
        fused, targets.int(), torch.tensor([9.0]), torch.ones(1), torch.empty(9), mean
    )
    assert float(mean) == pytest.approx(value, abs=1e-6)
    assert torch.allclose(fused, dlogits, atol=1e-7)


def clip(flat: Tensor, threshold: float, scale: float = 1.0) -> Tensor:
    """`result`, after flat was clipped in place."""
    partials = torch.full((grad_norm.programs(flat),), math.nan)
    result = torch.zeros(4)
    grad_norm.partial(flat, partials)
    grad_norm.final(partials, torch.tensor([scale]), threshold, result)
    grad_norm.scale(flat, result[1:2])
    return result


def test_r16_r17_the_norm_is_that_of_all_gradients_at_once() -> None:
    flat = normal(300_000)
    result = clip(flat.clone(), 1.0)
    assert float(result[0]) == pytest.approx(float(flat.double().norm()), rel=1e-6)


def test_r16_large_gradients_do_not_lose_small_ones() -> None:
    flat = torch.full((200_000,), 1e-3)
    flat[0] = 1.0
    assert float(clip(flat, 9.0)[0]) == pytest.approx(math.sqrt(1 + 199_999e-6), rel=1e-6)


def test_r18_below_the_threshold_no_bit_changes() -> None:
    flat = normal(5000) * 1e-3
    flat[7], flat[8] = -0.0, 1e-45  # a negative zero and the smallest number there is
    before = flat.clone()
    result = clip(flat, 1.0)
    assert float(result[1]) == 1.0
    assert torch.equal(flat.view(torch.int32), before.view(torch.int32))


def test_r18_after_clipping_the_norm_is_the_threshold() -> None:
    flat = normal(5000)
    clip(flat, 1.0)
    assert float(flat.double().norm()) == pytest.approx(1.0, rel=1e-6)


def test_r18_the_mean_over_micro_batches_is_the_same_multiplication() -> None:
    flat = normal(5000)
    result = clip(flat.clone(), 1e9, scale=0.25)
    assert float(result[1]) == 0.25
    assert float(result[0]) == pytest.approx(float(flat.double().norm()) / 4, rel=1e-6)


def test_r18_zero_gradients_stay_zero() -> None:
    flat = torch.zeros(100)
    assert clip(flat, 1.0).tolist() == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e30])
def test_a_norm_that_is_no_number_reaches_neither_weight_nor_moment(bad: float) -> None:
    """1e30 is finite, but its square is not."""
    w, m, v = normal(64), normal(64, seed=2), normal(64, seed=3).abs()
    before = [tensor.clone() for tensor in (w, m, v)]
    grads = normal(64, seed=4)
    grads[11] = bad
    result = clip(grads, 1.0)
    assert result[2:].tolist() == [0.0, 1.0]  # not finite, one step skipped
    schedule, working = torch.tensor([0.1, 1.0, 1.0]), torch.full((64,), 3.0)
    runs = adamw.chunks([(0, 64, True)], w.device)
    adamw.step(w, grads, m, v, runs, schedule, result, 0.9, 0.999, 1e-8, 0.1, working)
    for now, then in zip((w, m, v), before, strict=True):
        assert torch.equal(now, then)
    assert grads.count_nonzero() == 0  # the next step starts afresh
    assert torch.equal(working, torch.full((64,), 3.0))


def test_adamw_agrees_with_pytorch_over_five_steps() -> None:
    w = normal(96)
    parts = [torch.nn.Parameter(w[:64].clone()), torch.nn.Parameter(w[64:].clone())]
    peer = torch.optim.AdamW(
        [{"params": parts[:1], "weight_decay": 0.1}, {"params": parts[1:], "weight_decay": 0.0}],
        lr=1e-2,
    )
    m, v = torch.zeros(96), torch.zeros(96)
    runs = adamw.chunks([(0, 64, True), (64, 96, False)], w.device)
    result = torch.tensor([1.0, 1.0, 1.0, 0.0])
    for step in range(1, 6):
        grads = normal(96, seed=step)
        parts[0].grad, parts[1].grad = grads[:64].clone(), grads[64:].clone()
        peer.step()
        schedule = torch.tensor([1e-2, 1 / (1 - 0.9**step), 1 / (1 - 0.999**step)])
        adamw.step(w, grads, m, v, runs, schedule, result, 0.9, 0.999, 1e-8, 0.1)
    assert torch.allclose(w, torch.cat([part.detach() for part in parts]), atol=1e-6)


def test_chunks_cover_every_weight_once() -> None:
    runs = [(0, 100, True), (100, 137, False), (137, 4000, True)]
    chunks = adamw.chunks(runs, torch.device("cpu"))
    covered = [place for start, end, _ in chunks.table.tolist() for place in range(start, end)]
    assert covered == list(range(4000))
    assert all(end - start <= chunks.block for start, end, _ in chunks.table.tolist())
    assert not chunks.aligned


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_working_copy_is_the_master_rounded(dtype: torch.dtype) -> None:
    source, target = normal(1000), torch.full((1000,), math.nan, dtype=dtype)
    casts.cast(source, target)
    bits = 10 if dtype == torch.float16 else 7  # the interpreter cuts BF16 off
    assert ((target.float() - source).abs() <= source.abs() * 2.0**-bits + 1e-7).all()


def test_packing_lays_three_matrices_side_by_side() -> None:
    w, packed = normal(3, 5, 5), torch.full((5, 3, 5), math.nan)
    casts.pack(w, packed)
    assert torch.equal(packed, w.transpose(0, 1))


def test_packing_every_layer_at_once_is_packing_each() -> None:
    flat = normal(2 * 100)  # two layers of three 5 x 5 matrices, 100 apart
    w, packed = flat.as_strided((2, 3, 5, 5), (100, 25, 5, 1)), torch.full((2, 5, 3, 5), math.nan)
    casts.pack(w, packed)
    assert torch.equal(packed, w.transpose(1, 2))


def test_zero_grads_leaves_all_bytes_zero() -> None:
    flat = normal(1000)
    flat[3] = math.nan
    casts.zero(flat)
    assert flat.view(torch.int32).count_nonzero() == 0
