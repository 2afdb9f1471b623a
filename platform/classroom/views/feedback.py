"""What came back to a learner, and asking for another look."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.forms import posted
from classroom import feedback
from classroom.cohort_forms import LookForm
from classroom.feedback import Feedback
from classroom.queue import NoSuchQuestion, Question
from lessons.views.found import reading_language


@never_cache
@require_safe
def new(request: HttpRequest) -> HttpResponse:
    lines = feedback.news(request.user) if request.user.is_authenticated else []
    context = {"lines": lines, "has_new": any(line.is_new for line in lines)}
    return render(request, "classroom/feedback/new.html", context)


@require_POST
def seen(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        feedback.mark_all_seen(request.user)
    return HttpResponseRedirect(reverse("classroom:new"))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def look(request: HttpRequest, grade_id: int) -> HttpResponse:
    """Ask for another look at one grade, with a reason; once."""
    shown, asked = _own(request, grade_id)
    step = _step_of(shown, asked)
    if shown.look:
        messages.info(request, _("You have asked for another look at this answer already."))
        return HttpResponseRedirect(step)
    if not shown.may_ask:
        raise Http404
    form = LookForm(posted(request))
    if form.is_valid():
        try:
            feedback.ask_for_a_look(request.user, shown.grade, form.cleaned_data["reason"])
        except feedback.AlreadyAsked:
            messages.info(request, _("You have asked for another look at this answer already."))
        else:
            messages.success(request, _("You have asked for another look. The answer comes here."))
        return HttpResponseRedirect(step)
    context = {"item": shown, "form": form, "step": step}
    status = 422 if form.errors else 200
    return render(request, "classroom/feedback/look.html", context, status=status)


def _own(request: HttpRequest, grade_id: int) -> tuple[Feedback, Question]:
    user: Any = request.user
    try:
        found = (
            feedback.of_grade(user, grade_id, reading_language()) if user.is_authenticated else None
        )
    except NoSuchQuestion:
        found = None
    if found is None:
        raise Http404
    return found


def _step_of(shown: Feedback, asked: Question) -> str:
    course = shown.grade.revision.answer.course
    return reverse("lessons:step", args=[course, asked.lesson.id, asked.step.id]) + "#feedback"
