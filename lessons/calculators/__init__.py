"""The calculators that a lesson may hold: what a reader fills in, and what the engine answers.

A calculator is a module with its `ENTRIES` and a function from their values to what its template
shows. They compute with the engine's own functions, none of which needs torch.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from lessons.calculators import checkpoint, memory, schedule
from lessons.calculators.entries import Entry


@dataclass(frozen=True)
class Calculator:
    name: str  # as `lesson.yaml` and the address say it
    title: Promise
    entries: tuple[Entry, ...]
    compute: Callable[[Mapping[str, Any], str], Any]  # values, language; raises Refused

    @property
    def template(self) -> str:
        return f"lessons/calculators/{self.name}.html"

    def entry(self, name: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.name == name), None)


CALCULATORS = {
    found.name: found
    for found in (
        Calculator("memory", _("What would it take?"), memory.ENTRIES, memory.compute),
        Calculator("schedule", _("Draw a schedule"), schedule.ENTRIES, schedule.compute),
        Calculator("checkpoint", _("Measure a checkpoint"), checkpoint.ENTRIES, checkpoint.compute),
    )
}
