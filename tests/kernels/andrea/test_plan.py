"""The memory plan: complete, exact to the byte, made without torch, refused when it cannot fit."""

import subprocess
import sys

import pytest
import torch

from kernels.andrea import arena
from kernels.andrea.arena import Arena
from kernels.andrea.config import PRESETS, preset
from kernels.andrea.layout import head_start, parameter_count
from kernels.andrea.plan import Buffer, MemoryRefused, plan, require_room

CPU = torch.device("cpu")


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("precision", ["fp32", "fp16", "bf16"])
def test_the_plan_is_what_is_allocated_to_the_byte(version: int, precision: str) -> None:
    needed = plan(preset("micro", {"precision": precision}), version)
    made = Arena(needed, CPU)
    assert made.memory.untyped_storage().nbytes() == needed.bytes
    assert sum(needed.by_owner().values()) == needed.bytes
    for buffer in needed.buffers:
        tensor = made[buffer.name]
        assert tuple(tensor.shape) == buffer.shape
        assert tensor.nbytes == buffer.bytes
        assert tensor.data_ptr() % 16 == 0


def test_buffers_do_not_overlap() -> None:
    made = Arena(plan(preset("micro")), CPU)
    spans = sorted((t.data_ptr(), t.data_ptr() + t.nbytes) for t in made.buffers.values())
    assert all(end <= start for (_, end), (start, _) in zip(spans, spans[1:], strict=False))


@pytest.mark.parametrize("name", PRESETS)
def test_names_are_unique_and_owners_are_told(name: str) -> None:
    buffers = plan(preset(name)).buffers
    assert len({buffer.name for buffer in buffers}) == len(buffers)
    assert all(buffer.whose for buffer in buffers)


def test_the_course_s_figures() -> None:
    """At 8 x 1,024 x 768: 25.17 MB in FP32, half of it in 16 bits; hidden 4 times as much."""
    held = {b.name: b for b in plan(preset("120M", {"precision": "fp32"})).buffers}
    assert held["h0.x"].bytes == 25_165_824
    assert held["h0.h"].bytes == 100_663_296
    assert held["h0.mean1"].bytes == 32 * 1024
    assert held["m"].bytes == held["gradients"].bytes == 4 * 92_248_320
    half = {b.name: b for b in plan(preset("120M")).buffers}
    assert half["h0.x"].bytes == 12_582_912
    assert half["m"].dtype == "float32"  # never in 16 bits: v would vanish


def test_logits_are_a_multiple_of_64_wide_whatever_the_vocabulary() -> None:
    held = {b.name: b for b in plan(preset("gpt2-124M")).buffers}
    assert held["logits"].shape[1] == 50_304


@pytest.mark.parametrize("tied", [True, False])
def test_the_head_in_16_bits_has_a_row_for_every_column_of_the_logits(tied: bool) -> None:
    config = preset("gpt2-124M", {"tied": tied})
    held = {b.name: b for b in plan(config).buffers}
    behind = held["working"].count - head_start(config)
    assert behind >= 50_304 * 768
    assert held["gradients"].count == held["weights"].count == parameter_count(config)


def test_accumulation_does_not_multiply_the_gradients() -> None:
    one, four = (plan(preset("120M", {"micro_batches": n})) for n in (1, 4))
    assert four.by_owner()["gradients"] == one.by_owner()["gradients"]
    assert four.by_owner()["layers"] == one.by_owner()["layers"]


def test_too_little_memory_is_refused_before_anything_is_allocated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needed = plan(preset("micro"))
    monkeypatch.setattr(arena, "free_memory", lambda device: needed.bytes - 1)
    monkeypatch.setattr(torch, "zeros", lambda *a, **k: pytest.fail("allocated"))
    with pytest.raises(MemoryRefused) as refused:
        Arena(needed, CPU)
    assert "1.48 MB" in str(refused.value) and "accepted: a smaller batch" in str(refused.value)


def test_what_just_fits_is_accepted() -> None:
    needed = plan(preset("micro"))
    require_room(needed, needed.bytes)
    with pytest.raises(MemoryRefused):
        require_room(needed, needed.bytes, beside=1)


def test_a_plan_needs_no_torch() -> None:
    program = (
        "import sys; from kernels.procedures.andrea import memory; "
        "print('torch' in sys.modules, 'triton' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False False", done.stderr


def test_bytes_follow_from_shape_and_dtype() -> None:
    assert Buffer("a", (3, 5), "bfloat16", "head").bytes == 30
