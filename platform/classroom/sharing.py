"""Splitting a question's answers among graders: each has those whose place falls to them.

Nobody is kept from the others' answers: a share is what a grader sees first.
"""

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction

from classroom import audit
from classroom.models import Cohort, Membership, Role, Share


def graders(cohort: Cohort) -> list[Membership]:
    """Whoever may take a part, instructors first."""
    rows = Membership.objects.filter(cohort=cohort, role__in=(Role.ASSISTANT, Role.INSTRUCTOR))
    return list(rows.select_related("person").order_by("-role", "joined_at", "id"))


@transaction.atomic
def split(
    cohort: Cohort, actor: Any, activities: Iterable[str], people: Sequence[uuid.UUID]
) -> int:
    """Give each of these graders an equal part; nobody: the questions are nobody's in particular.
    How many graders have a part now. Whoever does not teach here gets none."""
    allowed = [found.person_id for found in graders(cohort) if found.person_id in set(people)]
    names = list(activities)
    Share.objects.filter(cohort=cohort, activity__in=names).delete()
    Share.objects.bulk_create(
        Share(cohort=cohort, activity=name, grader_id=person, position=place)
        for name in names
        for place, person in enumerate(allowed)
    )
    subject = names[0] if len(names) == 1 else ""
    audit.record(cohort, actor, "split", subject, graders=len(allowed), questions=len(names))
    return len(allowed)
