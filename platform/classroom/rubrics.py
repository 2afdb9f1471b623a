"""The rubric of an Activity in a cohort: the lesson's points first, then what graders make of it.

Scores are computed from the points, so that an edit re-marks every grade that holds the point:
`holders` says how many those are before it is done. An edit names the `version` it saw; if
another grader was first it raises Changed with the point as it stands.
"""

import secrets
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Count, Max
from django.utils import timezone
from django.utils.translation import gettext as _

from classroom import amounts, audit
from classroom.models import Cohort, Grade, GradePoint, RubricPoint
from lessons.content.structure import Activity, TextField

LONGEST = 400  # characters of a point's text
MOST_POINTS = 40  # of one Activity, retired ones not counted
LARGEST = Decimal(100)
WHOLE = "whole"  # the key of the one point of a text for which the lesson declares none


class Changed(Exception):
    """Somebody has edited or retired this point since it was shown; `point` is how it stands."""

    def __init__(self, point: RubricPoint) -> None:
        super().__init__("the rubric point has changed")
        self.point = point


class Unfit(Exception):
    """What was typed cannot be a rubric point; the message is a sentence for who typed it."""


@dataclass(frozen=True)
class Draft:
    """A point as it was typed, read."""

    text: str
    points: Decimal


def declared(activity: Activity) -> list[tuple[str, str]]:
    """(field, key) of the points that the lesson itself names."""
    return [
        (item.id, key)
        for item in activity.fields
        if isinstance(item, TextField)
        for key in item.rubric or (WHOLE,)
    ]


def undone(cohort: Cohort, activity: Activity, rows: Collection[RubricPoint]) -> list[RubricPoint]:
    """The points that the lesson declares and `rows` lack, not stored."""
    known = {(row.field, row.key) for row in rows}
    return [
        RubricPoint(
            cohort=cohort, activity=activity.id, field=field, key=key, points=Decimal(1),
            position=place,
        )
        for place, (field, key) in enumerate(declared(activity))
        if (field, key) not in known
    ]  # fmt: skip


def rubric_of(cohort: Cohort, activity: Activity) -> list[RubricPoint]:
    """In order, the retired ones too; on first use the lesson's points become rows."""
    return rubrics_of(cohort, [activity])[activity.id]


def rubrics_of(cohort: Cohort, activities: Iterable[Activity]) -> dict[str, list[RubricPoint]]:
    """Of several Activities, in one query (three where points are made)."""
    wanted = {activity.id: activity for activity in activities}
    rows = _rows(cohort, wanted)
    missing = [
        point for name, activity in wanted.items() for point in undone(cohort, activity, rows[name])
    ]
    if missing:  # another grader may be making them too: the same rows, once
        RubricPoint.objects.bulk_create(missing, ignore_conflicts=True)
        rows = _rows(cohort, wanted)
    return rows


def offered(points: Iterable[RubricPoint]) -> list[RubricPoint]:
    """Those a grader may give now."""
    return [point for point in points if not point.is_retired]


def holders(points: Collection[RubricPoint]) -> dict[int, int]:
    """How many grades hold each point: what an edit of it re-marks."""
    rows = GradePoint.objects.filter(point__in=points).values_list("point_id")
    counts = dict(rows.annotate(n=Count("id")).order_by())
    return {point.pk: counts.get(point.pk, 0) for point in points}


def read(data: Mapping[str, Any]) -> Draft:
    """A point from a form. Raises Unfit. A decimal comma is a decimal point here."""
    text = " ".join(str(data.get("text", "")).split())
    if len(text) > LONGEST:
        raise Unfit(_("A rubric point is at most %(n)d characters long.") % {"n": LONGEST})
    return Draft(text, read_points(str(data.get("points", ""))))


def read_points(typed: str) -> Decimal:
    """Of a point, or beside the rubric. Raises Unfit."""
    value = amounts.read(typed, LARGEST)
    if value is None:
        raise Unfit(amounts.unread(typed, LARGEST))
    return value


@transaction.atomic
def add(cohort: Cohort, activity: Activity, actor: Any, draft: Draft) -> RubricPoint:
    """A point of the cohort's own. Raises Unfit."""
    if not draft.text:
        raise Unfit(_("Say in a few words what this point is given or taken for."))
    points = RubricPoint.objects.filter(cohort=cohort, activity=activity.id)
    if points.filter(retired_at=None).count() >= MOST_POINTS:
        raise Unfit(_("This rubric has as many points as one can hold in mind: retire some first."))
    last = points.aggregate(last=Max("position"))["last"]
    point = RubricPoint.objects.create(
        cohort=cohort,
        activity=activity.id,
        key=f"own-{secrets.token_hex(6)}",
        text=draft.text,
        points=draft.points,
        position=0 if last is None else last + 1,
    )
    _record(point, actor, "added", {"points": str(point.points), "text": point.text})
    return point


@transaction.atomic
def edit(point: RubricPoint, actor: Any, draft: Draft, version: int) -> int:
    """Change a point; gives how many grades it re-marked. Raises Changed, Unfit."""
    row = _locked(point, version)
    if not draft.text and row.key.startswith("own-"):
        raise Unfit(_("Say in a few words what this point is given or taken for."))
    before = {"points": str(row.points), "text": row.text}
    row.text, row.points = draft.text, draft.points
    touched = _grown(row)
    after = {"points": str(row.points), "text": row.text}
    _record(row, actor, "edited", {"before": before, "after": after, "remarked": touched})
    return touched


@transaction.atomic
def retire(point: RubricPoint, actor: Any, version: int) -> int:
    """Offer the point no more; the grades that hold it, of which the number is given, keep it."""
    row = _locked(point, version)
    row.retired_at = timezone.now()
    touched = _grown(row)
    _record(row, actor, "retired", {"kept": touched})
    return touched


@transaction.atomic
def restore(point: RubricPoint, actor: Any, version: int) -> None:
    """Offer a retired point again."""
    row = _locked(point, version, retired=True)
    row.retired_at = None
    _grown(row)
    _record(row, actor, "restored", {})


def _rows(cohort: Cohort, wanted: Collection[str]) -> dict[str, list[RubricPoint]]:
    found: dict[str, list[RubricPoint]] = {name: [] for name in wanted}
    for row in RubricPoint.objects.filter(cohort=cohort, activity__in=list(wanted)):
        found[row.activity].append(row)
    return found


def _locked(point: RubricPoint, version: int, *, retired: bool = False) -> RubricPoint:
    row = RubricPoint.objects.select_for_update().get(pk=point.pk)
    if row.version != version or row.is_retired != retired:
        raise Changed(row)
    return row


def _grown(row: RubricPoint) -> int:
    """Write it as a new version; graders who hold the old one will be told."""
    row.version += 1
    row.save()
    return Grade.objects.filter(points=row).count()


def _record(point: RubricPoint, actor: Any, what: str, data: dict[str, Any]) -> None:
    subject = f"{point.activity}/{point.key}"
    audit.record(point.cohort, actor, "rubric-edited", subject, what=what, **data)
