"""What a launch leaves in our tables: who came, from which course, in which role, to which column.

A person is known by the platform's registration and its own id for them, never by an address that
it tells: whoever could set that address there would be let into somebody's account here.
"""

import logging
from dataclasses import dataclass

from django.conf import settings
from django.db import IntegrityError, transaction
from lti_tool.models import LtiContext, LtiLineItem, LtiMembership, LtiResourceLink, LtiUser

from accounts.models import Person
from classroom import cohorts
from classroom.lti import outgoing
from classroom.lti.claims import Claims
from classroom.lti.launching import Launch
from classroom.lti.places import Place, place_meant
from classroom.models import Column, ContextLink, Membership, Role

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Arrival:
    user: LtiUser
    context: LtiContext | None
    role: Role | None
    place: Place


@transaction.atomic
def record(launch: Launch) -> Arrival:
    said = launch.claims
    user, _ = LtiUser.objects.update_or_create(
        registration=launch.registration,
        sub=said.sub,
        defaults={"name": said.name} if said.name else {},
    )
    context = _context(launch)
    if context is not None:
        enrol(context, user, said.role)
    link = ContextLink.objects.filter(context=context).select_related("cohort").first()
    place = place_meant(said, link.cohort.course if link else "")
    if context is not None and said.line_item and place.lesson:
        _column(launch, context, place)
    return Arrival(user, context, said.role, place)


def enrol(context: LtiContext, user: LtiUser, role: Role | None) -> None:
    """As the platform says now: what it said before no longer holds."""
    LtiMembership.objects.update_or_create(
        context=context,
        user=user,
        defaults={
            "is_instructor": role == Role.INSTRUCTOR,
            "is_learner": role == Role.LEARNER,
            "is_active": True,
        },
    )


def person_of(user: LtiUser, locale: str) -> Person:
    """Their account; made now if they come for the first time."""
    with transaction.atomic():
        mine = LtiUser.objects.select_for_update().get(pk=user.pk)
        if mine.auth_user is None:
            language = language_of(locale) or settings.LANGUAGE_CODE
            mine.auth_user = Person.objects.create_outsider(mine.name[:80], language)
            mine.save(update_fields=["auth_user", "datetime_modified"])
        found: Person = mine.auth_user
        return found


@transaction.atomic
def connect(user: LtiUser, person: Person) -> bool:
    """Let this account be theirs from now on; False: they have another by now."""
    mine = LtiUser.objects.select_for_update().get(pk=user.pk)
    if mine.auth_user_id not in (None, person.pk):
        return False
    mine.auth_user = person
    mine.save(update_fields=["auth_user", "datetime_modified"])
    return True


def seat(person: Person, link: ContextLink, role: Role | None) -> Membership | None:
    """Their place in the cohort of the course they came from: it may become more, never less."""
    if role is None or link.cohort.archived_at is not None:
        return None
    return cohorts.join_as(person, link.cohort, role)


def language_of(locale: str) -> str:
    """A language of the site, or none: fr-CA and fr_CA are fr."""
    spoken = locale.replace("_", "-").split("-")[0].lower()
    return spoken if spoken in dict(settings.LANGUAGES) else ""


def _context(launch: Launch) -> LtiContext | None:
    said = launch.claims.context
    if said is None:
        return None
    values = {"title": said.title, "label": said.label}
    if said.memberships_url:
        is_theirs = outgoing.is_of(launch.registration, said.memberships_url)
        values["memberships_url"] = said.memberships_url if is_theirs else ""
        if not is_theirs:
            _foreign(launch, "roster", said.memberships_url)
    context, _ = LtiContext.objects.update_or_create(
        deployment=launch.deployment, id_on_platform=said.id, defaults=values
    )
    return context


def _column(launch: Launch, context: LtiContext, place: Place) -> None:
    """Where the marks of this lesson go. An address of another platform, or one that is already a
    column of another course, is not believed."""
    said: Claims = launch.claims
    if not outgoing.is_of(launch.registration, said.line_item):
        _foreign(launch, "gradebook", said.line_item)
        return
    known = LtiLineItem.objects.filter(url=said.line_item).first()
    if known is not None and known.context_id != context.pk:
        log.warning("%s: column %s is another course's.", launch.registration, said.line_item)
        return
    if known is None:
        try:
            with transaction.atomic():
                known = LtiLineItem.objects.create(
                    context=context,
                    url=said.line_item,
                    maximum_score=1,  # each score says what it is out of
                    label=said.link_title[:255],
                    resource_link=_link(context, said),
                )
        except IntegrityError:
            return  # another launch was first
    Column.objects.update_or_create(
        line_item=known, defaults={"course": place.course, "lesson": place.lesson}
    )


def _link(context: LtiContext, said: Claims) -> LtiResourceLink | None:
    if not said.link_id:
        return None
    link, _ = LtiResourceLink.objects.update_or_create(
        context=context, id_on_platform=said.link_id, defaults={"title": said.link_title}
    )
    return link


def _foreign(launch: Launch, what: str, address: str) -> None:
    log.warning(
        "%s names a %s on a host that is not registered for it: %s. "
        "`manage.py lti_platform add --host` adds hosts.",
        launch.registration, what, address[:200],
    )  # fmt: skip
