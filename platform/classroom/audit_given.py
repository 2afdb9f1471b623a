"""The data of an entry of the audit, taken piece by piece: what is taken is said by a sentence,
what is left by its name, so that nothing is left out and nothing looks like code."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from classroom import amounts
from classroom.audit_words import details
from classroom.wording import wall_only

LONGEST = 300  # characters of a value that nobody has a sentence for


class Given:
    """The data of an entry; what was taken of it is said."""

    def __init__(self, data: Mapping[str, Any], lessons: Mapping[str, str]) -> None:
        self._data, self._lessons = dict(data), lessons
        self.lines: list[str] = []

    def has(self, name: str) -> bool:
        return name in self._data

    def count(self, name: str) -> int:
        """A number, or how many are in a list; 0: neither is there."""
        value = self._data.get(name)
        if isinstance(value, list) or (isinstance(value, int) and not isinstance(value, bool)):
            del self._data[name]
            return len(value) if isinstance(value, list) else value
        return 0

    def text(self, name: str) -> str:
        return self._data.pop(name) if isinstance(self._data.get(name), str) else ""

    def is_true(self, name: str) -> bool:
        return self._data.pop(name) if isinstance(self._data.get(name), bool) else False

    def texts(self, name: str) -> list[str]:
        value = self._data.get(name)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return list(self._data.pop(name))
        return []

    def parts(self, name: str) -> list["Given"]:
        """Of a list of objects, or of one object."""
        value = self._data.get(name)
        value = [value] if isinstance(value, dict) else value
        if isinstance(value, list) and all(isinstance(item, dict) for item in value):
            del self._data[name]
            return [Given(item, self._lessons) for item in value]
        return []

    def pair(self, name: str) -> tuple[str | bool, str | bool] | None:
        """What it was and what it became."""
        value = self._data.get(name)
        if not isinstance(value, list) or len(value) != 2:
            return None
        before, after = value
        if not isinstance(before, str | bool) or not isinstance(after, str | bool):
            return None
        del self._data[name]
        return before, after

    def points(self, name: str) -> str:
        try:
            return amounts.signed(Decimal(str(self._data[name])))
        except (KeyError, InvalidOperation):
            return "–"
        finally:
            self._data.pop(name, None)

    def lesson(self) -> str:
        name = self.text("lesson")
        return self._lessons.get(name, name)

    def wall(self, name: str) -> str:
        typed = self.text(name)
        try:
            return wall_only(typed) if typed else ""
        except ValueError:
            return typed

    def rest(self) -> list[str]:
        """What nobody has said, by its name."""
        names = details()
        return [
            f"{names.get(name, name)}: {_plain(value)[:LONGEST]}"
            for name, value in self._data.items()
            if value not in (None, False, "", [], {})
        ]


def _plain(value: Any) -> str:
    """Without the brackets of code."""
    if value is True:
        return "✓"
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_plain(item)}" for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return str(value)
