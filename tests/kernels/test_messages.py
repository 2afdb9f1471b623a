"""Every code that a Procedure says has a sentence, with the placeholders it is given."""

import re
import string
from pathlib import Path

import pytest

from kernels import rmsnorm_mutants
from kernels.events import Note, Outcome
from kernels.messages import MESSAGES, sentence
from kernels.registry import PROCEDURES

ROOT = Path(__file__).resolve().parents[2] / "kernels"
SOURCES = [path for path in ROOT.rglob("*.py") if "andrea" not in path.parts]
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)


def test_every_note_in_the_source_has_a_sentence() -> None:
    codes = set(re.findall(r'Note\(\s*"([a-z0-9.-]+)"', TEXT))
    codes |= {f"refusal.{code}" for code in re.findall(r'ContractError\(\s*"([a-z-]+)"', TEXT)}
    codes |= {f"column.{key}" for key in re.findall(r'Column\(\s*"([a-z-]+)"', TEXT)}
    codes |= {f"table.{name}" for name in re.findall(r'\bTable\(\s*"([a-z-]+)"', TEXT)}
    codes |= {f"metric.{name}" for name in re.findall(r'Metric\(\s*"([a-z-]+)"', TEXT)}
    codes |= {mutant.why for mutant in rmsnorm_mutants.MUTANTS}
    assert codes - set(MESSAGES) == set()


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_every_procedure_has_a_title_and_a_sentence(procedure: str) -> None:
    assert MESSAGES[f"procedure.{procedure}.title"]
    assert MESSAGES[f"procedure.{procedure}.about"].endswith(".")


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_a_sentence(outcome: Outcome) -> None:
    assert MESSAGES[f"outcome.{outcome.value}"].endswith(".")


def test_placeholders_are_named() -> None:
    for code, template in MESSAGES.items():
        for _, name, _, _ in string.Formatter().parse(template):
            assert name is None or name.isidentifier(), code


def test_a_sentence_is_filled_and_an_unknown_code_shows_itself() -> None:
    assert sentence(Note("refusal.epsilon", {"epsilon": "0"})).startswith("epsilon is 0;")
    assert sentence(Note("no.such-code", {"a": 1})) == "no.such-code a=1"
