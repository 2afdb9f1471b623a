"""Grades that were held back reach their learners."""

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.utils import timezone

from classroom import audit
from classroom.models import Cohort, Grade


@transaction.atomic
def release(cohort: Cohort, actor: Any, subject: str, activities: Collection[str]) -> int:
    """Publish every grade of these Activities that is held back; how many there were.

    `subject` says for the audit what was released: a lesson or one Activity.
    """
    rows = Grade.objects.filter(
        cohort=cohort, published_at=None, revision__answer__activity__in=activities
    )
    count = rows.update(published_at=timezone.now())
    if count:
        audit.record(cohort, actor, "released", subject, grades=count)
    return count
