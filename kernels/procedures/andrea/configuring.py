"""The configuration that a Procedure's parameters describe. Needs no torch."""

from collections.abc import Mapping
from typing import Any

from kernels.andrea.checkpoint_size import LARGEST_COUNT
from kernels.andrea.config import Config, preset
from kernels.andrea.layout import parameter_count
from kernels.andrea.tokens import TOKENS
from kernels.procedure import BadParameter
from kernels.procedures.andrea import AS_PRESET, SHAPES

KEYS = (*SHAPES, "steps", "learning_rate", "precision", "seed")
MAY_BE_ZERO = ("warmup", "floor", "clip", "decay")  # so that nothing given is a number below 0


def config_of(given: Mapping[str, Any]) -> Config:
    """The preset with what was given in its place. Raises BadParameter."""
    changes = {k: given[k] for k in KEYS if given.get(k)}
    changes |= {k: given[k] for k in MAY_BE_ZERO if given.get(k, AS_PRESET) != AS_PRESET}
    if "tied" in given:
        changes["tied"] = given["tied"]
    config = preset(given.get("config", "micro"), changes)
    require_countable(config)
    return config


def require_countable(config: Config) -> None:
    """A checkpoint's header counts weights in 32 bits. Raises BadParameter."""
    count = parameter_count(config)
    if count > LARGEST_COUNT:
        raise BadParameter(
            f"width = {config.width} with layers = {config.layers}, vocabulary = "
            f"{config.vocabulary} and context = {config.context} makes {count} weights; "
            f"accepted: at most {LARGEST_COUNT}, the most that a checkpoint can hold."
        )


def check(given: Mapping[str, Any]) -> None:
    """Whether such a model can be at all. Raises BadParameter."""
    config_of(given)


def check_writing(given: Mapping[str, Any]) -> None:
    """Whether such a model can write text. Raises BadParameter."""
    vocabulary = config_of(given).vocabulary
    if vocabulary < TOKENS:
        raise BadParameter(
            f"vocabulary = {vocabulary} is not accepted: text takes {TOKENS} tokens (256 bytes "
            f"and one for the beginning); accepted: at least {TOKENS}."
        )


def check_training(given: Mapping[str, Any]) -> None:
    """Whether such a model can be trained. Raises BadParameter."""
    config_of(given)
    if given.get("polish") and not given.get("resume"):
        raise BadParameter("polish = True needs resume; accepted: a checkpoint to continue from.")


def check_products(given: Mapping[str, Any]) -> None:
    """Tensor cores take E4M3 in steps of 16. Raises BadParameter."""
    for name in ("rows", "width"):
        if given[name] % 16:
            raise BadParameter(
                f"{name} = {given[name]} is not accepted; accepted: a multiple of 16."
            )
