"""Picking the lesson that a link on the platform shall lead to.

Platforms show this in a frame, where no session is. None is needed: the launch says that somebody
teaches the course, and a secret in the page's own form, good for one answer, stands for it.
"""

import hashlib
import secrets
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from lti_tool.models import LtiContext
from pylti1p3.exception import LtiException

from classroom.lti import arrivals, deep, linking, outgoing, storage
from classroom.lti.arrivals import Arrival
from classroom.lti.launching import Launch
from classroom.lti.views import frames
from classroom.lti.views.methods import READS, only
from classroom.models import Cohort, Role
from classroom.progress import course_of
from classroom.titles import titles_of
from lessons.content.structure import Lesson

LASTS = 30 * 60  # seconds


def require_way_back(launch: Launch) -> None:
    """Raises LtiException where the answer would go to somebody else."""
    if not deep.accepts(launch.registration, launch.claims.deep or {}):
        raise LtiException("The answer would go to a host that is not the platform's.")


def offer(request: HttpRequest, launch: Launch, arrival: Arrival) -> HttpResponse | None:
    """The lessons to pick from; None: this person has to link the course first, in a window."""
    context, role = arrival.context, arrival.role
    link = linking.link_of(context) if context else None
    language = arrivals.language_of(launch.claims.locale) or translation.get_language()
    with translation.override(language):
        if context is None or role not in (Role.INSTRUCTOR, Role.ASSISTANT):
            return _notice(request, launch, _("Only who teaches the course picks its lessons."))
        if link is None:
            if role == Role.INSTRUCTOR and not frames.is_framed(request):
                return None
            return _notice(
                request,
                launch,
                _(
                    "The course is not linked with a cohort yet. Add a link to Chainrule by hand "
                    "and open it once as the course’s instructor; then lessons can be picked."
                ),
            )
        secret = secrets.token_urlsafe(32)
        kept = {"context": context.pk, "asked": dict(launch.claims.deep or {}), "in": language}
        storage.keep(_key(secret), kept, LASTS)
        return _page(request, context, link.cohort, secret)


@csrf_exempt
@never_cache
@only(*READS, "POST")
def pick(request: HttpRequest) -> HttpResponse:
    """The answer goes to the platform, signed, once."""
    secret = request.POST.get("token", "")
    kept = storage.read(_key(secret)) if secret else None
    rows = LtiContext.objects.select_related("deployment__registration")
    context = rows.filter(pk=kept["context"]).first() if kept else None
    link = linking.link_of(context) if context else None
    if kept is None or context is None or link is None:
        return render(request, "classroom/lti/lost.html", status=400)
    with translation.override(kept["in"]):
        for lesson, title in _lessons(link.cohort):
            if lesson.id == request.POST.get("lesson") and storage.take(_key(secret)):
                address = request.build_absolute_uri(reverse("lti:launch"))
                told = deep.answer(context, kept["asked"], link.cohort, lesson, title, address)
                return _sent(request, context, told, title)
        return _page(request, context, link.cohort, secret, is_missing=True)


def _page(
    request: HttpRequest,
    context: LtiContext,
    cohort: Cohort,
    secret: str,
    *,
    is_missing: bool = False,
) -> HttpResponse:
    registration = context.deployment.registration
    shown: dict[str, Any] = {
        "cohort": cohort, "platform": registration, "lessons": _lessons(cohort), "token": secret,
        "is_missing": is_missing,
    }  # fmt: skip
    status = 422 if is_missing else 200
    return frames.shown(request, "classroom/lti/pick.html", shown, [registration], status=status)


def _sent(request: HttpRequest, context: LtiContext, told: deep.Answer, title: str) -> HttpResponse:
    """A form that takes the answer to the platform: the one page that may send one there."""
    return frames.shown(
        request,
        "classroom/lti/sending.html",
        {"told": told, "title": title},
        [context.deployment.registration],
        sends_to=outgoing.origin_of(told.address),
    )


def _notice(request: HttpRequest, launch: Launch, sentence: str) -> HttpResponse:
    context = {"sentence": sentence}
    return frames.shown(
        request, "classroom/lti/notice.html", context, [launch.registration], status=403
    )


def _lessons(cohort: Cohort) -> list[tuple[Lesson, str]]:
    course, titles = course_of(cohort), titles_of(cohort.course)
    lessons = [lesson for lesson in course.lessons if lesson.steps] if course else []
    return [(lesson, titles.lesson(lesson) if titles else lesson.id) for lesson in lessons]


def _key(secret: str) -> str:
    return f"picking-{hashlib.sha256(secret.encode()).hexdigest()}"
