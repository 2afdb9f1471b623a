"""The calculators that a lesson may hold: what a reader fills in, and what the engine answers.

A calculator is a module with its `ENTRIES` and a function from their values to what its template
shows. They compute with the engine's own functions, none of which needs torch.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from lessons.calculators import checkpoint, memory, models, schedule
from lessons.calculators.entries import Entry


@dataclass(frozen=True)
class Calculator:
    name: str  # as `lesson.yaml` and the address say it
    title: Promise
    entries: tuple[Entry, ...]
    compute: Callable[[Mapping[str, Any], str], Any]  # values, language; raises Refused
    hints: Callable[[Mapping[str, Any], str], Mapping[str, str]]  # what stands under an entry

    @property
    def template(self) -> str:
        return f"lessons/calculators/{self.name}.html"

    def entry(self, name: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.name == name), None)


CALCULATORS = {
    name: Calculator(name, title, module.ENTRIES, module.compute, hints)
    for name, title, module, hints in (
        ("memory", _("What would it take?"), memory, models.hints),
        ("schedule", _("Draw a schedule"), schedule, schedule.hints),
        ("checkpoint", _("Measure a checkpoint"), checkpoint, models.hints),
    )
}
