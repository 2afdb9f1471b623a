"""The memory contract, by version, and its numbers."""

from pathlib import Path

import pytest
import torch

from kernels.contract import ContractError
from kernels.events import Outcome, Verdict
from kernels.rmsnorm import EPS, check_contract, rmsnorm
from kernels.rmsnorm_versions import VERSIONS
from tests.kernels.running import run


@pytest.mark.parametrize("version", (1, 2, 3))
def test_every_refusal_comes_with_its_sentence_before_anything_is_done(
    version: int, tmp_path: Path
) -> None:
    said = run("rmsnorm.contract", tmp_path, version)
    assert [case.id for case in said.cases if case.verdict is Verdict.FAILED] == []
    assert said.end.outcome is Outcome.PASSED
    refused = {case.why.code for case in said.cases if case.why is not None}
    assert {"refusal.not-contiguous", "refusal.dtype", "refusal.devices"} <= refused
    assert {"refusal.epsilon", "refusal.columns", "refusal.dy-shape"} <= refused


@pytest.mark.parametrize(
    ("rows", "columns"), [(65_280, 257), (4097, 4095), (65_536, 256), (4096, 4096)]
)
def test_the_scratch_bound_of_version_one_is_64_mib(rows: int, columns: int) -> None:
    gamma = torch.empty(columns, device="meta")
    check_contract(torch.empty(rows, columns, device="meta"), gamma, EPS)
    with pytest.raises(ContractError, match="bytes of scratch"):
        check_contract(torch.empty(rows + 1, columns, device="meta"), gamma, EPS)


def test_a_refusal_is_a_value_error_with_a_sentence_and_a_note() -> None:
    with pytest.raises(ValueError, match="x is not contiguous") as caught:
        rmsnorm(torch.ones(6, 4).T, torch.ones(6))
    assert isinstance(caught.value, ContractError)
    assert caught.value.note.code == "refusal.not-contiguous"


def test_nothing_falls_back_to_the_reference() -> None:
    wide = torch.ones(2, 4097)
    with pytest.raises(ContractError):
        rmsnorm(wide, torch.ones(4097))


def test_each_version_has_a_contract_of_its_own() -> None:
    assert VERSIONS[1].contract.max_columns == 4096
    assert VERSIONS[2].contract.max_columns == 65_536
    assert torch.bfloat16 in VERSIONS[2].contract.dtypes
    assert VERSIONS[2].contract.scratch_limit is None
