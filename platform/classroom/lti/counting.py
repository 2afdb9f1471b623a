"""Which marks a platform should have, against those it has: what differs goes into the outbox.

Nobody has to tell that marks changed. Whatever changes them leaves a row with its time: an answer
that was handed in, an entry of the audit, an answer re-checked, somebody who came from the
platform. Those are looked for, so that no way of changing marks can be forgotten here.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from lti_tool.models import LtiMembership, LtiUser

from classroom.models import AuditEntry, Column, ContextLink, RecheckItem, Score, SendState
from classroom.progress import LessonMarks, cohort_work
from lessons.models import Revision, State

LOOK_EVERY = timedelta(seconds=10)
OVERLAP = timedelta(seconds=30)  # a change may be written down before it can be read
AT_ONCE = 100  # marks in one statement
MOST_NAMED = 200  # learners; for more it is quicker to read the whole cohort
CHANGING = (
    "adjusted", "graded", "group-decided", "group-undone", "import-undone", "imported", "joined",
    "lti-linked", "merged", "rechecked", "regraded", "released", "removed", "role-changed",
    "rubric-edited", "second-look-answered", "settings-changed", "ungraded",
)  # fmt: skip


def look() -> bool:
    """One link whose turn it is. Whether there may be another."""
    now = timezone.now()
    due = Q(looked_at=None) | Q(looked_at__lt=now - LOOK_EVERY)
    active = ContextLink.objects.filter(
        due, cohort__archived_at=None, context__deployment__is_active=True,
        context__deployment__registration__is_active=True,
    )  # fmt: skip
    oldest = F("looked_at").asc(nulls_first=True)
    link = active.select_related("cohort", "context").order_by(oldest, "pk").first()
    if link is None:
        return False
    mine = ContextLink.objects.filter(pk=link.pk, looked_at=link.looked_at)
    if mine.update(looked_at=now):  # or another process was first
        since = link.counted_at and link.counted_at - OVERLAP
        people = changed(link, since) if since else None
        if people is None or people:
            count(link, people)
        ContextLink.objects.filter(pk=link.pk).update(counted_at=now)
    return True


def changed(link: ContextLink, since: datetime) -> set[uuid.UUID] | None:
    """Whose marks may have changed since then; None: everybody's."""
    entries = AuditEntry.objects.filter(cohort=link.cohort, at__gt=since, action__in=CHANGING)
    columns = Column.objects.filter(line_item__context=link.context, made_at__gt=since)
    if entries.exists() or columns.exists():
        return None
    answered = Revision.objects.filter(
        answer__course=link.cohort.course,
        answer__person__memberships__cohort=link.cohort,
        state=State.SUBMITTED,
        submitted_at__gt=since,
    )
    rechecked = RecheckItem.objects.filter(recheck__cohort=link.cohort, applied_at__gt=since)
    came = LtiUser.objects.filter(
        memberships__context=link.context, datetime_modified__gt=since
    ).exclude(auth_user=None)
    return {
        *answered.values_list("answer__person", flat=True),
        *rechecked.exclude(person=None).values_list("person", flat=True),
        *came.values_list("auth_user", flat=True),
    }


def count(link: ContextLink, people: Collection[uuid.UUID] | None) -> int:
    """Put what differs into the outbox; how much that was."""
    users = _users(link, people)
    columns = Column.objects.filter(
        Q(course="") | Q(course=link.cohort.course), line_item__context=link.context
    )
    wanted = list(columns)
    if not users or not wanted:
        return 0
    named = list(users) if len(users) <= MOST_NAMED else None
    work = cohort_work(link.cohort, people=named, published_only=True)
    kept = {
        (score.column_id, score.user_id): score for score in Score.objects.filter(column__in=wanted)
    }
    differing = []
    for column in wanted:
        lesson = work.course.lesson(column.lesson) if work.course else None
        if lesson is None:
            continue  # it is not on this site any more
        for learner in work.learners:
            marks = work.lesson(learner.person, lesson)
            for user in users.get(learner.person, ()):
                if score := _differing(column, user, marks, kept.get((column.pk, user))):
                    differing.append(score)
    _write(differing)
    return len(differing)


def _users(
    link: ContextLink, people: Collection[uuid.UUID] | None
) -> Mapping[uuid.UUID, list[int]]:
    """The platform's ids for its people who have come here, by person."""
    rows = LtiMembership.objects.filter(context=link.context).exclude(user__auth_user=None)
    found: dict[uuid.UUID, list[int]] = defaultdict(list)
    for person, user in rows.values_list("user__auth_user", "user"):
        if people is None or person in people:
            found[person].append(user)
    return found


def _differing(column: Column, user: int, marks: LessonMarks, kept: Score | None) -> Score | None:
    """The score as it should be, where it is not that already. Who has done nothing has none."""
    if kept is None and marks.earned is None and not marks.answered:
        return None
    new = Score(
        column=column,
        user_id=user,
        earned=_rounded(marks.earned),
        possible=_rounded(marks.possible) or Decimal(0),
        is_complete=marks.answered == marks.asked,
        is_waiting=marks.waiting > 0,
    )
    if kept is None:
        return new
    if all(getattr(new, name) == getattr(kept, name) for name in _MARKS):
        return None
    new.pk = kept.pk
    return new


_MARKS = ("earned", "possible", "is_complete", "is_waiting")


def _rounded(points: Decimal | None) -> Decimal | None:
    return None if points is None else points.quantize(Decimal("0.01"))


def _write(scores: Sequence[Score]) -> None:
    """In few statements: a course's first columns may hold thousands of marks at once."""
    new = [score for score in scores if score.pk is None]
    again = [score for score in scores if score.pk is not None]
    for score in again:
        score.version = F("version") + 1
        score.state, score.tries, score.next_at = SendState.WAITING, 0, timezone.now()
    with transaction.atomic():
        Score.objects.bulk_create(new, ignore_conflicts=True, batch_size=AT_ONCE)
        changed_now = [*_MARKS, "version", "state", "tries", "next_at"]
        Score.objects.bulk_update(again, changed_now, batch_size=AT_ONCE)
