"""The flat order and the counts that the published figures can be held against."""

import pytest

from kernels.andrea.config import PRESETS, preset
from kernels.andrea.layout import layout, parameter_count


@pytest.mark.parametrize(
    ("name", "changes", "count"),
    [
        ("120M", {}, 92_248_320),
        ("120M", {"tied": False}, 98_737_152),  # the model card's 98.7M: an untied head
        ("12M", {"vocabulary": 2305, "tied": False}, 12_790_272),  # the card's 12.8M
        ("gpt2-124M", {}, 124_356_864),
    ],
)
def test_parameter_counts(name: str, changes: dict[str, bool], count: int) -> None:
    assert parameter_count(preset(name, changes)) == count


def test_a_block_holds_7_080_960_weights() -> None:
    slots = [s for s in layout(preset("120M")) if s.name.startswith("h3.")]
    assert sum(s.count for s in slots) == 7_080_960


def test_order_is_the_checkpoints() -> None:
    names = [slot.name for slot in layout(preset("micro", {"layers": 1, "tied": False}))]
    assert names == [
        *("wte", "wpe", "h0.w_q", "h0.w_k", "h0.w_v", "h0.w_o", "h0.w_1", "h0.w_2"),
        *("h0.ln1.gamma", "h0.ln1.beta", "h0.ln2.gamma", "h0.ln2.beta"),
        *("lnf.gamma", "lnf.beta", "head"),
    ]


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("name", PRESETS)
def test_slots_lie_end_to_end_and_are_as_many_weights_as_counted(name: str, tied: bool) -> None:
    config, end = preset(name, {"tied": tied}), 0
    for slot in layout(config):
        assert slot.offset == end
        end += slot.count
    assert end == parameter_count(config)


def test_only_matrices_decay() -> None:
    assert {s.name for s in layout(preset("micro", {"layers": 1})) if s.decays} == {
        *("wte", "h0.w_q", "h0.w_k", "h0.w_v", "h0.w_o", "h0.w_1", "h0.w_2"),
    }
