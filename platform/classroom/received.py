"""A learner's published grades with all that belongs to them, in one query: a step's page asks it.

What a grade has many of (comments on passages, rubric points) comes as JSON in a column of its
row, for a query each would be a third of what the page may ask in all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Aggregate, Exists, JSONField, OuterRef, QuerySet, Subquery

from classroom import rubrics
from classroom.models import Grade, GradePoint, Membership, PassageComment, Role, RubricPoint
from classroom.submissions import moment
from lessons.content.structure import Activity

_PASSAGE = ("field", "start", "id", "quote", "text")
_POINT = ("position", "id", "field", "key", "text", "points", "retired_at")


class _Rows(Aggregate):
    """The expressions of each row as an array, in one JSON array; in no order."""

    output_field = JSONField()

    def as_sqlite(self, compiler: Any, connection: Any, **options: Any) -> Any:
        template = "JSON_GROUP_ARRAY(JSON_ARRAY(%(expressions)s))"
        return self.as_sql(compiler, connection, template=template, **options)

    def as_postgresql(self, compiler: Any, connection: Any, **options: Any) -> Any:
        template = "JSONB_AGG(JSONB_BUILD_ARRAY(%(expressions)s))"
        return self.as_sql(compiler, connection, template=template, **options)


@dataclass(frozen=True)
class Received:
    """One grade; its revision, the revision's answer, the cohort and the look are read too."""

    grade: Grade
    held: frozenset[int]  # ids of the rubric points that were given
    points: Sequence[Sequence[Any]]  # the rubric's rows
    passages: Sequence[PassageComment]
    learns: bool  # the person is still a learner of the cohort

    def rubric(self, activity: Activity) -> list[RubricPoint]:
        """In order, retired points too; those that the lesson declares and nobody opened yet."""
        cohort = self.grade.cohort
        found = [
            RubricPoint(
                cohort=cohort, activity=activity.id, position=position, pk=key, field=field,
                key=name, text=text, points=Decimal(str(points)),
                retired_at=moment(retired) if retired else None,
            )
            for position, key, field, name, text, points, retired in self.points
        ]  # fmt: skip
        return [*found, *rubrics.undone(cohort, activity, found)]


def received(person: Any, **narrowed: Any) -> list[Received]:
    """Newest first; `narrowed` are conditions on the grades."""
    published = Grade.objects.filter(
        revision__answer__person=person, published_at__isnull=False, **narrowed
    )
    rows = _with_all(published, person).order_by("-revision__number", "-pk")
    return [
        Received(
            grade=row,
            held=frozenset(key for (key,) in row.held_rows or ()),
            points=sorted(row.point_rows or (), key=lambda point: point[:2]),
            passages=[
                PassageComment(field=field, start=start, pk=key, quote=quote, text=text)
                for field, start, key, quote, text in sorted(row.passage_rows or ())
            ],
            learns=row.learns,
        )
        for row in rows
    ]


def _with_all(rows: QuerySet[Grade], person: Any) -> QuerySet[Any]:
    mine = {"grade": OuterRef("pk")}
    asked = {"cohort": OuterRef("cohort"), "activity": OuterRef("revision__answer__activity")}
    learning = Membership.objects.filter(
        cohort=OuterRef("cohort"), person=person, role=Role.LEARNER
    )
    return rows.select_related("cohort", "revision__answer", "second_look").annotate(
        held_rows=_many(GradePoint.objects.filter(**mine), "grade", ("point_id",)),
        passage_rows=_many(PassageComment.objects.filter(**mine), "grade", _PASSAGE),
        point_rows=_many(RubricPoint.objects.filter(**asked), "activity", _POINT),
        learns=Exists(learning),
    )


def _many(rows: QuerySet[Any], by: str, fields: tuple[str, ...]) -> Subquery:
    """`rows` belong to one grade; `by` is the same in all of them."""
    return Subquery(rows.order_by().values(by).annotate(rows=_Rows(*fields)).values("rows"))
