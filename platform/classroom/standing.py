"""Where a person stands in the classroom: asked once a page, for its menu and its step."""

from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.http import HttpRequest

from accounts.models import Person
from classroom.models import Grade, Membership, RecheckItem
from lessons.models import Answer, Revision


@dataclass(frozen=True)
class Standing:
    is_member: bool = False
    is_instructor: bool = False  # in the group that may make cohorts
    has_feedback: bool = False
    has_rechecks: bool = False
    unseen: int = 0  # feedback they have not looked at


NOBODY = Standing()
# In SQL, for every page of somebody signed in waits for it: the ORM takes 2 ms to write it.
_RECEIVED = f"""FROM {Grade._meta.db_table} g
    JOIN {Revision._meta.db_table} r ON r.id = g.revision_id
    JOIN {Answer._meta.db_table} a ON a.id = r.answer_id
    WHERE a.person_id = %s AND g.published_at IS NOT NULL"""
_ASKED = f"""SELECT
    EXISTS (SELECT 1 FROM {Membership._meta.db_table} WHERE person_id = %s),
    EXISTS (SELECT 1 FROM {Person.groups.through._meta.db_table} WHERE person_id = %s),
    EXISTS (SELECT 1 {_RECEIVED}),
    EXISTS (SELECT 1 FROM {RecheckItem._meta.db_table} WHERE person_id = %s),
    (SELECT COUNT(*) {_RECEIVED} AND g.seen_at IS NULL)"""


def standing(request: HttpRequest) -> Standing:
    """In one query, however often it is asked; none for a visitor."""
    found: Standing | None = getattr(request, "_standing", None)
    if found is None:
        # A page about a request that was refused early (tests/security) knows of nobody.
        person = getattr(request, "user", None)
        found = NOBODY if person is None else _standing(person)
        request._standing = found  # type: ignore[attr-defined]
    return found


def _standing(person: Any) -> Standing:
    if not person.is_authenticated:
        return NOBODY
    key = Person._meta.pk.get_db_prep_value(person.pk, connection)
    with connection.cursor() as cursor:
        cursor.execute(_ASKED, [key] * 5)
        member, instructor, feedback, rechecks, unseen = cursor.fetchone()
    return Standing(bool(member), bool(instructor), bool(feedback), bool(rechecks), unseen)
