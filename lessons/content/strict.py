"""Reading yaml strictly: an unknown key or a wrong type is a sentence naming file and key."""

import difflib
import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from lessons.content.faults import Fault

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_ITEM = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*")  # of a list: "0.75" may name an option
_FLOAT = re.compile(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?")  # yaml 1.1 reads 1e-6 as a string


class _Loader(yaml.SafeLoader):
    """SafeLoader keeps the last of two equal keys; here that is an error."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key!r} stands twice", problem_mark=node.start_mark
                )
        return super().construct_mapping(node, deep)


def load(path: Path, file: str, faults: list[Fault]) -> "Node":
    """The mapping at the top of a yaml file; what cannot be read is a Fault and an empty Node."""
    try:
        value = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except FileNotFoundError:
        faults.append(Fault(file, "", "the file does not exist."))
        value = {}
    except UnicodeDecodeError:
        faults.append(Fault(file, "", "the file is not UTF-8."))
        value = {}
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}" if error.problem_mark else ""
        faults.append(Fault(file, line, f"not valid yaml: {error.problem}."))
        value = {}
    return Node(value, file, "", faults)


class Node:
    """One mapping. Every getter records a Fault and returns its fallback when it cannot serve."""

    def __init__(self, value: object, file: str, where: str, faults: list[Fault]) -> None:
        self.file, self.where, self.faults = file, where, faults
        self.known: set[str] = set()
        if not isinstance(value, dict):
            self.fault("", f"write a mapping of keys to values, not {_said(value)}.")
            value = {}
        self.value: dict[Any, Any] = value

    def fault(self, key: str | int, sentence: str) -> None:
        self.faults.append(Fault(self.file, self.path(key), sentence))

    def path(self, key: str | int) -> str:
        return ".".join(str(part) for part in (self.where, key) if part != "")

    def has(self, key: str) -> bool:
        self.known.add(key)
        return self.value.get(key) is not None

    def end(self) -> None:
        """Report the keys that nobody asked for."""
        for key in self.value:
            if key not in self.known:
                near = difflib.get_close_matches(str(key), self.known, 1)
                known = f"did you mean “{near[0]}”?" if near else f"known: {_list(self.known)}."
                self.fault(key, f"unknown key; {known}")

    def text(self, key: str, default: str | None = None) -> str:
        value = self._get(key, default)
        if isinstance(value, str) and value.strip():
            return value
        return self._wrong(key, value, "text (in quotes, if it reads as yes, no or a number)", "")

    def slug(self, key: str, default: str | None = None) -> str:
        value = self.text(key, default)
        if value and not SLUG.fullmatch(value):
            self.fault(key, f"“{value}”: use small letters, digits and hyphens.")
        return value

    def optional_text(self, key: str) -> str | None:
        return self.text(key) if self.has(key) else None

    def number(self, key: str, default: float | None = None) -> float:
        value = self._get(key, default)
        if isinstance(value, str) and _FLOAT.fullmatch(value):
            value = float(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value
        return self._wrong(key, value, "a number", 0)

    def whole(self, key: str, default: int | None = None, low: int = 0) -> int:
        value = self._get(key, default)
        if isinstance(value, int) and not isinstance(value, bool) and value >= low:
            return value
        return self._wrong(key, value, f"a whole number of at least {low}", low)

    def flag(self, key: str, default: bool = False) -> bool:
        value = self._get(key, default)
        return value if isinstance(value, bool) else self._wrong(key, value, "true or false", False)

    def one_of(self, key: str, choices: tuple[str, ...]) -> str | None:
        if not self.has(key):
            return None
        value = self.value[key]
        return value if value in choices else self._wrong(key, value, _list(choices), None)

    def listing(self, key: str, required: bool = True) -> list[Any]:
        value = self._get(key, None if required else [])
        if isinstance(value, list) and (value or not required):
            return value
        return self._wrong(
            key, value, "a list with at least one item" if required else "a list", []
        )

    def slugs(self, key: str, required: bool = True) -> tuple[str, ...]:
        """A list of distinct ids."""
        found: list[str] = []
        for index, item in enumerate(self.listing(key, required)):
            if not isinstance(item, str) or not _ITEM.fullmatch(item):
                self.fault(
                    f"{key}[{index}]", f"{_said(item)} is not an id (small letters, hyphens)."
                )
            elif item in found:
                self.fault(f"{key}[{index}]", f"“{item}” stands twice.")
            else:
                found.append(item)
        return tuple(found)

    def texts(self, key: str) -> tuple[str, ...]:
        items = self.listing(key, required=False)
        for index, item in enumerate(items):
            if not isinstance(item, str) or not item:
                self.fault(f"{key}[{index}]", f"write text, not {_said(item)}.")
        return tuple(item for item in items if isinstance(item, str))

    def numbers(self, key: str) -> tuple[float, ...]:
        items = self.listing(key, required=False)
        for index, item in enumerate(items):
            if not isinstance(item, int | float):
                self.fault(f"{key}[{index}]", f"write a number, not {_said(item)}.")
        return tuple(item for item in items if isinstance(item, int | float))

    def mapping(self, key: str) -> dict[Any, Any]:
        value = self._get(key, {})
        return value if isinstance(value, dict) else self._wrong(key, value, "a mapping", {})

    def node(self, key: str) -> "Node":
        return Node(self._get(key, {}), self.file, self.path(key), self.faults)

    def nodes(self, key: str, required: bool = True) -> list["Node"]:
        return [
            Node(item, self.file, self.path(f"{key}[{index}]"), self.faults)
            for index, item in enumerate(self.listing(key, required))
        ]

    def _get(self, key: str, default: Any) -> Any:
        self.known.add(key)
        value = self.value.get(key)
        return default if value is None else value

    def _wrong(self, key: str, value: object, expected: str, fallback: Any) -> Any:
        if value is None:
            self.fault(key, f"is missing: {expected}.")
        else:
            self.fault(key, f"write {expected}, not {_said(value)}.")
        return fallback


def _said(value: object) -> str:
    names = {bool: "a true/false value", dict: "a mapping", list: "a list", type(None): "nothing"}
    return names.get(type(value)) or f"“{value}”"


def _list(words: Any) -> str:
    return ", ".join(sorted(words))
