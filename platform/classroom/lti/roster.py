"""A course's roster (names and roles), read when an instructor asks for it.

It takes nobody in and nobody out: it says who is expected and not here yet, and who is here and
not in the roster any more. Addresses and pictures that a platform sends are not kept.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from lti_tool.models import LtiMembership, LtiUser
from pylti1p3.exception import LtiException
from pylti1p3.service_connector import ServiceConnector
from requests import RequestException
from requests.utils import parse_header_links

from classroom import audit
from classroom.lti import claims
from classroom.lti.outgoing import Services
from classroom.models import ContextLink, Membership, Role

SCOPE = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
ACCEPT = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
MOST_PAGES = 60
MOST_PEOPLE = 5000
LONGEST_SECONDS = 25.0  # somebody waits for it


class NoRoster(Exception):
    """The platform offers none, or did not give it. Holds a code."""


@dataclass(frozen=True)
class Entry:
    sub: str
    name: str
    role: Role | None
    is_active: bool


@dataclass(frozen=True)
class Differing:
    """A member whose role here is another than in the roster."""

    membership: Membership
    role: Role


@dataclass(frozen=True)
class Compared:
    """The roster as it was read last, against the cohort."""

    link: ContextLink
    at: datetime | None
    people: int
    awaited: Sequence[str]  # names of who has not come yet
    gone: Sequence[Membership]  # here, and not in the roster any more
    differing: Sequence[Differing]


def fetch(link: ContextLink, actor: Any) -> int:
    """Read it, page by page; how many people it names. Raises NoRoster and leaves all as it was."""
    entries, is_partial = _read(link)
    with transaction.atomic():
        _store(link, entries, is_partial)
        ContextLink.objects.filter(pk=link.pk).update(
            roster_at=timezone.now(), roster_is_partial=is_partial
        )
        audit.record(link.cohort, actor, "roster-read", "", people=len(entries))
    return len(entries)


def compared(link: ContextLink) -> Compared:
    """In three queries."""
    rows = list(
        LtiMembership.objects.filter(context=link.context)
        .select_related("user")
        .order_by("user__name", "pk")
    )
    members = {
        row.person_id: row
        for row in Membership.objects.filter(cohort=link.cohort).select_related("person")
    }
    active = [row for row in rows if row.is_active]
    awaited = [
        row.user.name or row.user.sub
        for row in active
        if row.user.auth_user_id not in members and (row.is_learner or row.is_instructor)
    ]
    listed = {row.user.auth_user_id for row in active}
    gone = [
        members[row.user.auth_user_id]
        for row in rows
        if not row.is_active
        and row.user.auth_user_id in members
        and row.user.auth_user_id not in listed
    ]
    differing = [
        Differing(member, role)
        for row in active
        if (member := members.get(row.user.auth_user_id))
        and (role := Role.INSTRUCTOR if row.is_instructor else Role.LEARNER) != member.role
        and (row.is_instructor or row.is_learner)
    ]
    return Compared(link, link.roster_at, len(active), awaited, gone, differing)


def _read(link: ContextLink) -> tuple[list[Entry], bool]:
    """Everybody, and whether there would have been more."""
    context = link.context
    if not context.memberships_url:
        raise NoRoster("none")
    registration = context.deployment.registration
    connector = ServiceConnector(registration.to_registration(), Services(registration))
    until = time.monotonic() + LONGEST_SECONDS
    found: dict[str, Entry] = {}
    address: str | None = context.memberships_url
    seen: set[str] = set()
    try:
        while address:
            if len(seen) >= MOST_PAGES or len(found) > MOST_PEOPLE or time.monotonic() > until:
                return list(found.values())[:MOST_PEOPLE], True
            if address in seen:
                raise NoRoster("circle")
            seen.add(address)
            page, address = _page(connector, address)
            found |= {entry.sub: entry for entry in page}
    except (LtiException, RequestException, KeyError, TypeError, ValueError) as error:
        raise NoRoster("refused") from error
    return list(found.values())[:MOST_PEOPLE], len(found) > MOST_PEOPLE


def _page(connector: ServiceConnector, address: str) -> tuple[Sequence[Entry], str | None]:
    """PyLTI1p3 would follow the next page's address in lower case."""
    answer = connector.make_service_request(
        [SCOPE], address, accept=ACCEPT, case_insensitive_headers=True
    )
    body = answer["body"]
    members = body.get("members") if isinstance(body, dict) else None
    if not isinstance(members, list):
        raise ValueError("no members")
    links = parse_header_links(answer["headers"].get("link", ""))
    following = (link["url"] for link in links if link.get("rel") == "next")
    return list(_entries(members)), next(following, None)


def _entries(members: Sequence[Any]) -> Iterator[Entry]:
    """Those that can be read: one that cannot takes nobody else along."""
    for member in members:
        try:
            if isinstance(member, Mapping):
                yield Entry(
                    claims.identifier(member, "user_id"),
                    claims.name_of(member),
                    claims.role_of(member.get("roles", [])),
                    member.get("status", "Active") == "Active",
                )
        except claims.Unreadable:
            continue


def _store(link: ContextLink, entries: Sequence[Entry], is_partial: bool) -> None:
    registration = link.context.deployment.registration
    people = [LtiUser(registration=registration, sub=row.sub, name=row.name) for row in entries]
    LtiUser.objects.bulk_create(
        [person for person in people if person.name],
        update_conflicts=True,
        unique_fields=["registration", "sub"],
        update_fields=["name"],
        batch_size=500,
    )
    LtiUser.objects.bulk_create(  # one whose name the roster hides keeps the one we know
        [person for person in people if not person.name], ignore_conflicts=True, batch_size=500
    )
    ids = dict(LtiUser.objects.filter(registration=registration).values_list("sub", "pk"))
    mine = LtiMembership.objects.filter(context=link.context)
    if not is_partial:
        mine.update(is_active=False)
    LtiMembership.objects.bulk_create(
        [
            LtiMembership(
                context=link.context,
                user_id=ids[row.sub],
                is_instructor=row.role == Role.INSTRUCTOR,
                is_learner=row.role == Role.LEARNER,
                is_active=row.is_active,
            )
            for row in entries
        ],
        update_conflicts=True,
        unique_fields=["context", "user"],
        update_fields=["is_instructor", "is_learner", "is_active"],
        batch_size=500,
    )
