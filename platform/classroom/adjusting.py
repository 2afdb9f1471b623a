"""Points added to a learner's lesson, or taken from it, beside what the answers got.

Every change says what it saw (`before`): if somebody has changed it since, nothing is written.
"""

import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.core import signing
from django.db import IntegrityError, transaction
from django.utils import timezone

from classroom import audit
from classroom.models import Adjustment, AuditEntry, Cohort, Membership, Role

ZERO = Decimal(0)
LARGEST = Decimal(1000)
LONGEST_REASON = 300
IMPORTED, UNDONE, ADJUSTED = "imported", "import-undone", "adjusted"
LONGEST_TOKEN = 200_000  # characters; a form of ours holds no more
_TOKEN_SECONDS = 60 * 60
_SALT = "classroom.adjusting"


@dataclass(frozen=True)
class Change:
    """Of one learner's lesson: the adjustment it had, and the one it gets."""

    ref: str
    lesson: str
    before: Decimal
    after: Decimal
    reason: str = ""

    def turned(self) -> "Change":
        return Change(self.ref, self.lesson, self.after, self.before)


class Stale(Exception):
    """Somebody changed these learners' adjustments meanwhile, or they left; nothing is written."""

    def __init__(self, refs: Collection[str]) -> None:
        super().__init__(", ".join(refs))
        self.refs = sorted(refs)


class BadToken(Exception):
    """Not a preview of this cohort by this person, or one of more than an hour ago."""


class TooLarge(Exception):
    """More than a page can carry to the confirmation."""


def adjustments(cohort: Cohort) -> dict[tuple[uuid.UUID, str], Decimal]:
    rows = Adjustment.objects.filter(cohort=cohort).values_list("person_id", "lesson", "points")
    return {(person, lesson): points for person, lesson, points in rows}


def seal(cohort: Cohort, actor: Any, changes: Iterable[Change]) -> str:
    """The changes as they were shown, for their confirmation. Raises TooLarge."""
    rows = [[c.ref, c.lesson, str(c.before), str(c.after), c.reason] for c in changes]
    token = signing.dumps([str(cohort.pk), str(actor.pk), rows], salt=_SALT, compress=True)
    if len(token) > LONGEST_TOKEN:
        raise TooLarge
    return token


def unseal(cohort: Cohort, actor: Any, token: str) -> list[Change]:
    """Raises BadToken."""
    try:
        where, who, rows = signing.loads(token, salt=_SALT, max_age=_TOKEN_SECONDS)
    except signing.BadSignature as bad:
        raise BadToken from bad
    if (where, who) != (str(cohort.pk), str(actor.pk)):
        raise BadToken
    return [
        Change(ref, lesson, Decimal(before), Decimal(after), reason)
        for ref, lesson, before, after, reason in rows
    ]


@transaction.atomic
def adjust(cohort: Cohort, actor: Any, change: Change) -> None:
    """One learner's lesson, by hand. Raises Stale."""
    _write(cohort, actor, [change])
    audit.record(cohort, actor, ADJUSTED, change.ref, **_said(change))


@transaction.atomic
def apply(cohort: Cohort, actor: Any, changes: Collection[Change]) -> AuditEntry:
    """All of them, or none. Raises Stale."""
    _write(cohort, actor, changes)
    rows = [{"ref": change.ref, **_said(change)} for change in changes]
    return audit.record(cohort, actor, IMPORTED, rows=rows)


@transaction.atomic
def undo(cohort: Cohort, actor: Any, entry: AuditEntry) -> int:
    """Give every adjustment of that import back the points it had; how many. Raises Stale.

    Who has left the cohort since is passed over.
    """
    refs = set(_learning(cohort))
    changes = [
        Change(row["ref"], row["lesson"], Decimal(row["before"]), Decimal(row["after"])).turned()
        for row in entry.data["rows"]
        if row["ref"] in refs
    ]
    _write(cohort, actor, changes)
    audit.record(cohort, actor, UNDONE, str(entry.pk), rows=len(changes))
    return len(changes)


def imports(cohort: Cohort, most: int = 10) -> list[AuditEntry]:
    """The latest imports that were not undone."""
    entries = AuditEntry.objects.filter(cohort=cohort)
    undone = set(entries.filter(action=UNDONE).values_list("subject", flat=True))
    latest = entries.filter(action=IMPORTED).select_related("actor")[: most + len(undone)]
    return [entry for entry in latest if str(entry.pk) not in undone][:most]


def _write(cohort: Cohort, actor: Any, changes: Collection[Change]) -> None:
    people = _learning(cohort)
    rows = {
        (row.person_id, row.lesson): row
        for row in Adjustment.objects.select_for_update().filter(cohort=cohort)
    }

    def stands(change: Change) -> bool:
        row = rows.get((people.get(change.ref), change.lesson))  # type: ignore[arg-type]
        return change.ref in people and change.before == (row.points if row else ZERO)

    if stale := {change.ref for change in changes if not stands(change)}:
        raise Stale(stale)
    now = timezone.now()
    gone, kept = [], []
    for change in changes:
        person = people[change.ref]
        row = rows.get((person, change.lesson))
        if not change.after and row:
            gone.append(row.pk)
        elif change.after:
            row = row or Adjustment(cohort=cohort, person_id=person, lesson=change.lesson)
            row.points, row.reason = change.after, change.reason
            row.made_by, row.made_at = actor, now
            kept.append(row)
    Adjustment.objects.filter(pk__in=gone).delete()
    new = [row for row in kept if row.pk is None]
    try:
        Adjustment.objects.bulk_create(new)
    except IntegrityError as error:  # another import made one between our look and our write
        refs = {person: ref for ref, person in people.items()}
        raise Stale({refs[row.person_id] for row in new}) from error
    Adjustment.objects.bulk_update(
        [row for row in kept if row.pk is not None],
        ["points", "reason", "made_by", "made_at"],
        batch_size=100,
    )


def _learning(cohort: Cohort) -> dict[str, uuid.UUID]:
    rows = Membership.objects.filter(cohort=cohort, role=Role.LEARNER)
    return dict(rows.values_list("ref", "person_id"))


def _said(change: Change) -> dict[str, str]:
    """For the audit: no reason, which may name somebody and would outlive them."""
    return {"lesson": change.lesson, "before": str(change.before), "after": str(change.after)}
