"""Joining a cohort by its link or code, leaving it, and taking up an invitation to teach."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import throttle
from accounts.forms import posted
from classroom import cohorts, invitations
from classroom.access import membership
from classroom.cohort_forms import CodeForm, GuestJoinForm
from classroom.models import Cohort, Membership, Role
from classroom.titles import course_title
from lessons.views.found import write_as

CODES = throttle.Limit(  # 31^8 codes; a large class behind one address has room
    "cohort-code",
    ((throttle.HOUR, 1200),),
    gettext_lazy("Too many codes were tried from your network. Try again later."),
)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join_by_code(request: HttpRequest) -> HttpResponse:
    """Type the code; it leads to the page of the link."""
    form = CodeForm(posted(request))
    if form.is_valid():
        throttle.take_for_network(CODES, request)
        if cohort := cohorts.by_code(form.cleaned_data["code"]):
            return HttpResponseRedirect(reverse("classroom:join", args=[cohort.code]))
        form.add_error("code", _("No cohort has this code. Check it with your instructor."))
    status = 422 if form.errors else 200
    return render(request, "classroom/cohorts/code.html", {"form": form}, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, code: str) -> HttpResponse:
    """What joining means, and the button. A guest joins as they are, and keeps their work."""
    throttle.take_for_network(CODES, request)
    cohort = cohorts.by_code(code)
    if cohort is None:
        return _no_such_code(request)
    user = request.user
    if user.is_authenticated and Membership.objects.filter(cohort=cohort, person=user).exists():
        return _to(cohort)
    if cohort.archived_at or not cohort.is_open:
        return _not_open(request, cohort)
    form = GuestJoinForm(posted(request)) if _is_guest(user) else None
    if request.method == "POST" and (form is None or form.is_valid()):
        try:
            return _joined(request, cohort, form.cleaned_data["name"] if form else "")
        except cohorts.NotOpen:
            return _not_open(request, cohort)
    teachers = Membership.objects.filter(cohort=cohort, role=Role.INSTRUCTOR)
    context = {
        "joining": cohort,
        "course_title": course_title(cohort.course),
        "teachers": [row.person.name for row in teachers.select_related("person")],
        "form": form,
    }
    status = 422 if form and form.errors else 200
    return render(request, "classroom/cohorts/join.html", context, status=status)


def _joined(request: HttpRequest, cohort: Cohort, name: str) -> HttpResponse:
    person = write_as(request)
    if name and person.is_guest and name != person.name:
        person.name = name
        person.save(update_fields=["name"])
    cohorts.join(person, cohort)
    messages.success(request, _("You are in. Everything you did before counts here too."))
    return _to(cohort)


def _no_such_code(request: HttpRequest) -> HttpResponse:
    form = CodeForm({"code": ""})
    form.errors.clear()
    form.add_error("code", _("No cohort has this code. Check it with your instructor."))
    return render(request, "classroom/cohorts/code.html", {"form": form}, status=404)


def _not_open(request: HttpRequest, cohort: Cohort) -> HttpResponse:
    context = {"joining": cohort, "course_title": course_title(cohort.course)}
    return render(request, "classroom/cohorts/shut.html", context, status=409)


@require_http_methods(["GET", "HEAD", "POST"])
def leave(request: HttpRequest, cohort_id: uuid.UUID) -> HttpResponse:
    mine = membership(request.user, cohort_id)
    if request.method == "POST":
        try:
            cohorts.leave(mine.cohort, request.user)
        except cohorts.LastInstructor:
            messages.error(
                request,
                _("You are the last instructor. Make somebody else one before you leave."),
            )
            return _to(mine.cohort)
        messages.success(request, _("You have left the cohort. Your answers are still yours."))
        return HttpResponseRedirect(reverse("classroom:home"))
    context = {"cohort": mine.cohort, "membership": mine}
    return render(request, "classroom/cohorts/leave.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, code: str) -> HttpResponse:
    """An invitation to teach: for an account, once."""
    throttle.take_for_network(CODES, request)
    try:
        found = invitations.found(code)
    except invitations.Gone:
        return render(request, "classroom/cohorts/gone.html", status=404)
    user: Any = request.user
    trouble = ""
    if request.method == "POST" and not _is_guest(user):
        try:
            mine = invitations.accept(user, code)
        except invitations.Gone:
            return render(request, "classroom/cohorts/gone.html", status=404)
        except invitations.OtherAddress:
            trouble = _("This invitation is for the account of another address.")
        else:
            messages.success(request, _("Welcome: you teach here now."))
            return HttpResponseRedirect(reverse("classroom:cohort", args=[mine.cohort_id]))
    context = {"invitation": found, "trouble": trouble, "is_guest": _is_guest(user)}
    status = 409 if trouble else 200
    return render(request, "classroom/cohorts/invitation.html", context, status=status)


def _is_guest(user: Any) -> bool:
    return not user.is_authenticated or user.is_guest


def _to(cohort: Cohort) -> HttpResponse:
    return HttpResponseRedirect(reverse("classroom:cohort", args=[cohort.pk]))
