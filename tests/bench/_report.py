"""One line of the table of figures."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import django

import tests.environment  # noqa: F401 (names DATA_DIR before the settings are read)


@dataclass(frozen=True)
class Row:
    what: str
    figure: str
    target: str
    met: bool
    note: str = ""

    def __str__(self) -> str:
        mark = "met" if self.met else "MISSED"
        return f"{self.what:60} {self.figure:>12}  {self.target:>12}  {mark:6}  {self.note}"


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def set_up() -> None:
    """Django's settings with a folder of their own, as in the tests."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chainrule.settings")
    django.setup()
