"""A cohort's page of learning platforms: its courses there, their rosters, the marks sent."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from accounts import throttle
from classroom import audit, titles
from classroom.access import NotAMember, teaching
from classroom.lti import linking, passback, roster
from classroom.lti.wording import told
from classroom.models import Cohort, ContextLink
from classroom.views.members import note_names_seen

ROSTERS = throttle.Limit(
    "lti-roster",
    ((throttle.HOUR, 30),),
    _("The roster was read often within an hour. Try again later."),
)


@require_safe
def platform(request: HttpRequest, cohort_id: uuid.UUID) -> HttpResponse:
    here = teaching(request, cohort_id, instructor=True)
    note_names_seen(here)
    links = list(linking.links_of(here.cohort))
    marks = told(here.cohort)
    context = {
        "cohort": here.cohort,
        "teaching": here,
        "tab": "platform",
        "rosters": [roster.compared(link) for link in links],
        "marks": marks,
        "has_refused": any(item.standing.refused for item in marks),
        "lessons": titles.lessons(here.cohort.course),
        "launch": request.build_absolute_uri(reverse("lti:launch")),
    }
    return render(request, "classroom/lti/platform.html", context)


@require_POST
def read_roster(request: HttpRequest, cohort_id: uuid.UUID, link: int) -> HttpResponse:
    here = teaching(request, cohort_id, instructor=True)
    row = _link(here.cohort, link)
    throttle.take(ROSTERS, str(here.cohort.pk))
    try:
        people = roster.fetch(row, request.user)
    except roster.NoRoster as trouble:
        messages.error(request, _no_roster(str(trouble)))
    else:
        sentence = ngettext(
            "The roster names %(n)d person. Nobody was added or removed.",
            "The roster names %(n)d people. Nobody was added or removed.",
            people,
        )
        messages.success(request, sentence % {"n": people})
    return _back(cohort_id)


@require_POST
def unlink(request: HttpRequest, cohort_id: uuid.UUID, link: int) -> HttpResponse:
    here = teaching(request, cohort_id, instructor=True)
    linking.unlink(here.cohort, request.user, link)
    messages.success(
        request,
        _("The course is unlinked. Everybody stays; no marks go there any more."),
    )
    return _back(cohort_id)


@require_POST
def send_again(request: HttpRequest, cohort_id: uuid.UUID) -> HttpResponse:
    here = teaching(request, cohort_id, instructor=True)
    count = passback.send_again(here.cohort)
    if count:
        audit.record(here.cohort, request.user, "marks-sent-again", "", marks=count)
        messages.success(request, _("They are on their way again."))
    else:
        messages.info(request, _("Nothing was refused: there is nothing to send again."))
    return _back(cohort_id)


def _link(cohort: Cohort, pk: int) -> ContextLink:
    found = linking.links_of(cohort).select_related("cohort").filter(pk=pk).first()
    if found is None:
        raise NotAMember(str(pk))
    return found


def _no_roster(code: str) -> str:
    if code == "none":
        return _("The platform offers no roster of this course. Its administrator can allow it.")
    return _("The platform did not give the roster. Nothing was changed; try again later.")


def _back(cohort_id: uuid.UUID) -> HttpResponse:
    return HttpResponseRedirect(reverse("classroom:platform", args=[cohort_id]))
