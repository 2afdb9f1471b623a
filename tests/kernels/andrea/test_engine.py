"""The engine: nothing allocated in a step, one order of launches, the same bits every time."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernels.andrea.config import preset
from kernels.andrea.engine import Engine
from kernels.andrea.initial import FIRST_SCALE
from kernels.andrea.program import Launch
from kernels.andrea.schedule_tables import corrections, rates
from kernels.andrea.state import State
from kernels.procedure import BadParameter
from kernels.procedures.andrea.small import give, tokens
from tests.kernels.andrea.small import CPU, bits, engine

BLOCK_BACKWARD = [
    *("k_residual_add_bwd", "k_mlp_bwd", "k_layernorm_bwd", "k_residual_add_bwd"),
    *("k_attn_out_bwd", "k_attn_bwd", "k_attn_qkv_bwd", "k_layernorm_bwd"),
]


class Allocations(TorchDispatchMode):
    """Collects every operation whose result has memory that no argument had."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        known = {t.untyped_storage().data_ptr() for t in tensors((args, kwargs or {}))}
        for tensor in tensors(result):
            storage = tensor.untyped_storage()
            if storage.nbytes() and storage.data_ptr() not in known:
                self.found.append(str(func))
        return result


def tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in tensors(item)]
    return []


def kernels(launches: list[Launch]) -> list[str]:
    return [launch.kernels[0] for launch in launches if launch.direction != "utility"]


def traced(made: Engine) -> tuple[list[Launch], list[Launch]]:
    parts = []
    for part in (made.forward, made.backward):
        made.trace = []
        part()
        parts.append(made.trace)
    made.trace = None
    return parts[0], parts[1]


def test_the_hook_that_counts_allocations_sees_one() -> None:
    with Allocations() as seen:
        torch.zeros(3) + 1
    assert len(seen.found) == 2


@pytest.mark.parametrize(("version", "precision"), [(1, "fp32"), (1, "bf16"), (2, "fp32")])
def test_nothing_is_allocated_in_a_step(version: int, precision: str) -> None:
    made = engine(version, precision=precision)
    slot = made.slots[0]
    made.step(slot)
    with Allocations() as seen:
        made.feed(slot)
        made.step(slot)
        slot.read()
    assert seen.found == []


def test_twelve_blocks_launch_backward_in_the_stated_order() -> None:
    made = engine(layers=12, width=8, context=4, batch=1)
    forward, backward = traced(made)
    assert kernels(backward)[:3] == ["k_loss_bwd", "k_logits_bwd", "k_layernorm_bwd"]
    assert kernels(backward)[3:-1] == BLOCK_BACKWARD * 12
    assert kernels(backward)[-1] == "k_embed_bwd"
    twins = [(launch.operator, launch.layer) for launch in forward if launch.layer is not None]
    back = [
        (launch.operator, launch.layer)
        for launch in backward
        if launch.layer is not None and launch.direction == "backward"
    ]
    assert back == twins[::-1]


def test_a_step_is_n_pairs_of_passes_and_one_update() -> None:
    made = engine(micro_batches=4)
    made.trace = []
    made.step(made.slots[0])
    names = [launch.kernels[0] for launch in made.trace]
    assert names.count("k_embed_fwd") == names.count("k_embed_bwd") == 4
    assert names.count("k_adamw") == names.count("k_grad_norm_final") == 1
    assert names[-1] == "k_advance"


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_twice_the_same_steps_give_the_same_bits(version: int, precision: str) -> None:
    ends = []
    for _ in range(2):
        made = engine(version, precision=precision, layers=2)
        for _ in range(2):
            made.step(made.slots[0])
        ends.append(bits(made))
    assert ends[0] == ends[1]


def test_the_first_loss_is_that_of_chance() -> None:
    made = engine()
    made.forward()
    assert float(made.arena["report"][0]) == pytest.approx(math.log(19), abs=0.05)


def test_a_report_holds_the_mean_of_the_micro_batches_and_the_norm() -> None:
    made = engine(micro_batches=2)
    slot = made.slots[0]
    made.step(slot)
    report = slot.read()
    losses = made.arena["report"][:2].tolist()
    assert report.loss == sum(losses) / 2 and losses[0] != losses[1]
    assert report.norm > 0 and report.skipped == 0 and report.applied


def test_putting_a_checkpoint_back_continues_to_the_bit() -> None:
    one = engine()
    one.step(one.slots[0])
    kept, state = one.checkpoint(), one.state()
    one.step(one.slots[0])
    other = engine()
    other.put(kept, state)
    assert (kept.step, state.applied) == (1, 1)
    other.step(other.slots[0])
    assert bits(one) == bits(other)


def test_the_step_s_numbers_are_read_from_the_device_s_tables() -> None:
    made = engine(warmup=4)
    config = made.config
    for done in range(3):
        schedule = made.arena["schedule"]
        assert float(schedule[0]) == rates(config)[done]
        assert schedule[1:].numpy().tolist() == corrections(config)[done + 1].tolist()
        made.step(made.slots[0])
    assert made.arena["counters"].tolist() == [3, 3, 0]


def test_the_last_rate_stays_when_the_schedule_is_over() -> None:
    made = engine(steps=1)
    for _ in range(2):
        made.step(made.slots[0])
    assert float(made.arena["schedule"][0]) == rates(made.config)[-1]


def test_a_norm_that_is_not_finite_skips_the_update_and_is_counted() -> None:
    made = engine()
    made.step(made.slots[0])
    before = bits(made)
    made.arena["gradients"][5] = math.nan
    made.update()
    after = bits(made)
    for name in ("weights", "m", "v"):
        assert after[name] == before[name]
    assert not any(after["gradients"])
    assert made.arena["counters"].tolist()[:2] == [2, 1]
    assert made.state().skipped == 1
    made.slots[0].receive(made.arena["report"])
    report = made.slots[0].read()
    assert not report.applied and report.skipped == 1


def test_the_loss_scale_halves_when_fp16_overflows_and_grows_when_it_does_not() -> None:
    made = engine(precision="fp16")
    assert made.state().scale == FIRST_SCALE
    made.arena["gradients"][5] = math.inf
    with np.errstate(invalid="ignore"):
        made.update()
    assert made.state().scale == FIRST_SCALE / 2
    assert made.arena["loss_scale"].tolist() == [FIRST_SCALE / 2, 2 / FIRST_SCALE]
    kept = made.checkpoint()
    made.put(kept, State(FIRST_SCALE / 2, good=1999, applied=0, skipped=1))
    made.update()
    state = made.state()
    assert (state.scale, state.good, state.skipped) == (FIRST_SCALE, 0, 1)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_only_fp16_scales_its_loss(precision: str) -> None:
    made = engine(precision=precision)
    made.step(made.slots[0])
    assert made.arena["loss_scale"].tolist() == [1.0, 1.0]


def test_the_scale_leaves_the_update_as_it_is() -> None:
    """FP16's gradients are S times larger; what AdamW sees is not."""
    norms = []
    for precision in ("fp16", "fp32"):
        made = engine(precision=precision)
        made.step(made.slots[0])
        norms.append(made.slots[0].read().norm)
    assert norms[0] == pytest.approx(norms[1], rel=2e-2)


def test_zero_grads_leaves_no_byte() -> None:
    made = engine()
    made.forward()
    made.backward()
    assert any(bits(made)["gradients"])
    made.zero_grads()
    assert not any(bits(made)["gradients"])


def test_tokens_that_do_not_occur_keep_a_gradient_of_exactly_zero() -> None:
    made = engine(tied=False)
    ids, targets = tokens(made.config)
    give(made, np.full_like(ids, 4), targets)
    made.forward()
    made.backward()
    rows = made.views.gradients["wte"].abs().sum(dim=1)
    assert rows[4] > 0 and rows.count_nonzero() == 1


def test_fp8_is_no_precision_to_train_in() -> None:
    with pytest.raises(BadParameter, match="accepted: fp32, fp16, bf16"):
        Engine(preset("micro", {"precision": "fp8-e4m3"}), CPU)
