"""A platform's course and a cohort are one: linked once, by somebody who instructs both."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from lti_tool.models import LtiContext, LtiMembership

from classroom import audit, cohorts
from classroom.access import NotAMember
from classroom.lti import arrivals
from classroom.models import Cohort, ContextLink, Membership, Role


class LinkedAlready(Exception):
    """Somebody else was first."""


def link_of(context: LtiContext | None) -> ContextLink | None:
    return ContextLink.objects.filter(context=context).select_related("cohort").first()


def links_of(cohort: Cohort) -> QuerySet[ContextLink]:
    return (
        ContextLink.objects.filter(cohort=cohort)
        .select_related("context__deployment__registration")
        .order_by("pk")
    )


def instructed_by(person: Any) -> QuerySet[Cohort]:
    """The cohorts they may link."""
    mine = Membership.objects.filter(person=person, role=Role.INSTRUCTOR)
    return Cohort.objects.filter(memberships__in=mine, archived_at=None).order_by("name", "pk")


@transaction.atomic
def link(context: LtiContext, person: Any, cohort: Cohort) -> ContextLink:
    """Whoever came from the course before gets their place now.

    Raises LinkedAlready, or NotAMember where the person does not instruct that cohort.
    """
    if not instructed_by(person).filter(pk=cohort.pk).exists():
        raise NotAMember(str(cohort.pk))
    made, is_new = ContextLink.objects.get_or_create(
        context=context, defaults={"cohort": cohort, "linked_by": person}
    )
    if not is_new:
        raise LinkedAlready
    audit.record(cohort, person, "lti-linked", "", context=str(context)[:80])
    came = LtiMembership.objects.filter(context=context, is_active=True)
    for row in came.exclude(user__auth_user=None).select_related("user__auth_user"):
        arrivals.seat(row.user.auth_user, made, role_in(row))
    return made


@transaction.atomic
def link_to_new(context: LtiContext, person: Any, name: str, course: str, zone: str) -> ContextLink:
    """A cohort of its own for this course. The platform's word that somebody teaches there is
    enough for it: this makes them an instructor of nothing else. Raises LinkedAlready."""
    if ContextLink.objects.filter(context=context).exists():
        raise LinkedAlready
    return link(context, person, cohorts.make(person, name, course, zone))


@transaction.atomic
def unlink(cohort: Cohort, actor: Any, pk: int) -> None:
    """Nobody joins from there any more and no marks go there; whoever is in stays.

    Raises NotAMember where there is no such link.
    """
    row = links_of(cohort).filter(pk=pk).first()
    if row is None:
        raise NotAMember(str(pk))
    audit.record(cohort, actor, "lti-unlinked", "", context=str(row.context)[:80])
    row.delete()


def role_in(row: LtiMembership) -> Role | None:
    """As the platform said last. Who assists there is seated when they come themselves."""
    if row.is_instructor:
        return Role.INSTRUCTOR
    return Role.LEARNER if row.is_learner else None
