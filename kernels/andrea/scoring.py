"""How a sample is scored, 0 to 100: a model that repeats itself scores low.

It catches collapse, not nonsense: an untrained model writes noise, whose words all differ.

    35 * bigram diversity + 35 * trigram diversity + 20 * share of English words + 10 * characters

Diversity is the share of distinct ones among all the sample's word pairs or triples; characters
is the number of distinct ones over 40, at most 1. Below 30 a sample fails; five failures in a
row halt a run. Needs no torch.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

WEIGHTS = {"bigrams": 35, "trigrams": 35, "words": 20, "characters": 10}
LOWEST_PASS = 30.0
FAILURES_TO_HALT = 5
SAMPLE_TOKENS = 420
FULL_CHARACTERS = 40
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True)
class Score:
    bigrams: float  # each a share, 0 to 1
    trigrams: float
    words: float
    characters: float

    @property
    def total(self) -> float:
        return sum(weight * getattr(self, part) for part, weight in WEIGHTS.items())

    @property
    def passed(self) -> bool:
        return self.total >= LOWEST_PASS

    def shown(self) -> dict[str, float]:
        return {
            "score": self.total,
            "bigrams": self.bigrams,
            "trigrams": self.trigrams,
            "words": self.words,
            "characters": self.characters,
        }


def score(text: str) -> Score:
    words = [word.casefold() for word in WORD.findall(text)]
    known = sum(word in english() for word in words) / len(words) if words else 0.0
    return Score(
        bigrams=diversity(words, 2),
        trigrams=diversity(words, 3),
        words=known,
        characters=min(1.0, len(set(text)) / FULL_CHARACTERS),
    )


def diversity(words: list[str], size: int) -> float:
    """Distinct runs of `size` words over all of them; 0 where there is none."""
    runs = list(zip(*(words[i:] for i in range(size)), strict=False))
    return len(set(runs)) / len(runs) if runs else 0.0


@cache
def english() -> frozenset[str]:
    """Common English words, from the list beside this file."""
    path = Path(__file__).with_name("english.txt")
    return frozenset(path.read_text(encoding="utf-8").split())
