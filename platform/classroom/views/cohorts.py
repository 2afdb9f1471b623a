"""My cohorts, a new one, the page of one, its settings."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.forms import posted
from classroom import amounts, cohorts
from classroom.access import MAKE_COHORTS, TEACHING, NotAMember, Teaching, membership, teaching
from classroom.cohort_forms import CodeForm, CohortForm, SettingsForm
from classroom.deadlines import closings, zone_names
from classroom.models import Adjustment, Cohort, Membership, Role
from classroom.progress import cohort_work
from classroom.titles import course_title, courses
from classroom.views.deadlines import lesson_ends


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    mine = (
        list(
            Membership.objects.filter(person=request.user)
            .select_related("cohort")
            .order_by("cohort__archived_at", "-cohort__created_at")
        )
        if request.user.is_authenticated
        else []
    )
    titles = {course.id: course.title for course in courses()}
    cards = [(row, titles.get(row.cohort.course, row.cohort.course)) for row in mine]
    context = {
        "teaching_in": [card for card in cards if card[0].role in TEACHING],
        "learning_in": [card for card in cards if card[0].role == Role.LEARNER],
        "may_make": request.user.has_perm(MAKE_COHORTS),
        "form": CodeForm(),
    }
    return render(request, "classroom/cohorts/home.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def make(request: HttpRequest) -> HttpResponse:
    if not request.user.has_perm(MAKE_COHORTS):
        raise NotAMember
    choices = [(course.id, course.title) for course in courses()]
    form = CohortForm(choices, posted(request), zone=cohorts.usual_zone(request.user))
    if form.is_valid():
        made = cohorts.make(request.user, **form.cleaned_data)
        messages.success(request, _("The cohort stands. Give its code or its link to learners."))
        return HttpResponseRedirect(reverse("classroom:cohort", args=[made.pk]))
    context = {"form": form, "zones": sorted(zone_names())}
    status = 422 if form.errors else 200
    return render(request, "classroom/cohorts/new.html", context, status=status)


@require_safe
def cohort(request: HttpRequest, cohort_id: uuid.UUID) -> HttpResponse:
    """A teacher's start; for a learner what the cohort asks of them."""
    mine = membership(request.user, cohort_id)
    here = mine.cohort
    context: dict[str, Any] = {
        "cohort": here,
        "membership": mine,
        "course_title": course_title(here.course),
        "lessons": lesson_ends(here, closings(here, request.user), mine),
    }
    if mine.role == Role.LEARNER:
        points = _points(here, mine)
        context["lessons"] = [(row, points.get(row.id)) for row in context["lessons"]]
        return render(request, "classroom/cohorts/learner.html", context)
    context |= {
        "teaching": Teaching(here, mine),
        "tab": "",
        "learners": Membership.objects.filter(cohort=here, role=Role.LEARNER).count(),
        "link": request.build_absolute_uri(reverse("classroom:join", args=[here.code])),
    }
    return render(request, "classroom/cohorts/teacher.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest, cohort_id: uuid.UUID) -> HttpResponse:
    here = teaching(request, cohort_id, instructor=True)
    current = {name: getattr(here.cohort, name) for name in SettingsForm.base_fields}
    form = SettingsForm(posted(request), initial=current)
    if form.is_valid():
        cohorts.change_settings(here.cohort, request.user, form.settings())
        messages.success(request, _("The settings are saved."))
        return _back("settings", here.cohort)
    context = {
        "cohort": here.cohort,
        "teaching": here,
        "tab": "settings",
        "form": form,
        "zones": sorted(zone_names()),
    }
    status = 422 if form.errors else 200
    return render(request, "classroom/cohorts/settings.html", context, status=status)


@require_POST
def renew_code(request: HttpRequest, cohort_id: uuid.UUID) -> HttpResponse:
    here = teaching(request, cohort_id, instructor=True)
    cohorts.renew_code(here.cohort, request.user)
    messages.success(request, _("The cohort has a new code. The old one and its link are void."))
    return _back("cohort", here.cohort)


@require_POST
def archive(request: HttpRequest, cohort_id: uuid.UUID) -> HttpResponse:
    """Put it away, or (do=restore) take it out again."""
    here = teaching(request, cohort_id, instructor=True)
    if request.POST.get("do") == "restore":
        cohorts.restore(here.cohort, request.user)
        messages.success(request, _("The cohort is in use again."))
    else:
        cohorts.archive(here.cohort, request.user)
        messages.success(request, _("The cohort is archived. Nothing in it is lost."))
    return _back("settings", here.cohort)


@dataclass(frozen=True)
class Points:
    """A lesson in points, as its learner may see it: what is held back counts as not given."""

    earned: str
    possible: str
    waiting: int
    adjustment: str
    reason: str


def _points(cohort: Cohort, mine: Membership) -> dict[str, Points]:
    """By lesson; none for a lesson that asks nothing."""
    work = cohort_work(cohort, people=[mine.person_id], published_only=True)
    reasons = dict(
        Adjustment.objects.filter(cohort=cohort, person=mine.person_id).values_list(
            "lesson", "reason"
        )
    )
    found = {}
    for lesson in work.lessons:
        marks = work.lesson(mine.person_id, lesson)
        if marks.asked:
            found[lesson.id] = Points(
                amounts.points(marks.earned),
                amounts.points(marks.possible),
                marks.waiting,
                amounts.signed(marks.adjustment) if marks.adjustment else "",
                reasons.get(lesson.id, ""),
            )
    return found


def _back(name: str, cohort: Cohort) -> HttpResponse:
    return HttpResponseRedirect(reverse(f"classroom:{name}", args=[cohort.pk]))
