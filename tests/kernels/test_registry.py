"""Names and parameters of Procedures, read without torch."""

import subprocess
import sys
from typing import Any

import pytest

from kernels.procedure import BadParameter, Device
from kernels.registry import PROCEDURES, UnknownProcedure, accepts, get, parse, read

IN_ORDER = [
    "environment",
    "reference",
    "check-forward",
    "check-backward",
    "check-gamma",
    "contract",
    "train-integration",
    "benchmark",
    "exercise",
    "figures",
    "checkpoints",
    "clean",
]


def test_the_course_has_its_procedures_in_order() -> None:
    names = [name for name in PROCEDURES if name.startswith("rmsnorm.")]
    assert names == [f"rmsnorm.{name}" for name in IN_ORDER]


def test_listing_them_imports_no_torch_and_no_django() -> None:
    program = (
        "import sys, kernels.registry, kernels.messages, kernels.execution, kernels.terminal\n"
        "print([m for m in ('torch', 'triton', 'django', 'celery') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_every_procedure_can_be_loaded() -> None:
    for procedure in PROCEDURES.values():
        assert callable(procedure.load())


def test_a_choice_that_may_be_left_out_is_offered_by_no_name_that_is_refused() -> None:
    for procedure in PROCEDURES.values():
        for parameter in procedure.parameters:
            for name in accepts(parameter).split(", ") if parameter.choices else ():
                if name != "or leave it out":
                    assert read(parameter, name) in parameter.choices
                else:
                    assert read(parameter, "") == parameter.default == ""


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownProcedure, match=r"rmsnorm\.check-forward"):
        get("rmsnorm.nothing")


def test_defaults_stand_where_nothing_is_given() -> None:
    assert parse(get("rmsnorm.exercise"), {}) == {"n": 257}


@pytest.mark.parametrize("value", [255, "255", 255.0])
def test_text_and_numbers_mean_the_same(value: Any) -> None:
    assert parse(get("rmsnorm.exercise"), {"n": value}) == {"n": 255}


@pytest.mark.parametrize("value", [1, 4097, "many", "", None, True, 2.5, float("nan"), [257]])
def test_a_value_out_of_range_or_of_another_type_is_refused_by_name(value: Any) -> None:
    with pytest.raises(BadParameter, match="n = .*from 2 to 4096"):
        parse(get("rmsnorm.exercise"), {"n": value})


@pytest.mark.parametrize(("value", "meant"), [("true", True), ("no", False), (True, True)])
def test_yes_and_no_have_several_spellings(value: Any, meant: bool) -> None:
    assert parse(get("rmsnorm.clean"), {"delete": value})["delete"] is meant


def test_an_unknown_parameter_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadParameter, match="no parameter 'm'; it accepts: n"):
        parse(get("rmsnorm.exercise"), {"m": 3})


def test_a_choice_lists_what_it_accepts() -> None:
    with pytest.raises(BadParameter, match="accepted: FP32, FP16, BF16"):
        parse(get("rmsnorm.benchmark"), {"dtype": "FP8"})


def test_only_the_benchmark_needs_a_gpu() -> None:
    needs = [p.name for p in PROCEDURES.values() if Device.CPU not in p.devices]
    assert [name for name in needs if name.startswith("rmsnorm.")] == ["rmsnorm.benchmark"]
