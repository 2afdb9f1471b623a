"""Where a person stands in the classroom, as the menu of every page says it: one query."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, IntegerField, OuterRef, Subquery, Value
from django.db.models.functions import Coalesce

from classroom.models import Grade, Membership


@dataclass(frozen=True)
class Standing:
    is_member: bool = False
    unseen: int = 0  # feedback they have not looked at


NOBODY = Standing()


def standing(person: Any) -> Standing:
    if not person.is_authenticated:
        return NOBODY
    unseen = (
        Grade.objects.filter(
            revision__answer__person=OuterRef("person"), seen_at=None, published_at__isnull=False
        )
        .order_by()
        .values("revision__answer__person")
        .annotate(n=Count("pk"))
        .values("n")
    )
    counts = (
        Membership.objects.filter(person=person)
        .annotate(unseen=Coalesce(Subquery(unseen, IntegerField()), Value(0)))
        .values_list("unseen", flat=True)
    )
    found = counts.first()
    return NOBODY if found is None else Standing(True, found)
