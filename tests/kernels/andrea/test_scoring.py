"""Samples: what scores how much."""

import pytest

from kernels.andrea.scoring import diversity, score


def test_a_text_that_repeats_itself_fails() -> None:
    assert score("the the the " * 40).total < 30
    assert not score("the the the " * 40).passed


def test_plain_english_passes_with_every_word_known() -> None:
    text = "When the water in the river is cold, people walk home along the old road and talk."
    scored = score(text)
    assert scored.passed and scored.words == 1.0
    assert scored.bigrams == scored.trigrams == 1.0


def test_nothing_scores_nothing() -> None:
    assert score("").total == 0
    assert score("   \n\n").total < 1


def test_the_parts_add_up_to_a_hundred() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,;:"
    assert len(set(letters)) == 40
    scored = score("a big man can see the " + letters)
    assert scored.characters == 1.0
    parts = 35 * scored.bigrams + 35 * scored.trigrams + 20 * scored.words + 10
    assert scored.total == pytest.approx(parts)


def test_diversity_counts_distinct_runs() -> None:
    assert diversity(["a", "b", "a", "b", "a"], 2) == 0.5
    assert diversity(["a"], 2) == 0.0
