"""Configuration files: YAML whose top-level keys are Procedure names, or `common`.

What stands under `common` goes to every Procedure that has a parameter of that name.
"""

from pathlib import Path
from typing import Any

import yaml

from kernels.procedure import BadParameter, Procedure
from kernels.registry import PROCEDURES, parse


def read_config(path: Path, procedure: Procedure) -> dict[str, Any]:
    """What the file says to this Procedure. The whole file is checked, not only its part.

    Raises BadParameter with one sentence that names the key and the accepted values.
    """
    sections = load(path)
    known = ("common", *PROCEDURES)
    for name, section in sections.items():
        if name not in known:
            raise BadParameter(f"{path}: unknown key {name!r}; accepted: {', '.join(known)}.")
        if not isinstance(section, dict):
            raise BadParameter(f"{path}: {name!r} must hold a mapping of parameters.")
        if name != "common":
            parse(PROCEDURES[name], section)
    common = sections.get("common", {})
    every = {parameter.name for known in PROCEDURES.values() for parameter in known.parameters}
    for key in common:
        if key not in every:
            raise BadParameter(
                f"{path}: unknown key {key!r} under 'common'; accepted: {', '.join(sorted(every))}."
            )
    mine = {parameter.name for parameter in procedure.parameters}
    shared = {key: value for key, value in common.items() if key in mine}
    return shared | sections.get(procedure.name, {})


class Loader(yaml.SafeLoader):
    """Reads a key that stands twice in one mapping as a mistake, where YAML takes the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:  # before what `<<` merges: that may be overridden
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise Twice(
                    f"{key.value!r} is there twice, again in line {key.start_mark.line + 1}"
                )
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)


class Twice(ValueError):
    """A key stands twice in one mapping; the message names it."""


def load(path: Path) -> dict[Any, Any]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader)  # a safe one
    except OSError as error:
        raise BadParameter(f"{path} cannot be read: {error.strerror}.") from None
    except Twice as twice:
        raise BadParameter(f"{path}: {twice}; accepted: each key once.") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise BadParameter(f"{path} is not valid YAML.") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise BadParameter(f"{path} must hold a mapping of Procedure names to parameters.")
    return content
