"""The phases named along a training's loss: a share of ln V, and never back."""

import math

import pytest

from kernels.andrea.phases import Phase, later, phase

LN = math.log(257)


@pytest.mark.parametrize(
    ("ema", "name"),
    [
        (LN, Phase.RANDOM),
        (5.2, Phase.FREQUENCY),
        (3.2419, Phase.FREQUENCY),  # the counts of the default corpus, and nothing beyond them
        (3.1, Phase.STRUCTURE),
        (2.4229, Phase.STRUCTURE),  # its pairs
        (2.2, Phase.COHERENCE),
        (1.7215, Phase.COHERENCE),  # its triples
        (1.0, Phase.KNOWLEDGE),
    ],
)
def test_a_phase_ends_where_its_name_no_longer_explains_the_loss(ema: float, name: Phase) -> None:
    assert phase(ema, 257) is name


def test_a_loss_that_rises_again_leaves_no_phase() -> None:
    assert later(None, Phase.RANDOM)
    assert later(Phase.RANDOM, Phase.STRUCTURE)
    assert not later(Phase.STRUCTURE, Phase.FREQUENCY)
    assert not later(Phase.STRUCTURE, Phase.STRUCTURE)
