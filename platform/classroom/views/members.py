"""Who is in a cohort: names and refs, roles, and invitations to teach."""

import uuid
from datetime import timedelta

from django.contrib import messages
from django.core.mail import EmailMessage
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts import mail, throttle
from accounts.forms import posted
from classroom import audit, cohorts, invitations
from classroom.access import NotAMember, Teaching, teaching
from classroom.cohort_forms import InvitationForm
from classroom.collation import collation_key
from classroom.lti.linking import links_of
from classroom.models import AuditEntry, Cohort, Invitation, Membership, Role
from lessons.views.found import reading_language

NOTED_AGAIN = timedelta(hours=1)  # looking at the names twice in an hour is one look
MAILS = throttle.Limit("invitation-mail", ((throttle.DAY, 50),), "")


@require_http_methods(["GET", "HEAD", "POST"])
def members(request: HttpRequest, cohort_id: uuid.UUID) -> HttpResponse:
    """The list; a POST invites somebody to teach."""
    writes = request.method == "POST"
    here = teaching(request, cohort_id, instructor=writes)
    if not here.may_see_names:
        raise NotAMember
    form = InvitationForm(posted(request))
    if form.is_valid() and _invited(request, here.cohort, form):
        return _back(cohort_id)
    note_names_seen(here)
    rows = sorted(
        Membership.objects.filter(cohort=here.cohort).select_related("person"),
        key=lambda row: (
            collation_key(row.person.name or row.person.email or "", reading_language()),
            row.ref,
        ),
    )
    context = {
        "cohort": here.cohort,
        "teaching": here,
        "tab": "members",
        "teachers": [row for row in rows if row.role != Role.LEARNER],
        "learners": [row for row in rows if row.role == Role.LEARNER],
        "form": form,
        "links": links_of(here.cohort) if here.is_instructor else (),
        "invitations": [
            (row, _link(request, row)) for row in invitations.open_ones(here.cohort)
        ] if here.is_instructor else [],
        "link": request.build_absolute_uri(reverse("classroom:join", args=[here.cohort.code])),
    }  # fmt: skip
    status = 422 if form.errors else 200
    return render(request, "classroom/cohorts/members.html", context, status=status)


def note_names_seen(here: Teaching) -> None:
    """In an anonymous cohort it is written down who looked up whom the refs stand for."""
    if not here.cohort.is_anonymous:
        return
    before = AuditEntry.objects.filter(
        cohort=here.cohort,
        actor=here.membership.person_id,
        action="names-seen",
        at__gt=timezone.now() - NOTED_AGAIN,
    )
    if not before.exists():
        audit.record(here.cohort, here.membership.person, "names-seen")


@require_POST
def change_role(request: HttpRequest, cohort_id: uuid.UUID, ref: str) -> HttpResponse:
    here = teaching(request, cohort_id, instructor=True)
    role = request.POST.get("role", "")
    if role not in Role.values:
        messages.error(request, _("There is no such role."))
        return _back(cohort_id)
    try:
        member = cohorts.change_role(here.cohort, request.user, ref, role)
    except cohorts.LastInstructor:
        messages.error(request, _("A cohort needs an instructor: make somebody else one first."))
    except cohorts.NeedsAccount:
        messages.error(request, _("A guest cannot teach. They need an account first."))
    else:
        if member.person_id == request.user.pk and role != Role.INSTRUCTOR:
            return HttpResponseRedirect(reverse("classroom:cohort", args=[cohort_id]))
        messages.success(request, _("The role is changed."))
    return _back(cohort_id)


@require_http_methods(["GET", "HEAD", "POST"])
def remove(request: HttpRequest, cohort_id: uuid.UUID, ref: str) -> HttpResponse:
    """The page of one member, with another role or the removal."""
    here = teaching(request, cohort_id, instructor=True)
    member = cohorts.member_of(here.cohort, ref)
    if request.method != "POST":
        context = {
            "cohort": here.cohort,
            "teaching": here,
            "tab": "members",
            "member": member,
            "roles": Role.choices,
        }
        return render(request, "classroom/cohorts/remove.html", context)
    try:
        cohorts.remove(here.cohort, request.user, ref)
    except cohorts.LastInstructor:
        messages.error(request, _("A cohort needs an instructor: make somebody else one first."))
    else:
        if member.person_id == request.user.pk:
            return HttpResponseRedirect(reverse("classroom:home"))
        messages.success(request, _("They are no longer in the cohort. Their answers are kept."))
    return _back(cohort_id)


@require_POST
def withdraw(request: HttpRequest, cohort_id: uuid.UUID, number: int) -> HttpResponse:
    here = teaching(request, cohort_id, instructor=True)
    invitations.withdraw(here.cohort, request.user, number)
    messages.success(request, _("The invitation is withdrawn."))
    return _back(cohort_id)


def _invited(request: HttpRequest, cohort: Cohort, form: InvitationForm) -> bool:
    given = form.cleaned_data
    try:
        if given["email"]:
            throttle.take(MAILS, str(cohort.pk))
        made = invitations.invite(cohort, request.user, given["role"], given["email"])
    except (invitations.TooManyOpen, throttle.TooMany):
        form.add_error(None, _("Too many invitations are open. Withdraw some, or wait a day."))
        return False
    if made.email:
        mail.send_later(_message(request, made))
        messages.success(request, _("The invitation is on its way."))
    else:
        messages.success(request, _("The invitation stands below. Pass its link on."))
    return True


def _message(request: HttpRequest, made: Invitation) -> EmailMessage:
    context = {"invitation": made, "link": _link(request, made), "person": request.user}
    body = render_to_string("classroom/mail/invitation.txt", context)
    return EmailMessage(_("An invitation to teach on Chainrule"), body, to=[made.email])


def _link(request: HttpRequest, made: Invitation) -> str:
    return request.build_absolute_uri(reverse("classroom:invitation", args=[made.code]))


def _back(cohort_id: uuid.UUID) -> HttpResponse:
    return HttpResponseRedirect(reverse("classroom:members", args=[cohort_id]))
