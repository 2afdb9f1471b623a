"""Where a person stands in the classroom: asked once a page, for its menu and its step."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, IntegerField, OuterRef, Subquery, Value
from django.db.models.functions import Coalesce
from django.http import HttpRequest

from accounts.models import Person
from classroom.models import Grade, Membership, RecheckItem


@dataclass(frozen=True)
class Standing:
    is_member: bool = False
    has_feedback: bool = False
    has_rechecks: bool = False
    unseen: int = 0  # feedback they have not looked at


NOBODY = Standing()


def standing(request: HttpRequest) -> Standing:
    """In one query, however often it is asked; none for a visitor."""
    found: Standing | None = getattr(request, "_standing", None)
    if found is None:
        # A page about a request that was refused early knows of nobody.
        person = getattr(request, "user", None)
        found = _standing(person) if person is not None else NOBODY
        request._standing = found  # type: ignore[attr-defined]
    return found


def _standing(person: Any) -> Standing:
    if not person.is_authenticated:
        return NOBODY
    received = Grade.objects.filter(
        revision__answer__person=OuterRef("pk"), published_at__isnull=False
    ).order_by()
    unseen = (
        received.filter(seen_at=None)
        .values("revision__answer__person")
        .annotate(n=Count("pk"))
        .values("n")
    )
    row = (
        Person.objects.filter(pk=person.pk)
        .values_list(
            Exists(Membership.objects.filter(person=OuterRef("pk"))),
            Exists(received),
            Exists(RecheckItem.objects.filter(person=OuterRef("pk"))),
            Coalesce(Subquery(unseen, IntegerField()), Value(0)),
        )
        .first()
    )
    return Standing(*row) if row else NOBODY
