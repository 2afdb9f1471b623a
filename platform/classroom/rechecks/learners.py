"""What a learner is told: that their verdict, or their Run, is a new one, since when, and why."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.http import HttpRequest
from django.template.loader import render_to_string

from classroom.models import RecheckItem, RecheckKind
from classroom.standing import standing
from lessons.beside import Beside
from lessons.content.structure import Course, Lesson, Step
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


def step_part(request: HttpRequest, course: Course, lesson: Lesson, step: Step) -> Beside | None:
    """The sentence, below the question (see `lessons.beside`)."""
    if not (step.activity or step.run) or not standing(request).has_rechecks:
        return None
    activity = step.activity.id if step.activity else ""
    found = notes(request.user, course.id, lesson.id, step.id, activity)
    if not found:
        return None
    html = render_to_string("classroom/records/_rechecked.html", {"notes": found}, request)
    return Beside(below=html)
