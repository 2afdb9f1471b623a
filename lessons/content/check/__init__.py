"""Everything that can be wrong with a course, found before a reader finds it."""

from lessons.content.check.structure import structure_faults
from lessons.content.check.translations import translation_faults
from lessons.content.check.typography import typography_faults
from lessons.content.faults import Fault
from lessons.content.library import Shelf


def check(shelf: Shelf) -> list[Fault]:
    """Every fault of the course, in the order of its files."""
    faults = [
        *shelf.faults,
        *structure_faults(shelf),
        *translation_faults(shelf),
        *typography_faults(shelf),
    ]
    return sorted(dict.fromkeys(faults))
