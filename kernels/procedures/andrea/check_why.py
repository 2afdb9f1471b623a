"""What a failed case of an operator looks like, told from its numbers alone.

First the plain signs (nothing written, NaN left in place), then the suspects of the problem:
the results of mistakes that people make, of which the one that comes closest is the answer.
"""

import torch

from kernels.checking import compare
from kernels.events import Note
from kernels.procedures.andrea.bench import Due
from kernels.procedures.rmsnorm.why import plain, unwritten

Tensor = torch.Tensor


def explain(due: Due) -> Note:
    return due.sign or unwritten(due.got, due.expected) or best(due) or other(due)


def best(due: Due) -> Note | None:
    """Of the known mistakes that give what came, to tolerance, the one that comes closest."""
    found = []
    for note, wrong in suspects(due):
        comparison = compare(due.got, wrong, due.tolerance)
        if comparison.passed:
            found.append((comparison.max_abs_error, note))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def suspects(due: Due) -> list[tuple[Note, Tensor]]:
    known = list(due.suspects.values())
    if due.last is not None:
        known.append((Note("why.overwritten"), due.last))
    return [*known, (Note("why.zeros"), torch.zeros_like(due.expected))]


def other(due: Due) -> Note:
    """No known formula: a variance that is off where one pass would lose it, or just the error."""
    if "variance-cancelled" in due.suspects:
        note, one_pass = due.suspects["variance-cancelled"]
        if not compare(one_pass, due.expected, due.tolerance).passed:
            return note
    return plain(due.got, due.expected)
