"""How the Runs of many people ended, for who teaches them: read in one query, as bare facts."""

import uuid
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models.functions import Coalesce
from django.utils.translation import get_language

from runner.models import Run, State
from runner.words import words


class Ending(NamedTuple):
    """A Run of a step that is over."""

    owner: uuid.UUID
    lesson: str
    step: str
    outcome: str
    ended_at: datetime


def endings(owners: Any, course: str, lesson: str = "") -> Iterator[Ending]:
    """Of those people's Runs in the course, oldest first. `owners`: their ids, or a query for
    them (a list of hundreds would be too long for some databases)."""
    ended = Run.objects.filter(
        owner__in=owners, course=course, state=State.ENDED, is_recording=False
    )
    runs = ended.annotate(end=Coalesce("ended_at", "created_at")).order_by("end", "id")
    if lesson:
        runs = runs.filter(lesson=lesson)
    fields = ("owner_id", "lesson", "step", "outcome", "end")
    return (Ending(*row) for row in runs.values_list(*fields))


def outcome_word(outcome: str) -> str:
    """How an outcome is called in the reader's language."""
    return str(words((get_language() or "en").split("-")[0]).get(f"outcome.{outcome}", outcome))
