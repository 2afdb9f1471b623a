"""Offsets beyond 2^31: the benchmark that needs a card for them, small; and zones, by address."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from triton.runtime import interpreter

from kernels.andrea.operators import layernorm
from tests.bench import gpu_beyond

CPU = torch.device("cpu")
FAR = 2**19  # a program whose zone begins beyond 2^31 elements, 4096 columns wide


@pytest.mark.parametrize("version", [1, 2])
def test_what_a_card_is_asked_over_2_31_elements_passes_over_few(version: int) -> None:
    found = dict(
        (
            *gpu_beyond.norms(CPU, version, 200, 48),
            *gpu_beyond.losses(CPU, version, 70, 300),
            *gpu_beyond.attention(CPU, version, 2, 20, 2, 16),
            *gpu_beyond.sums(CPU, 70, 48),
        )
    )
    assert len(found) == 8
    assert all(found.values()), found


@pytest.fixture
def addresses(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[np.ndarray]]:
    """Of what the interpreter would read and write, which it does not; every program is FAR."""
    seen: list[np.ndarray] = []
    builder = interpreter.InterpreterBuilder

    def load(self: Any, pointers: Any, mask: Any, other: Any, *rest: Any) -> Any:
        seen.append(pointers.data[mask.data])
        dtype = pointers.get_element_ty()
        zeros = np.zeros(pointers.data.shape, dtype=interpreter._get_np_dtype(dtype))
        return interpreter.TensorHandle(zeros, dtype)

    def store(self: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> None:
        seen.append(pointers.data[mask.data])

    far = interpreter.TensorHandle(np.array([FAR], dtype=np.int32), interpreter.tl.int32)
    monkeypatch.setattr(builder, "create_masked_load", load)
    monkeypatch.setattr(builder, "create_masked_store", store)
    monkeypatch.setattr(builder, "create_get_program_id", lambda self, axis: far)
    yield seen


def test_the_zone_of_a_late_program_lies_where_64_bits_say(addresses: list[np.ndarray]) -> None:
    width = 4096
    row = [torch.zeros(1) for _ in range(2)]
    x, gamma, zones = torch.zeros(1, width), torch.zeros(width), torch.zeros(1, 2, width)
    layernorm.k_layernorm_bwd[(1,)](x, x, gamma, *row, x, zones, 1, 1e-5, width, width, 1, False)
    begins = zones.data_ptr() + FAR * 2 * width * 4
    assert begins - zones.data_ptr() > 2**31
    first, second = addresses[-2:]
    assert int(first.min()) == begins
    assert int(second.max()) == begins + (2 * width - 1) * 4
