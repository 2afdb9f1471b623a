"""Every Procedure by name, and the reading of its parameters. Needs no torch."""

from collections.abc import Mapping
from typing import Any

from kernels.procedure import BadParameter, Parameter, Procedure
from kernels.procedures import andrea, rmsnorm


class UnknownProcedure(KeyError):
    """No Procedure has this name."""

    def __str__(self) -> str:
        return f"There is no Procedure {self.args[0]!r}. Known: {', '.join(PROCEDURES)}."


PROCEDURES: dict[str, Procedure] = {
    procedure.name: procedure for procedure in (*rmsnorm.PROCEDURES, *andrea.PROCEDURES)
}


def get(name: str) -> Procedure:
    try:
        return PROCEDURES[name]
    except KeyError:
        raise UnknownProcedure(name) from None


def parse(procedure: Procedure, given: Mapping[str, Any]) -> dict[str, Any]:
    """The Procedure's parameters: defaults, then what was given, typed, in range and together.

    Values may be text (from a terminal or a form) or typed (from JSON or YAML).
    Raises BadParameter, which names the key and what is accepted.
    """
    known = {parameter.name: parameter for parameter in procedure.parameters}
    for key in given:
        if key not in known:
            accepted = ", ".join(known) or "none"
            raise BadParameter(
                f"{procedure.name} has no parameter {key!r}; it accepts: {accepted}."
            )
    parameters = {
        name: read(parameter, given[name]) if name in given else parameter.default
        for name, parameter in known.items()
    }
    procedure.require(parameters)
    return parameters


def read(parameter: Parameter, value: Any) -> Any:
    try:
        typed = convert(parameter.type, value)
        if parameter.type is str and not parameter.path:  # a path may be any bytes
            typed.encode()
    except (TypeError, ValueError, KeyError, OverflowError):
        raise refusal(parameter, value) from None
    if parameter.unset is not None and typed == parameter.unset:
        return typed
    if parameter.choices and typed not in parameter.choices:
        raise refusal(parameter, value)
    # Written so that nan, which compares as false, is refused too.
    if parameter.low is not None and not typed >= parameter.low:
        raise refusal(parameter, value)
    if parameter.high is not None and not typed <= parameter.high:
        raise refusal(parameter, value)
    return typed


def convert(wanted: type, value: Any) -> Any:
    if wanted is bool:
        if isinstance(value, bool):
            return value
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[
            str(value).lower()
        ]
    if isinstance(value, bool):
        raise TypeError(value)
    if wanted is int and isinstance(value, float):
        if value != int(value):
            raise ValueError(value)
        return int(value)
    if wanted is str and not isinstance(value, str):
        raise TypeError(value)
    if not isinstance(value, str | int | float):
        raise TypeError(value)
    return wanted(value)


def refusal(parameter: Parameter, value: Any) -> BadParameter:
    return BadParameter(
        f"{parameter.name} = {value!r} is not accepted; accepted: {accepts(parameter)}."
    )


def accepts(parameter: Parameter) -> str:
    if parameter.choices:
        named = [str(choice) for choice in parameter.choices if choice != ""]
        return ", ".join([*named, "or leave it out"] if "" in parameter.choices else named)
    words = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
    said = words[parameter.type]
    low, high = bound(parameter.low), bound(parameter.high)
    if low and high:
        said += f" from {low} to {high}"
    elif low or high:
        said += f" of at least {low}" if low else f" of at most {high}"
    if parameter.unset is not None:
        said += f", or {parameter.unset}, {parameter.unset_means}"
    return said


def bound(value: float | None) -> str:
    return "" if value is None else str(value)
