"""Picking the lesson that a link on the platform shall lead to."""

from typing import Any, cast

from csp.constants import SELF
from csp.decorators import csp_replace
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from lti_tool.models import LtiContext

from classroom.lti import deep, linking, outgoing
from classroom.lti.views.entering import lost
from classroom.models import Cohort, Membership, Role
from classroom.progress import course_of
from classroom.titles import titles_of


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def pick(request: HttpRequest) -> HttpResponse:
    """What was asked for stands in the session; it is answered once."""
    kept = request.session.get("lti-deep")
    rows = LtiContext.objects.select_related("deployment__registration")
    context = rows.filter(pk=kept["context"]).first() if kept else None
    link = linking.link_of(context) if context else None
    if kept is None or context is None or link is None or not _teaches(request, link.cohort):
        return lost(request)
    course, titles = course_of(link.cohort), titles_of(link.cohort.course)
    lessons = [lesson for lesson in course.lessons if lesson.steps] if course else []
    named = [(lesson, titles.lesson(lesson) if titles else lesson.id) for lesson in lessons]
    if request.method == "POST":
        for lesson, title in named:
            if lesson.id == request.POST.get("lesson"):
                address = request.build_absolute_uri(reverse("lti:launch"))
                told = deep.answer(context, kept["asked"], link.cohort, lesson, title, address)
                del request.session["lti-deep"]
                return _sent(request, told, title)
    shown: dict[str, Any] = {
        "cohort": link.cohort,
        "platform": context.deployment.registration,
        "lessons": named,
        "is_missing": request.method == "POST",
    }
    status = 422 if shown["is_missing"] else 200
    return render(request, "classroom/lti/pick.html", shown, status=status)


def _sent(request: HttpRequest, told: deep.Answer, title: str) -> HttpResponse:
    """A form that takes the answer to the platform: the one page that may send one there."""

    @csp_replace({"form-action": [SELF, outgoing.origin_of(told.address)]})
    def page(request: HttpRequest) -> HttpResponse:
        return render(request, "classroom/lti/sending.html", {"told": told, "title": title})

    return cast(HttpResponse, page(request))


def _teaches(request: HttpRequest, cohort: Cohort) -> bool:
    return (
        request.user.is_authenticated
        and Membership.objects.filter(cohort=cohort, person=request.user)
        .exclude(role=Role.LEARNER)
        .exists()
    )
