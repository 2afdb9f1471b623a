"""Giving, changing and taking back grades. A grade belongs to one revision and stays with it.

A grader says which `version` of the grade they saw (0: none). If somebody has written since,
nothing is overwritten: Conflict, with the grade as it stands.
"""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from classroom import audit
from classroom.models import (
    Cohort,
    Grade,
    GradePoint,
    PassageComment,
    Release,
    Role,
    RubricPoint,
    SecondLook,
)
from classroom.passages import Passage
from lessons.models import Revision
from lessons.models import State as RevisionState

LONGEST_COMMENT = 10_000
LONGEST_REPLY = 4_000


@dataclass(frozen=True)
class Judgement:
    """Everything a grader gives to one revision."""

    points: frozenset[int] = frozenset()
    adjustment: Decimal = Decimal(0)
    comment: str = ""
    is_ungradable: bool = False
    passages: tuple[Passage, ...] = ()


class Conflict(Exception):
    """Another grader has written since the page was opened; `grade` None: they took it back."""

    def __init__(self, grade: Grade | None) -> None:
        super().__init__("the grade has changed since the page was opened")
        self.grade = grade


class PointsGone(Exception):
    """Rubric points that were chosen and are offered no more."""

    def __init__(self, points: Sequence[RubricPoint]) -> None:
        super().__init__("rubric points were retired meanwhile")
        self.points = points


class AnswerGone(Exception):
    """The learner has left, or was erased: there is nothing to grade."""


@dataclass(frozen=True)
class Written:
    """`before` is what the grade said (None: there was none), for taking it back."""

    grade: Grade
    before: Judgement | None
    newer: int | None  # the number of a revision submitted since


def judgement_of(grade: Grade) -> Judgement:
    return Judgement(
        points=frozenset(grade.given.values_list("point_id", flat=True)),
        adjustment=grade.adjustment,
        comment=grade.comment,
        is_ungradable=grade.is_ungradable,
        passages=tuple(
            Passage(row.field, row.start, row.end, row.quote, row.text)
            for row in grade.passages.all()
        ),
    )


def write(
    cohort: Cohort, grader: Any, revision_id: uuid.UUID, judgement: Judgement, seen: int
) -> Written:
    """Raises Conflict, PointsGone or AnswerGone. What stands there already is no write."""
    try:
        with transaction.atomic():
            return _write(cohort, grader, revision_id, judgement, seen)
    except IntegrityError:  # the other grader's first grade came in between
        current = Grade.objects.filter(cohort=cohort, revision_id=revision_id).first()
        raise Conflict(current) from None


def take_back(
    cohort: Cohort, grader: Any, revision_id: uuid.UUID, before: Judgement | None, seen: int
) -> None:
    """Undo a write: the grade is as `before`, or gone, but for one that its learner has asked to
    be looked at again. Raises Conflict, AnswerGone."""
    with transaction.atomic():
        revision = _revision(cohort, revision_id)
        grade = _locked(cohort, revision)
        if grade is None or grade.version != seen:
            raise Conflict(grade)
        if before is None:
            if SecondLook.objects.filter(grade=grade).exists():
                raise Conflict(grade)
            subject = _subject(revision)
            grade.delete()
            audit.record(cohort, grader, "ungraded", subject)
            return
        _fill(grade, grader, before)
        _record(cohort, grader, "regraded", revision, grade, before)


def reply(cohort: Cohort, grader: Any, grade: Grade, text: str) -> bool:
    """Answer a request for another look; False where there is none that is open."""
    now = timezone.now()
    done = SecondLook.objects.filter(grade=grade, answered_at=None).update(
        reply=text, answered_at=now, answered_by=grader
    )
    if done:
        Grade.objects.filter(pk=grade.pk).update(seen_at=None)
        subject = _subject(_revision(cohort, grade.revision_id))
        audit.record(cohort, grader, "second-look-answered", subject)
    return bool(done)


def latest_number(revision: Revision) -> int:
    """Of the last submission of the same answer."""
    numbers = Revision.objects.filter(answer=revision.answer_id, state=RevisionState.SUBMITTED)
    return max(numbers.values_list("number", flat=True), default=revision.number)


def _write(
    cohort: Cohort, grader: Any, revision_id: uuid.UUID, judgement: Judgement, seen: int
) -> Written:
    revision = _revision(cohort, revision_id)
    grade = _locked(cohort, revision)
    before = judgement_of(grade) if grade else None
    last = latest_number(revision)
    newer = last if last > revision.number else None
    if grade and before == judgement:  # a double click, or both said the same
        return Written(grade, before, newer)
    if (grade.version if grade else 0) != seen:
        raise Conflict(grade)
    kept = before.points if before else frozenset[int]()
    require_offered(cohort, revision.answer.activity, judgement.points - kept)
    action = "regraded" if grade else "graded"
    grade = grade or Grade(cohort=cohort, revision=revision, version=0)
    _fill(grade, grader, judgement)
    _record(cohort, grader, action, revision, grade, judgement)
    return Written(grade, before, newer)


def require_offered(cohort: Cohort, activity: str, points: Collection[int]) -> None:
    """Raises PointsGone where one of the points is retired, or was never one of this rubric.

    Within a transaction: until it ends none of them is edited or retired.
    """
    if not points:
        return
    rows = RubricPoint.objects.filter(cohort=cohort, activity=activity, pk__in=points)
    known = {row.pk: row for row in rows.select_for_update().order_by("pk")}
    gone = [row for row in known.values() if row.is_retired]
    if gone or len(known) < len(points):
        raise PointsGone(gone)


def publish_time(cohort: Cohort, published: Any) -> Any:
    """When a grade written now is shown to its learner: what was shown stays shown."""
    if published is None and cohort.release == Release.AT_ONCE:
        return timezone.now()
    return published


def _revision(cohort: Cohort, revision_id: uuid.UUID) -> Revision:
    """The submission of somebody who still learns here, with `ref`."""
    found = (
        Revision.objects.filter(
            pk=revision_id,
            state=RevisionState.SUBMITTED,
            answer__course=cohort.course,
            answer__person__memberships__cohort=cohort,
            answer__person__memberships__role=Role.LEARNER,
        )
        .annotate(ref=F("answer__person__memberships__ref"))
        .select_related("answer")
        .first()
    )
    if found is None:
        raise AnswerGone
    return found


def _locked(cohort: Cohort, revision: Revision) -> Grade | None:
    return Grade.objects.select_for_update().filter(cohort=cohort, revision=revision).first()


def _fill(grade: Grade, grader: Any, judgement: Judgement) -> None:
    grade.grader = grader
    grade.adjustment, grade.comment = judgement.adjustment, judgement.comment
    grade.is_ungradable = judgement.is_ungradable
    grade.version += 1
    grade.graded_at = timezone.now()
    grade.published_at = publish_time(grade.cohort, grade.published_at)
    grade.seen_at = None  # news again
    grade.save()
    grade.given.all().delete()
    GradePoint.objects.bulk_create(
        GradePoint(grade=grade, point_id=point) for point in sorted(judgement.points)
    )
    grade.passages.all().delete()
    PassageComment.objects.bulk_create(
        PassageComment(grade=grade, **asdict(passage)) for passage in judgement.passages
    )


def _record(
    cohort: Cohort, grader: Any, action: str, revision: Revision, grade: Grade, given: Judgement
) -> None:
    data = summary(given) | {"version": grade.version}
    audit.record(cohort, grader, action, _subject(revision), **data)


def summary(given: Judgement) -> dict[str, Any]:
    """What the audit keeps of a judgement: no words, for they may name somebody."""
    return {
        "points": sorted(given.points),
        "adjustment": str(given.adjustment),
        "ungradable": given.is_ungradable,
        "comment": len(given.comment),
        "passages": len(given.passages),
    }


def subject_of(revision: Revision, ref: str) -> str:
    """As the audit names a revision: by ref, never by name."""
    return f"{revision.answer.activity}/{ref}#{revision.number}"


def _subject(revision: Revision) -> str:
    ref: str = revision.ref  # type: ignore[attr-defined]  # annotated in _revision
    return subject_of(revision, ref)
