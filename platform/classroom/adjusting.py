"""Points added to a learner's lesson, or taken from it, beside what the answers got.

Every change says what it saw (`before`): if somebody has changed it since, nothing is written.
"""

import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.core import signing
from django.db import IntegrityError, transaction
from django.db.models import Count
from django.utils import timezone

from classroom import audit
from classroom.models import Adjustment, Cohort, Import, ImportedLine, Membership, Role

ZERO = Decimal(0)
LARGEST = Decimal(1000)
LONGEST_REASON = 300
IMPORTED, UNDONE, ADJUSTED = "imported", "import-undone", "adjusted"
LONGEST_TOKEN = 200_000  # characters; a form of ours holds no more
_TOKEN_SECONDS = 60 * 60
_SALT = "classroom.adjusting"


@dataclass(frozen=True)
class Stood:
    """An adjustment as it is, or was."""

    points: Decimal = ZERO
    reason: str = ""


@dataclass(frozen=True)
class Change:
    """Of one learner's lesson: the adjustment it had, and the one it gets. `before_reason` None:
    whoever asks for it saw the points alone."""

    ref: str
    lesson: str
    before: Decimal
    after: Decimal
    reason: str = ""
    before_reason: str | None = None

    def saw(self, stood: Stood) -> bool:
        if self.before_reason not in (None, stood.reason):
            return False
        return self.before == stood.points


class Stale(Exception):
    """Somebody changed these learners' adjustments meanwhile, or they left; nothing is written."""

    def __init__(self, refs: Collection[str]) -> None:
        super().__init__(", ".join(refs))
        self.refs = sorted(refs)


class UndoneBefore(Exception):
    """This import was taken back already; once is what there is."""


class BadToken(Exception):
    """Not a preview of this cohort by this person, or one of more than an hour ago."""


class TooLarge(Exception):
    """More than a page can carry to the confirmation."""


def adjustments(cohort: Cohort) -> dict[tuple[uuid.UUID, str], Stood]:
    fields = ("person_id", "lesson", "points", "reason")
    rows = Adjustment.objects.filter(cohort=cohort).values_list(*fields)
    return {(person, lesson): Stood(*stood) for person, lesson, *stood in rows}


def seal(cohort: Cohort, actor: Any, changes: Iterable[Change]) -> str:
    """The changes as they were shown, for their confirmation. Raises TooLarge."""
    rows = [
        [c.ref, c.lesson, str(c.before), str(c.after), c.reason, c.before_reason] for c in changes
    ]
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
        Change(ref, lesson, Decimal(before), Decimal(after), reason, before_reason)
        for ref, lesson, before, after, reason, before_reason in rows
    ]


@transaction.atomic
def adjust(cohort: Cohort, actor: Any, change: Change) -> None:
    """One learner's lesson, by hand. Raises Stale."""
    _write(cohort, actor, _learning(cohort), [change])
    audit.record(cohort, actor, ADJUSTED, change.ref, **_said(change))


@transaction.atomic
def apply(cohort: Cohort, actor: Any, changes: Collection[Change]) -> Import:
    """All of them, or none. Raises Stale."""
    people = _learning(cohort)
    before = _write(cohort, actor, people, changes)
    batch: Import = Import.objects.create(cohort=cohort, made_by=actor)
    ImportedLine.objects.bulk_create(
        [
            ImportedLine(
                batch=batch, person_id=people[change.ref], lesson=change.lesson,
                before=stood.points, before_reason=stood.reason,
                after=change.after, after_reason=change.reason if change.after else "",
            )
            for change, stood in zip(changes, before, strict=True)
        ],
        batch_size=500,
    )  # fmt: skip
    rows = [{"ref": change.ref, **_said(change)} for change in changes]
    audit.record(cohort, actor, IMPORTED, rows=rows)
    return batch


@transaction.atomic
def undo(cohort: Cohort, actor: Any, batch: Import) -> int:
    """Every adjustment of that import is as it was, points and reason; how many. Raises Stale
    (nothing is undone then) and UndoneBefore.

    Who has left the cohort since is passed over.
    """
    open_ones = Import.objects.filter(cohort=cohort, pk=batch.pk, undone_at=None)
    if not open_ones.update(undone_at=timezone.now()):
        raise UndoneBefore
    people = _learning(cohort)
    refs = {person: ref for ref, person in people.items()}
    changes = [
        Change(
            refs[line.person_id], line.lesson, line.after, line.before,
            line.before_reason, line.after_reason,
        )
        for line in batch.lines.order_by("pk")
        if line.person_id in refs
    ]  # fmt: skip
    _write(cohort, actor, people, changes)
    audit.record(cohort, actor, UNDONE, "", rows=len(changes))
    return len(changes)


def imports(cohort: Cohort, most: int = 10) -> list[Import]:
    """The latest imports that were not undone, with how many adjustments each has (`size`)."""
    rows = Import.objects.filter(cohort=cohort, undone_at=None).select_related("made_by")
    return list(rows.annotate(size=Count("lines")).filter(size__gt=0).order_by("-pk")[:most])


def _write(
    cohort: Cohort, actor: Any, people: Mapping[str, uuid.UUID], changes: Collection[Change]
) -> list[Stood]:
    """What stood there before each change. Raises Stale."""
    rows = {
        (row.person_id, row.lesson): row
        for row in Adjustment.objects.select_for_update().filter(cohort=cohort)
    }

    def stood(change: Change) -> Stood:
        row = rows.get((people.get(change.ref), change.lesson))  # type: ignore[arg-type]
        return Stood(row.points, row.reason) if row else Stood()

    before = [stood(change) for change in changes]
    seen = (c.ref in people and c.saw(there) for c, there in zip(changes, before, strict=True))
    if stale := {c.ref for c, is_seen in zip(changes, seen, strict=True) if not is_seen}:
        raise Stale(stale)
    _store(cohort, actor, people, changes, rows)
    return before


def _store(
    cohort: Cohort,
    actor: Any,
    people: Mapping[str, uuid.UUID],
    changes: Collection[Change],
    rows: Mapping[tuple[uuid.UUID, str], Adjustment],
) -> None:
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
    """Who learns there, by ref: read once by whoever writes, and held until all is written, for
    somebody may leave meanwhile."""
    rows = Membership.objects.filter(cohort=cohort, role=Role.LEARNER)
    return dict(rows.select_for_update().order_by("pk").values_list("ref", "person_id"))


def _said(change: Change) -> dict[str, str]:
    """For the audit: no reason, which may name somebody and would outlive them."""
    return {"lesson": change.lesson, "before": str(change.before), "after": str(change.after)}
