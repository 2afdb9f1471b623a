"""The two halves of a step that are a person's own: the question, and the bench beside it."""

import logging
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse

from lessons import answers
from lessons.asking import AskView, Attempt, ask_view
from lessons.content.parts import StepPage
from lessons.content.structure import Lesson, Step
from lessons.gates import closed
from lessons.outcomes import measured
from lessons.views.found import Found
from runner.api import Origin, UnknownProcedure
from runner.pages import Panel, step_panel

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Halves:
    ask: AskView | None
    panel: Panel | None


def halves(
    request: HttpRequest,
    found: Found,
    lesson: Lesson,
    step: Step,
    page: StepPage,
    attempt: Attempt | None = None,
) -> Halves:
    """Read once: the hypothesis opens the bench, and the Run's outcome completes the question."""
    activity = step.activity
    history = (
        answers.history(request.user, found.course.id, activity.id) if activity else answers.NOTHING
    )
    panel = None
    outcome, held = None, False
    if step.run:
        origin = Origin(found.course.id, lesson.id, step.id)
        locked = bool(activity and activity.predict and history.last is None)
        # Who let the deadline pass can put down no hypothesis any more: the Run opens without.
        locked = locked and not closed(request.user, found.course.id, lesson.id)
        action = reverse("lessons:run", args=[found.course.id, lesson.id, step.id])
        panel = _panel(request, step.run.procedure, origin, action, locked=locked)
        if panel and activity and activity.predict and history.last:
            outcome = measured(request.user, step.run, origin, panel.snapshot)
            held = outcome is None and bool(panel.offer and panel.offer.online)
    ask = None
    if activity and page.ask:
        ask = ask_view(
            activity,
            page.ask,
            history,
            found.language,
            measured=outcome,
            held=held,
            attempt=attempt,
        )
    return Halves(ask, panel)


def _panel(
    request: HttpRequest, procedure: str, origin: Origin, action: str, *, locked: bool
) -> Panel | None:
    """The bench; a lesson that names a Procedure nobody knows is read without one."""
    try:
        return step_panel(request.user, procedure, origin, action, locked=locked)
    except UnknownProcedure:
        log.error("%s names the unknown Procedure %s", origin, procedure)
        return None
