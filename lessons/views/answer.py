"""POST of an answer: a draft that saves itself, or a submission. Works without JavaScript."""

import dataclasses
from html import unescape

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import strip_tags
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from lessons import answers, checking
from lessons.answers import Conflict, Full, Refused, Saved
from lessons.asking import Attempt, understood
from lessons.content.structure import Activity, NumberField, Step
from lessons.forms import Posted, blank, read_form
from lessons.gates import Closed, closed
from lessons.lines import Line, answer_lines
from lessons.models import State
from lessons.progress import places
from lessons.sentences import problem_sentence
from lessons.views.found import find, wants_json, write_as
from lessons.views.step import broken, step_context
from runner import api as runner
from runner.api import Origin


@require_http_methods(["GET", "HEAD", "POST"])
def answer(request: HttpRequest, course: str, lesson: str, step: str) -> HttpResponse:
    found = find(course)
    named = found.lesson(lesson)
    here = found.step(named, step)
    address = reverse("lessons:step", args=[course, lesson, step])
    if request.method != "POST":  # a form shown again was reloaded, or its language changed
        return HttpResponseRedirect(f"{address}#ask")
    activity = found.activity(here)
    if faults := found.shelf.broken.get(lesson):
        return broken(request, faults)
    posted = read_form(activity, request.POST)
    late = None if posted.draft else closed(request.user, course, lesson)
    if late:  # a draft is always kept
        posted = dataclasses.replace(posted, draft=True)

    def again(attempt: Attempt, status: int) -> HttpResponse:
        place = places(request.user, [course])[course]
        context = step_context(request, found, named, here, place, attempt)
        return render(request, "lessons/step.html", context, status=status)

    try:
        saved = _write(request, Origin(course, lesson, step), here, posted, found.language)
    except Refused as refusal:
        if wants_json(request):
            return _refusal(refusal)
        return again(Attempt(posted.typed, refusal.problems), 422)
    except Conflict as conflict:
        if wants_json(request):
            page = found.page(named, here)
            assert page.ask is not None
            return _conflict(conflict, answer_lines(activity, page.ask, conflict.stored.content))
        return again(Attempt(posted.typed, conflict=conflict.stored), 409)
    except Full:
        return _full(request, f"{address}#ask")
    if late and not (saved and saved.stored.state == State.SUBMITTED):  # it came in time before
        return _too_late(request, late, saved, f"{address}#ask")
    if wants_json(request):
        return _saved(saved, f"{address}#ask", understandings(activity, posted, found.language))
    return HttpResponseRedirect(f"{address}#ask", status=303)


def _write(
    request: HttpRequest, origin: Origin, step: Step, posted: Posted, language: str
) -> Saved | None:
    activity = step.activity
    assert activity is not None
    if posted.draft:
        if blank(activity, posted.typed) and not request.user.is_authenticated:
            return None  # nothing typed yet: not worth a guest
        return answers.save_draft(
            write_as(request), origin.course, activity, posted.typed, posted.base, language
        )
    answers.require_complete(activity, posted.typed, language)
    person = write_as(request)
    seen = runner.history(person, origin, 1) if step.run else []
    return answers.submit(
        person,
        origin.course,
        activity,
        posted.typed,
        posted.base,
        posted.key,
        language,
        seen[0].id if seen else None,
    )


def _full(request: HttpRequest, address: str) -> HttpResponse:
    sentence = _("This answer was sent so often that no more can be stored.")
    if wants_json(request):
        return JsonResponse({"error": sentence}, status=429)
    messages.error(request, sentence)
    return HttpResponseRedirect(address, status=303)


def _too_late(
    request: HttpRequest, late: Closed, draft: Saved | None, address: str
) -> HttpResponse:
    if wants_json(request):
        base = draft.version if draft else 0
        return JsonResponse({"error": str(late.sentence), "base": base}, status=403)
    messages.error(request, str(late.sentence))
    return HttpResponseRedirect(address, status=303)


def understandings(activity: Activity, posted: Posted, language: str) -> dict[str, str]:
    """By field, how the numbers typed so far are read."""
    content = checking.read(activity, posted.typed, language).content
    return {
        item.id: understood(item, content[item.id], language)
        for item in activity.fields
        if isinstance(item, NumberField)
    }


def _saved(saved: Saved | None, url: str, understood: dict[str, str]) -> JsonResponse:
    if saved is None:
        return JsonResponse({"saved": None, "base": 0, "hash": ""})
    return JsonResponse(
        {
            "saved": saved.stored.at.isoformat(),
            "base": saved.version,
            "hash": saved.stored.hash,
            "number": saved.stored.number,
            "state": saved.stored.state,
            "understood": understood,
            "url": url,
        }
    )


def _refusal(refusal: Refused) -> JsonResponse:
    errors = {name: problem_sentence(problem) for name, problem in refusal.problems.items()}
    readings = {name: problem.readings for name, problem in refusal.problems.items()}
    return JsonResponse(
        {"errors": errors, "readings": {k: v for k, v in readings.items() if v}}, status=422
    )


def _conflict(conflict: Conflict, lines: tuple[Line, ...]) -> JsonResponse:
    return JsonResponse(
        {
            "conflict": True,
            "error": _("This answer was changed elsewhere since you opened this page."),
            "stored": {name: item.get("raw") for name, item in conflict.stored.content.items()},
            "lines": [[_words(line.label), _words(line.said)] for line in lines],
            "state": conflict.stored.state,
            "base": conflict.version,
        },
        status=409,
    )


def _words(html: object) -> str:
    return unescape(strip_tags(str(html)))
