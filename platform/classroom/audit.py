"""Who did what: appended here, and never changed (the database holds that too)."""

from typing import Any

from classroom.models import AuditEntry, Cohort


def record(cohort: Cohort, actor: Any, action: str, subject: str = "", **data: Any) -> AuditEntry:
    """Append one entry, in the transaction of what it tells about.

    `subject` and `data` name a learner by ref, never by name: the entry outlives the person.
    """
    return AuditEntry.objects.create(
        cohort=cohort, actor=actor, action=action, subject=subject[:200], data=data
    )
