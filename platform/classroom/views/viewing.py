"""A lesson as one learner of the cohort sees it: for its instructors, to read, written down."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from classroom import audit, feedback
from classroom.access import learner, teaching
from classroom.deadlines import closes
from classroom.hooks import closing
from classroom.models import Cohort
from classroom.wording import said
from lessons import answers
from lessons.answers import History
from lessons.asking import AskView, FieldView, ask_view
from lessons.beside import Beside
from lessons.content.structure import Activity, Lesson, Step
from lessons.lines import answer_lines
from lessons.outcomes import Measured, measured
from lessons.views.calculating import filled_in
from lessons.views.found import Found, find
from runner import api as runner
from runner.api import Origin, RunView, UnknownProcedure
from runner.pages import step_panel


@dataclass(frozen=True)
class Answered:
    """One field of what was submitted, with its verdict."""

    field: FieldView
    said: SafeString


@dataclass(frozen=True)
class Place:
    """A step to go to, still as this learner."""

    address: str
    title: str


@never_cache
@require_safe
def view_as(
    request: HttpRequest, cohort_id: uuid.UUID, ref: str, lesson: str = "", step: str = ""
) -> HttpResponse:
    """Read only, whoever looks: there is no form on the page, and no visit is noted."""
    here = teaching(request, cohort_id, instructor=True)
    member = learner(here.cohort, ref)
    found = find(here.cohort.course)
    steps = [(le, st) for le, st in found.course.steps() if le.id not in found.shelf.broken]
    if not steps:
        raise Http404
    named, at = (found.lesson(lesson), step) if lesson else (steps[0][0], steps[0][1].id)
    shown = found.step(named, at)
    if (named, shown) not in steps:
        raise Http404
    audit.record(here.cohort, request.user, "viewed-as", f"{ref}/{named.id}/{shown.id}")
    page = found.page(named, shown)
    holds = here.cohort.archived_at is None  # as `deadlines.last_ends` has it for the learner
    end = closes(member.person, here.cohort, named.id) if holds else None
    context = {
        "cohort": here.cohort,
        "teaching": here,
        "tab": "members",
        "member": member,
        "name": ref if here.cohort.is_anonymous else member.person.display_name,
        "page": page,
        "parts": filled_in(page.parts, request, found.language),
        "lesson_title": found.lesson_title(named),
        **_around(here.cohort, ref, found, steps, steps.index((named, shown))),
        "end": end,
        "said": said(end) if end else "",
        "closing": closing(request, end) if end else "",
        "run": _run(member.person, Origin(here.cohort.course, named.id, shown.id)),
    }
    if shown.activity and page.ask:
        sent = _sent(member.person, found, shown.activity)
        outcome, held = _outcome(member.person, found, named, shown, sent)
        view = ask_view(shown.activity, page.ask, sent, found.language, measured=outcome, held=held)
        context |= _answered(view, shown.activity, sent)
        context |= _feedback(found, here.cohort, shown.activity, member.person)
    return render(request, "classroom/viewing/step.html", context)


def _around(
    cohort: Cohort, ref: str, found: Found, steps: Sequence[tuple[Lesson, Step]], index: int
) -> dict[str, object]:
    """Every step of the course, and which of them lie beside this one."""
    places = [
        Place(
            reverse("classroom:view-as", args=[cohort.pk, ref, lesson.id, step.id]),
            f"{found.lesson_title(lesson)} · {found.step_title(lesson, step)}",
        )
        for lesson, step in steps
    ]
    return {
        "around": places,
        "here": index,
        "previous": places[index - 1] if index else None,
        "next": places[index + 1] if index + 1 < len(places) else None,
    }


def _sent(person: object, found: Found, activity: Activity) -> History:
    """What was submitted; a draft is the learner's own."""
    whole = answers.history(person, found.course.id, activity.id)
    return History(whole.version, None, whole.submitted)


def _outcome(
    person: object, found: Found, lesson: Lesson, step: Step, history: History
) -> tuple[Measured | None, bool]:
    """What a hypothesis is held against, and whether the learner waits for it still (as
    `lessons.views.halves` has it)."""
    predicts = step.activity is not None and step.activity.predict
    if not (step.run and predicts and history.last):
        return None, False
    origin = Origin(found.course.id, lesson.id, step.id)
    try:
        panel = step_panel(person, step.run.procedure, origin, "", locked=False)
    except UnknownProcedure:
        return None, False
    outcome = measured(person, step.run, origin, panel.snapshot)
    return outcome, outcome is None and bool(panel.offer and panel.offer.online)


def _answered(view: AskView, activity: Activity, sent: History) -> dict[str, object]:
    """What was submitted and its verdicts, by the names that the learner's own page has for
    them: it is drawn by the same templates."""
    lines = answer_lines(activity, view.texts, sent.last.content) if sent.last else ()
    return {
        "ask": view,
        "answered": [
            Answered(field, line.said) for field, line in zip(view.fields, lines, strict=False)
        ],
        "stored": sent.last,
    }


def _feedback(
    found: Found, cohort: Cohort, activity: Activity, person: object
) -> dict[str, object]:
    """What came back from this cohort."""
    shown = feedback.of_step(person, found.course.id, activity.id, found.language, cohort)
    return {"feedback": shown, "beside": Beside(graded=feedback.graded(shown))}


def _run(person: object, origin: Origin) -> RunView | None:
    runs = runner.history(person, origin, 1)
    return runs[0] if runs else None
