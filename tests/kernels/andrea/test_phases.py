"""The phases of a smoothed loss."""

import math

import pytest

from kernels.andrea.phases import BORDERS, Phase, later, phase
from kernels.messages import MESSAGES


@pytest.mark.parametrize("vocabulary", [257, 8449])
def test_each_begins_below_its_border(vocabulary: int) -> None:
    chance = math.log(vocabulary)
    assert phase(chance, vocabulary) is Phase.RANDOM
    assert phase(2 * chance, vocabulary) is Phase.RANDOM
    assert phase(math.inf, vocabulary) is Phase.RANDOM
    for border, above, below in zip(BORDERS, list(Phase), list(Phase)[1:], strict=False):
        assert phase(chance * (border + 1e-6), vocabulary) is above
        assert phase(chance * (border - 1e-6), vocabulary) is below
    assert phase(0.0, vocabulary) is Phase.KNOWLEDGE


def test_borders_fall() -> None:
    assert list(BORDERS) == sorted(BORDERS, reverse=True)
    assert len(BORDERS) == len(Phase) - 1


def test_a_phase_is_entered_once() -> None:
    assert later(None, Phase.RANDOM)
    assert later(Phase.RANDOM, Phase.STRUCTURE)
    assert not later(Phase.STRUCTURE, Phase.STRUCTURE)
    assert not later(Phase.STRUCTURE, Phase.FREQUENCY)


@pytest.mark.parametrize("name", Phase)
def test_every_phase_has_a_word(name: Phase) -> None:
    assert MESSAGES[f"phase.{name.value}"]
