"""What people do with cohorts: make one, join, leave, change a role, put it away.

Whoever changes who teaches holds the cohort's row until they are done, so that of two last
instructors who leave at once one stays.
"""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from classroom import audit
from classroom.access import NotAMember
from classroom.models import Cohort, Membership, Role, Share
from classroom.models.cohorts import new_code

STRENGTH = {Role.LEARNER: 0, Role.ASSISTANT: 1, Role.INSTRUCTOR: 2}
LONGEST_CODE = 12


class LastInstructor(Exception):
    """A cohort has at least one instructor."""


class NeedsAccount(Exception):
    """A guest cannot teach: nobody else could tell who they are."""


class NotOpen(Exception):
    """The cohort is archived, or its code lets nobody in any more."""


@dataclass(frozen=True)
class Joined:
    membership: Membership
    is_new: bool


@dataclass(frozen=True)
class Settings:
    name: str
    zone: str
    is_anonymous: bool
    release: str
    is_open: bool


@transaction.atomic
def make(person: Any, name: str, course: str, zone: str) -> Cohort:
    """A new cohort with this person as its instructor."""
    cohort: Cohort = Cohort.objects.create(name=name, course=course, zone=zone)
    mine = Membership.objects.create(cohort=cohort, person=person, role=Role.INSTRUCTOR)
    audit.record(cohort, person, "made", mine.ref)
    return cohort


def usual_zone(person: Any) -> str:
    """Of the cohort that this person began to instruct last; empty: there is none."""
    mine = Membership.objects.filter(person=person, role=Role.INSTRUCTOR)
    return mine.order_by("-joined_at").values_list("cohort__zone", flat=True).first() or ""


def by_code(typed: str) -> Cohort | None:
    """The cohort that this code opens, however it was typed: spaces, hyphens, lower case."""
    code = "".join(letter for letter in typed.upper() if letter.isalnum())
    if not 1 <= len(code) <= LONGEST_CODE:
        return None
    return Cohort.objects.filter(code=code).first()


def join(person: Any, cohort: Cohort) -> Joined:
    """As a learner; who is in already stays what they are. Raises NotOpen."""
    with transaction.atomic():
        mine = Membership.objects.filter(cohort=cohort, person=person).first()
        if mine is not None:
            return Joined(mine, is_new=False)
        locked = _locked(cohort)
        if locked.archived_at or not locked.is_open:
            raise NotOpen
        mine, is_new = Membership.objects.get_or_create(cohort=cohort, person=person)
        if is_new:
            audit.record(cohort, person, "joined", mine.ref)
        return Joined(mine, is_new)


@transaction.atomic
def join_as(person: Any, cohort: Cohort, role: str) -> Membership:
    """Let in with that role: a learner or assistant becomes more, nobody becomes less.

    Raises NeedsAccount.
    """
    if person.is_guest and role != Role.LEARNER:
        raise NeedsAccount
    _locked(cohort)
    mine, is_new = Membership.objects.get_or_create(
        cohort=cohort, person=person, defaults={"role": role}
    )
    if is_new:
        audit.record(cohort, person, "joined", mine.ref, role=role)
    elif STRENGTH[Role(role)] > STRENGTH[Role(mine.role)]:
        audit.record(cohort, person, "role-changed", mine.ref, before=mine.role, after=role)
        mine.role = role
        mine.save(update_fields=["role"])
    return mine


@transaction.atomic
def change_role(cohort: Cohort, actor: Any, ref: str, role: str) -> Membership:
    """Raises LastInstructor, NeedsAccount or NotAMember."""
    _locked(cohort)
    member = member_of(cohort, ref)
    if member.role == role:
        return member
    if role != Role.LEARNER and member.person.is_guest:
        raise NeedsAccount
    if member.role == Role.INSTRUCTOR:
        _require_another(cohort, member)
    if role == Role.LEARNER:
        _hand_back(member)
    audit.record(cohort, actor, "role-changed", ref, before=member.role, after=role)
    member.role = role
    member.save(update_fields=["role"])
    return member


@transaction.atomic
def remove(cohort: Cohort, actor: Any, ref: str) -> Membership:
    """Take somebody out. Their answers stay theirs, and what they got stays with the answers.

    Raises LastInstructor or NotAMember.
    """
    _locked(cohort)
    member = member_of(cohort, ref)
    if member.role == Role.INSTRUCTOR:
        _require_another(cohort, member)
    _hand_back(member)
    left = member.person_id == actor.pk
    audit.record(cohort, actor, "left" if left else "removed", ref, role=member.role)
    Membership.objects.filter(pk=member.pk).delete()
    return member


def leave(cohort: Cohort, person: Any) -> None:
    """Raises LastInstructor or NotAMember."""
    mine = Membership.objects.filter(cohort=cohort, person=person).first()
    if mine is None:
        raise NotAMember(str(cohort.pk))
    remove(cohort, person, mine.ref)


@transaction.atomic
def change_settings(cohort: Cohort, actor: Any, wanted: Settings) -> Cohort:
    locked = _locked(cohort)
    changed = {
        name: [getattr(locked, name), value]
        for name, value in vars(wanted).items()
        if getattr(locked, name) != value
    }
    if changed:
        Cohort.objects.filter(pk=cohort.pk).update(**vars(wanted))
        audit.record(cohort, actor, "settings-changed", "", **changed)
    return locked


@transaction.atomic
def renew_code(cohort: Cohort, actor: Any) -> None:
    """The old code and its link let nobody in any more."""
    Cohort.objects.filter(pk=_locked(cohort).pk).update(code=new_code())
    audit.record(cohort, actor, "code-renewed")


@transaction.atomic
def archive(cohort: Cohort, actor: Any) -> None:
    """Put away: it is read as before, nobody joins, and no deadline holds any more."""
    if _locked(cohort).archived_at is None:
        Cohort.objects.filter(pk=cohort.pk).update(archived_at=timezone.now())
        audit.record(cohort, actor, "archived")


@transaction.atomic
def restore(cohort: Cohort, actor: Any) -> None:
    if _locked(cohort).archived_at is not None:
        Cohort.objects.filter(pk=cohort.pk).update(archived_at=None)
        audit.record(cohort, actor, "restored")


def member_of(cohort: Cohort, ref: str) -> Membership:
    """Whoever `ref` stands for, in any role, with the person. Raises NotAMember."""
    found = Membership.objects.filter(cohort=cohort, ref=ref).select_related("person").first()
    if found is None:
        raise NotAMember(ref)
    return found


def _locked(cohort: Cohort) -> Cohort:
    """Its row, which nobody else changes until the transaction ends."""
    locked: Cohort = Cohort.objects.select_for_update().get(pk=cohort.pk)
    return locked


def _hand_back(member: Membership) -> None:
    """The answers that were theirs to grade are everybody's again."""
    Share.objects.filter(cohort_id=member.cohort_id, grader_id=member.person_id).delete()


def _require_another(cohort: Cohort, member: Membership) -> None:
    others = Membership.objects.filter(cohort=cohort, role=Role.INSTRUCTOR).exclude(pk=member.pk)
    if not others.exists():
        raise LastInstructor
