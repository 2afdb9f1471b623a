"""What a learner is told: that their verdict, or their Run, is a new one, since when, and why."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from classroom.models import RecheckItem, RecheckKind
from lessons.models import Revision, State


@dataclass(frozen=True)
class Note:
    """The step's page says it below the question."""

    kind: str  # answers, runs
    at: datetime


def notes(person: Any, course: str, lesson: str, step: str, activity: str) -> list[Note]:
    """Of the submission that counts, and of the step's Runs; in one query."""
    if not person.is_authenticated:
        return []
    latest = Revision.objects.filter(
        answer__person=person,
        answer__course=course,
        answer__activity=activity,
        state=State.SUBMITTED,
    )
    answers = Q(
        recheck__kind=RecheckKind.ANSWERS,
        recheck__activity=activity,
        subject__in=latest.order_by("-number").values("pk")[:1],
    )
    runs = Q(recheck__kind=RecheckKind.RUNS, recheck__lesson=lesson, recheck__activity=step)
    written = RecheckItem.objects.filter(
        answers | runs,
        person=person,
        is_changed=True,
        applied_at__isnull=False,
        recheck__cohort__course=course,
    )
    at: dict[str, datetime] = {}
    for kind, when in written.order_by("applied_at").values_list("recheck__kind", "applied_at"):
        if when is not None:
            at[kind] = when
    return [Note(kind, when) for kind, when in at.items()]
