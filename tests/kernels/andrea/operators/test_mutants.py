"""Every mutant of an operator is killed, by the case that should and with the pattern named."""

import pytest

from kernels.andrea.mutant import Mutant
from kernels.andrea.mutants import MUTANTS
from kernels.andrea.mutating import mutated, source_of
from kernels.events import Verdict
from tests.kernels.andrea.operators.checking import judged

HIDDEN = [mutant for mutant in MUTANTS if mutant.hidden_by]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_mutant_is_killed_by_its_case_which_names_the_pattern(mutant: Mutant) -> None:
    mutated.cache_clear()  # one of them remembers what it saw
    found = judged(mutant.operator, mutant.shape, mutant=mutant.name, dtype=mutant.dtype)
    case = found[mutant.tensor]
    assert case.verdict is Verdict.FAILED
    assert case.why is not None and case.why.code == mutant.why


@pytest.mark.parametrize("mutant", HIDDEN, ids=lambda mutant: mutant.name)
def test_some_are_invisible_with_one_micro_batch(mutant: Mutant) -> None:
    mutated.cache_clear()
    case = judged(
        mutant.operator, mutant.shape, mutant=mutant.name, micro_batches=mutant.hidden_by
    )[mutant.tensor]
    assert case.verdict is Verdict.PASSED


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_mutant_differs_from_the_operator_only_where_it_says(mutant: Mutant) -> None:
    for edit in mutant.edits:
        assert edit.new in source_of(mutant)


def test_every_weight_gradient_has_a_mutant_that_overwrites_it() -> None:
    assert {(mutant.operator, mutant.tensor) for mutant in HIDDEN} >= {
        ("embed", "dwte"),
        ("embed", "dwpe"),
        ("layernorm", "dgamma"),
        ("layernorm", "dbeta"),
        ("attn_qkv", "dw"),
        ("attn_out", "dw"),
        ("mlp", "dw_1"),
        ("mlp", "dw_2"),
        ("logits", "de"),
    }
