"""A configuration that cannot work is refused when it is read, in one sentence."""

from typing import Any

import pytest

from kernels.andrea.config import preset
from kernels.procedure import BadParameter


@pytest.mark.parametrize(
    ("changes", "named", "accepted"),
    [
        ({"heads": 5}, "heads = 5", "1, 2, 4, 8, 16, 32"),
        ({"depth": 3}, "'depth'", "layers"),
        ({"precision": "fp9"}, "precision = 'fp9'", "fp8-e4m3"),
        ({"width": 1.5}, "width = 1.5", "a whole number"),
        ({"steps": 0}, "steps = 0", "at least 1"),
        ({"tied": 1}, "tied = 1", "true or false"),
        ({"clip": float("nan")}, "clip = nan", "at least 0"),
        ({"beta2": 1.0}, "beta2 = 1.0", "from 0"),
        ({"learning_rate": "fast"}, "learning_rate = 'fast'", "a number"),
        ({"warmup": 61}, "warmup = 61", "at most 60"),
        ({"layers": True}, "layers = True", "a whole number"),
    ],
)
def test_bad_value_names_the_key_and_what_is_accepted(
    changes: dict[str, Any], named: str, accepted: str
) -> None:
    with pytest.raises(BadParameter) as refused:
        preset("micro", changes)
    assert named in str(refused.value)
    assert accepted in str(refused.value)


def test_unknown_preset_names_the_known_ones() -> None:
    with pytest.raises(BadParameter, match="micro, 12M, 120M, gpt2-124M"):
        preset("13M")


@pytest.mark.parametrize(("steps", "warmup"), [(60, 6), (20_000, 2000), (200_000, 2000)])
def test_warmup_is_a_tenth_of_the_steps_and_2000_at_the_most(steps: int, warmup: int) -> None:
    assert preset("micro", {"steps": steps}).warmup_steps == warmup
