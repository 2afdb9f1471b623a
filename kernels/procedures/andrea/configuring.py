"""The configuration that a Procedure's parameters describe. Needs no torch."""

from collections.abc import Mapping
from typing import Any

from kernels.andrea.config import Config, Precision, preset
from kernels.procedure import BadParameter
from kernels.procedures.andrea import SHAPES

KEYS = (*SHAPES, "steps", "learning_rate", "precision", "seed")
MAY_BE_ZERO = ("warmup", "floor", "clip", "decay")  # so that nothing given is a number below 0


def config_of(given: Mapping[str, Any]) -> Config:
    """The preset with what was given in its place. Raises BadParameter."""
    changes = {k: given[k] for k in KEYS if given.get(k)}
    changes |= {k: given[k] for k in MAY_BE_ZERO if given.get(k, -1) >= 0}
    return preset(given.get("config", "micro"), changes)


def check(given: Mapping[str, Any]) -> None:
    """Whether such a model can be at all. Raises BadParameter."""
    config_of(given)


def check_training(given: Mapping[str, Any]) -> None:
    """Whether such a model can be trained. Raises BadParameter."""
    if config_of(given).precision is Precision.FP8:
        raise BadParameter(
            "precision = 'fp8-e4m3' is not accepted for training; accepted: fp32, fp16, bf16."
        )
    if given.get("polish") and not given.get("resume"):
        raise BadParameter("polish = True needs resume; accepted: a checkpoint to continue from.")


def check_products(given: Mapping[str, Any]) -> None:
    """Tensor cores take E4M3 in steps of 16. Raises BadParameter."""
    for name in ("rows", "width"):
        if given[name] % 16:
            raise BadParameter(
                f"{name} = {given[name]} is not accepted; accepted: a multiple of 16."
            )
