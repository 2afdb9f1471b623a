"""The configuration that a Procedure's parameters describe. Needs no torch."""

from kernels.andrea.config import Config, Precision, preset
from kernels.procedure import Context
from kernels.procedures.andrea import SHAPES

NAMES = (*SHAPES, "steps", "learning_rate", "precision", "seed")


def config_of(context: Context) -> Config:
    """The preset with what was given in its place. Raises BadParameter."""
    given = context.parameters
    changes = {name: given[name] for name in NAMES if given.get(name)}
    if "precision" in changes:
        changes["precision"] = Precision(changes["precision"])
    return preset(given.get("config", "micro"), changes)
