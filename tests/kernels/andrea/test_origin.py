"""What a run was made with: every choice that decides the order of a sum, and what is said where
it goes on with another."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kernels.andrea import origin
from kernels.andrea.operators import tiles
from tests.kernels.andrea.training import TEXT, logs, train

CPU = torch.device("cpu")
NOW = {"card": "NVIDIA H200", "tiles": {"programs": 4}}


def test_choices_are_json_and_read_back_equal() -> None:
    made = origin.choices(CPU)
    assert json.loads(json.dumps(made)) == made
    assert {"half", "forward", "multiprocessors", "held", "grad_norm.TILE"} <= set(made)


def test_every_constant_that_is_named_decides_what_is_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = origin.choices(CPU)
    for module, names in origin.ORDERS.items():
        for name in names:
            with monkeypatch.context() as patch:
                patch.setattr(module, name, getattr(module, name) + 1)
                assert origin.choices(CPU) != before
    assert origin.choices(CPU) == before


@pytest.mark.parametrize(
    ("card", "tiles", "code"),
    [
        ("NVIDIA H200", {"programs": 4}, ""),
        ("", None, ""),  # a state file that does not say
        ("NVIDIA H200", None, ""),
        ("NVIDIA L4", {"programs": 4}, "log.andrea.other-card"),
        ("NVIDIA H200", {"programs": 3}, "log.andrea.other-tiles"),
    ],
)
def test_another_card_and_other_tiles_are_told(card: str, tiles: object, code: str) -> None:
    note = origin.rounds_otherwise(card, tiles, NOW)
    assert (note.code if note else "") == code


@pytest.mark.training
def test_a_run_that_goes_on_with_kernels_cut_otherwise_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = tmp_path / "text.txt"
    corpus.write_text(TEXT)
    train(tmp_path, str(corpus), steps=2, checkpoint_every=1)
    monkeypatch.setattr(tiles, "DEFAULT", replace(tiles.DEFAULT, sums=tiles.Sums(128, 32)))
    said = train(tmp_path, str(corpus), steps=2, resume=str(tmp_path / "step_000001.bin"))
    assert "log.andrea.other-tiles" in logs(said)
