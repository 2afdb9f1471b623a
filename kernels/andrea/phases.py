"""Phases of a training, read off the smoothed loss: a reading aid, not a law. Needs no torch.

A model that only guesses has the loss ln V. What share of that is left says roughly what has been
learnt; the shares below are those of a model of bytes (V = 257, ln V = 5.55), whose text is the
source of Python:

    random      above 0.95    every byte is as likely as any other
    frequency   above 0.58    how often each byte occurs: counting them alone gives 0.584
    structure   above 0.43    which byte follows which: counting pairs gives 0.437
    coherence   above 0.25    words and names: counting triples gives 0.310
    knowledge   below         what a longer context says, or, of a small text, the text by heart

So whoever leaves a phase does better than what names it could explain. The counts were made over
the standard library of Python 3.11.7. With another text or a larger vocabulary the borders lie
elsewhere: the samples say more.
"""

import math
from enum import StrEnum


class Phase(StrEnum):
    RANDOM = "random"
    FREQUENCY = "frequency"
    STRUCTURE = "structure"
    COHERENCE = "coherence"
    KNOWLEDGE = "knowledge"


BORDERS = (0.95, 0.58, 0.43, 0.25)  # of ln V; each phase begins below the border before it


def phase(ema: float, vocabulary: int) -> Phase:
    """The phase of a smoothed loss."""
    share = ema / math.log(vocabulary)
    return list(Phase)[sum(share < border for border in BORDERS)]


def later(one: Phase | None, other: Phase) -> bool:
    """Whether `other` lies beyond `one`. A loss that rises again leaves no phase."""
    order = list(Phase)
    return one is None or order.index(other) > order.index(one)
