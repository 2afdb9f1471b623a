"""Asking somebody to teach: by their address, or with a code to pass on. Each works once."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import normal_address
from classroom import audit, cohorts
from classroom.models import Cohort, Invitation, Membership

MOST_OPEN = 50  # of one cohort at a time


class TooManyOpen(Exception):
    """Some have to be taken up or withdrawn first."""


class OtherAddress(Exception):
    """The invitation is for the account of another address."""


class Gone(Exception):
    """Used, withdrawn, or older than it may be."""


def open_ones(cohort: Cohort) -> QuerySet[Invitation]:
    return cohort.invitations.filter(expires_at__gt=timezone.now()).order_by("made_at")


@transaction.atomic
def invite(cohort: Cohort, actor: Any, role: str, email: str = "") -> Invitation:
    """Raises TooManyOpen."""
    Cohort.objects.select_for_update().get(pk=cohort.pk)
    if open_ones(cohort).count() >= MOST_OPEN:
        raise TooManyOpen
    made: Invitation = Invitation.objects.create(
        cohort=cohort, role=role, email=normal_address(email), made_by=actor
    )
    audit.record(cohort, actor, "invited", role=role)
    return made


def found(code: str) -> Invitation:
    """Raises Gone."""
    invitation = (
        Invitation.objects.filter(code=code[:32], expires_at__gt=timezone.now())
        .filter(cohort__archived_at=None)
        .select_related("cohort", "made_by")
        .first()
    )
    if invitation is None:
        raise Gone
    return invitation


@transaction.atomic
def accept(person: Any, code: str) -> Membership:
    """Raises Gone, OtherAddress, or cohorts.NeedsAccount."""
    invitation = found(code)
    if invitation.email and invitation.email != person.email:
        raise OtherAddress
    if not Invitation.objects.filter(pk=invitation.pk).delete()[0]:
        raise Gone  # somebody else was first
    return cohorts.join_as(person, invitation.cohort, invitation.role)


@transaction.atomic
def withdraw(cohort: Cohort, actor: Any, invitation_id: int) -> None:
    if cohort.invitations.filter(pk=invitation_id).delete()[0]:
        audit.record(cohort, actor, "invitation-withdrawn")
