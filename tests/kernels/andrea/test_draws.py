"""Random numbers, schedule and batches: functions of (seed, step) and of nothing else."""

from pathlib import Path

import numpy as np
import pytest

from kernels.andrea import batches, initial
from kernels.andrea.config import preset
from kernels.andrea.corpus import Corpus
from kernels.andrea.draws import Purpose, below, fill_normal, raw, uniform
from kernels.andrea.schedule import learning_rate
from kernels.andrea.schedule_tables import corrections, rates
from kernels.andrea.tokens import BOS

TEXT = np.arange(1000, dtype=np.uint16) % 256
CORPUS = Corpus("text", "0", TEXT)


def test_the_stream_is_the_same_today_and_always() -> None:
    """Written down, so that a change of NumPy's stream or of the key would show."""
    assert raw(1, Purpose.BATCH, 5, 2).tolist() == [1829748659769998939, 11265817890007642255]


def test_steps_purposes_and_seeds_have_streams_of_their_own() -> None:
    made = [
        raw(seed, purpose, step, 4).tolist()
        for seed in (1, 2)
        for purpose in Purpose
        for step in (0, 1, 2)
    ]
    flat = [number for numbers in made for number in numbers]
    assert len(set(flat)) == len(flat)


def test_numbers_keep_within_their_limits() -> None:
    drawn = below(7, 1, Purpose.BATCH, 0, 1000)
    assert set(drawn.tolist()) == set(range(7))
    units = uniform(1, Purpose.SAMPLE, 0, 1000)
    assert 0 <= units.min() and units.max() < 1 and abs(units.mean() - 0.5) < 0.05


def test_normal_numbers_are_normal() -> None:
    out = np.empty(100_001, np.float32)
    fill_normal(out, 0.02, 1, 0)
    assert abs(out.mean()) < 3e-4 and abs(out.std() - 0.02) < 2e-4
    assert np.isfinite(out).all() and 0.06 < abs(out).max() < 0.12


def test_weights_start_as_decided() -> None:
    config = preset("micro", {"layers": 2})
    flat = initial.weights(config)
    slots = {slot.name: slot for slot in initial.layout(config)}

    def of(name: str) -> np.ndarray:
        slot = slots[name]
        return flat[slot.offset : slot.offset + slot.count]

    assert abs(of("wte").std() - 0.02) < 1e-3
    assert abs(of("h1.w_2").std() - 0.02 / 2) < 1e-3  # divided by sqrt(2 L)
    assert (of("lnf.gamma") == 1).all() and (of("h0.ln1.beta") == 0).all()


def test_a_step_s_batch_does_not_depend_on_the_steps_before() -> None:
    config = preset("micro", {"micro_batches": 3})
    straight, later = batches.empty(config), batches.empty(config)
    for step in range(4):
        batches.fill(straight, config, CORPUS, step)
    batches.fill(later, config, CORPUS, 3)
    for name in ("ids", "targets", "order", "first", "starts"):
        assert np.array_equal(getattr(straight, name), getattr(later, name))


def test_targets_are_the_next_tokens_and_every_sequence_has_a_beginning() -> None:
    config = preset("micro")
    batch = batches.empty(config)
    batches.fill(batch, config, CORPUS, 0)
    targets = batch.targets.reshape(batch.ids.shape)
    assert (batch.ids[:, :, 0] == BOS).all()
    assert np.array_equal(batch.ids[:, :, 1:], targets[:, :, :-1])
    for start, row in zip(batch.starts, targets.reshape(-1, config.context), strict=True):
        assert np.array_equal(row, TEXT[start : start + config.context])


def test_every_place_of_the_corpus_can_be_drawn() -> None:
    config = preset("micro", {"batch": 400, "context": 998})
    places = set(batches.starts(config, CORPUS, 0).tolist())
    assert places == {0, 1, 2}


def test_segments_hold_each_place_once_sorted_by_token() -> None:
    config = preset("micro", {"micro_batches": 2})
    batch = batches.empty(config)
    batches.fill(batch, config, CORPUS, 0)
    for ids, order, first in zip(batch.ids, batch.order, batch.first, strict=True):
        flat = ids.reshape(-1)
        assert sorted(order.tolist()) == list(range(config.rows))
        for token in (0, 17, BOS):
            places = order[first[token] : first[token + 1]]
            assert places.tolist() == np.flatnonzero(flat == token).tolist()


def test_the_rate_warms_up_and_ends_at_its_floor() -> None:
    config = preset("micro", {"steps": 100, "learning_rate": 1.0})
    assert config.warmup_steps == 10
    made = rates(config)
    assert made.dtype == np.float32 and len(made) == 100
    assert abs(made[0] - 0.1) < 1e-3  # (t + 1) / warmup, with t from 0
    assert made.argmax() == 9
    assert abs(learning_rate(config, 100) - 0.1) < 1e-9
    assert abs(made[-1] - 0.1) < 1e-3


def test_without_warmup_the_first_rate_is_the_peak() -> None:
    assert learning_rate(preset("micro", {"warmup": 0}), 0) == pytest.approx(3e-3)


def test_bias_corrections_are_exact_at_small_t_and_one_at_the_end() -> None:
    table = corrections(preset("gpt2-124M"))
    assert table[1].tolist() == pytest.approx([10.0, 1000.0], rel=1e-6)
    assert table[-1].tolist() == [1.0, 1.0]
    assert len(table) < 20_000


def test_the_corpus_may_be_as_long_as_one_window(tmp_path: Path) -> None:
    config = preset("micro", {"context": 1000})
    assert set(batches.starts(config, CORPUS, 0).tolist()) == {0}
