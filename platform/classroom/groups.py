"""Answers that say the same, offered as one group with one decision, which can be undone.

A group holds the answers that nobody has graded yet. What an answer says never changes once it is
submitted, so its likeness is worked out once and remembered.
"""

import uuid
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from classroom import audit, grading, queue
from classroom.grading import Judgement
from classroom.likeness import likeness
from classroom.models import Cohort, Grade, GradePoint, GroupDecision
from classroom.queue import Entry, Question
from lessons.checking import key_hash
from lessons.models import Revision

SMALLEST = 2
_REMEMBERED = 50_000  # likenesses: some 10 MB
_known: "OrderedDict[tuple[uuid.UUID, str], str]" = OrderedDict()


@dataclass(frozen=True)
class Group:
    likeness: str
    entries: tuple[Entry, ...]  # in the order of the queue

    @property
    def sample(self) -> Entry:
        return self.entries[0]

    def __len__(self) -> int:
        return len(self.entries)


class Crossed(Exception):
    """Somebody graded one of these answers in the same moment: nothing was written."""


class NoGroup(Exception):
    """Fewer than two answers say this and wait."""


def groups(asked: Question, found: Iterable[Entry]) -> list[Group]:
    """Largest first, of the answers without a grade."""
    open_ones = [entry for entry in found if not entry.is_graded]
    names = _likenesses(asked, open_ones)
    members: dict[str, list[Entry]] = defaultdict(list)
    for entry in open_ones:
        if name := names.get(entry.revision):
            members[name].append(entry)
    made = [Group(name, tuple(same)) for name, same in members.items() if len(same) >= SMALLEST]
    return sorted(made, key=len, reverse=True)


def group_of(asked: Question, found: Iterable[Entry], name: str) -> Group:
    """Raises NoGroup."""
    for group in groups(asked, found):
        if group.likeness == name:
            return group
    raise NoGroup(name)


def decide(
    cohort: Cohort, grader: Any, asked: Question, name: str, judgement: Judgement
) -> GroupDecision:
    """One grade for every answer of the group as it is now. Raises NoGroup, Crossed, PointsGone."""
    try:
        with transaction.atomic():
            grading.require_offered(cohort, asked.activity.id, judgement.points)
            group = group_of(asked, queue.entries(cohort, asked), name)
            decision = GroupDecision.objects.create(
                cohort=cohort, activity=asked.activity.id, likeness=name, grader=grader
            )
            _grade_all(cohort, grader, decision, group.entries, judgement)
            audit.record(
                cohort, grader, "group-decided", f"{asked.activity.id}/{name[:8]}",
                answers=[f"{entry.ref}#{entry.number}" for entry in group.entries],
                **grading.summary(judgement),
            )  # fmt: skip
    except IntegrityError:
        raise Crossed from None
    return decision


@transaction.atomic
def undo(cohort: Cohort, grader: Any, decision_id: uuid.UUID) -> tuple[int, int] | None:
    """Take a decision back: how many grades went, and how many stay because they were edited
    since, or because their learner asked for another look: what they wrote would go with the
    grade. None: it was undone before, or never made here."""
    now = timezone.now()
    open_ones = GroupDecision.objects.filter(cohort=cohort, pk=decision_id, undone_at=None)
    if not open_ones.update(undone_at=now):
        return None
    decision = GroupDecision.objects.get(pk=decision_id)
    untouched = Grade.objects.filter(decision=decision, version=1, second_look=None)
    gone = untouched.count()
    kept = Grade.objects.filter(decision=decision).count() - gone
    untouched.delete()
    subject = f"{decision.activity}/{decision.likeness[:8]}"
    audit.record(cohort, grader, "group-undone", subject, gone=gone, kept=kept)
    return gone, kept


def recent(cohort: Cohort, activity: str, most: int = 5) -> list[GroupDecision]:
    """The latest decisions that stand, for taking them back."""
    rows = GroupDecision.objects.filter(cohort=cohort, activity=activity, undone_at=None)
    return list(rows.select_related("grader").order_by("-created_at")[:most])


def _grade_all(
    cohort: Cohort,
    grader: Any,
    decision: GroupDecision,
    entries: Sequence[Entry],
    judgement: Judgement,
) -> None:
    made = Grade.objects.bulk_create(
        Grade(
            cohort=cohort,
            revision_id=entry.revision,
            grader=grader,
            decision=decision,
            adjustment=judgement.adjustment,
            comment=judgement.comment,
            is_ungradable=judgement.is_ungradable,
            published_at=grading.publish_time(cohort, None),
        )
        for entry in entries
    )
    GradePoint.objects.bulk_create(
        GradePoint(grade=grade, point_id=point)
        for grade in made
        for point in sorted(judgement.points)
    )


def _likenesses(asked: Question, found: Sequence[Entry]) -> dict[uuid.UUID, str]:
    """By revision; only those not worked out yet are read."""
    version = key_hash(asked.activity)
    known = ((entry.revision, _known.get((entry.revision, version))) for entry in found)
    names = {revision: name for revision, name in known if name is not None}
    missing = [entry.revision for entry in found if entry.revision not in names]
    for low in range(0, len(missing), 500):  # databases take only so many values in a query
        rows = Revision.objects.filter(pk__in=missing[low : low + 500])
        for revision, content, language in rows.values_list("id", "content", "language"):
            names[revision] = likeness(asked.activity, content, language)
            _known[revision, version] = names[revision]
    while len(_known) > _REMEMBERED:
        _known.popitem(last=False)
    return names
