"""What an answer is worth: the machine's verdicts and a grader's points, added up. No database.

An Activity's possible points are 1 for each field that is checked by machine, and the positive
rubric points of its text fields. What nobody could judge (a check of ours that failed, an answer
that could not be graded) is left out of what is possible: it is never zero.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from lessons.checking import Verdict
from lessons.content.structure import Activity, TextField

ZERO = Decimal(0)
ONE = Decimal(1)


class Point(Protocol):
    """A rubric point, as far as adding up goes; `classroom.models.RubricPoint` is one."""

    pk: Any
    points: Decimal

    @property
    def is_retired(self) -> bool: ...


@dataclass(frozen=True)
class Given:
    """What a grader gave to a revision: ids of rubric points, and points beside the rubric."""

    points: Collection[int] = ()
    adjustment: Decimal = ZERO
    is_ungradable: bool = False


@dataclass(frozen=True)
class Marks:
    """`earned` is None where nothing can be said yet, or ever; while a grader is awaited it
    holds what the machine gave."""

    earned: Decimal | None
    possible: Decimal
    is_waiting: bool = False
    is_ungradable: bool = False


@dataclass(frozen=True)
class Scheme:
    """The points of one Activity in one cohort: made once, used for every answer to it."""

    checked: tuple[str, ...]  # fields that the machine checks
    has_text: bool
    text_possible: Decimal
    values: Mapping[int, Decimal]  # by rubric point, retired ones too

    @property
    def possible(self) -> Decimal:
        return len(self.checked) + self.text_possible

    def marks(self, verdicts: Mapping[str, Mapping[str, str]] | None, grade: Given | None) -> Marks:
        """Of one submitted revision; `verdicts` None: nothing was submitted."""
        if verdicts is None:
            return Marks(None, self.possible)
        judged = [verdicts.get(name, {}).get("verdict") for name in self.checked]
        right = Decimal(judged.count(Verdict.RIGHT))
        count = judged.count(Verdict.RIGHT) + judged.count(Verdict.WRONG)
        broken = count < len(self.checked)
        possible = count + self.text_possible
        if grade is None:
            earned = right if count else None
            return Marks(earned, possible, is_waiting=self.has_text, is_ungradable=broken)
        if grade.is_ungradable:  # the part that was a grader's to judge
            kept = self.has_text and count > 0
            left = Decimal(count) if self.has_text else ZERO
            return Marks(right if kept else None, left, is_ungradable=True)
        given = sum((self.values.get(point, ZERO) for point in grade.points), ZERO)
        if not possible and not grade.adjustment and broken:
            return Marks(None, possible, is_ungradable=True)
        most = possible + max(grade.adjustment, ZERO)
        earned = min(max(right + given + grade.adjustment, ZERO), most)
        return Marks(earned, possible, is_ungradable=broken)


def scheme(activity: Activity, rubric: Iterable[Point]) -> Scheme:
    """`rubric` holds the retired points too: grades may still hold them."""
    points = list(rubric)
    text = [item for item in activity.fields if isinstance(item, TextField)]
    positive = (p.points for p in points if not p.is_retired and p.points > 0)
    return Scheme(
        checked=tuple(item.id for item in activity.fields if not isinstance(item, TextField)),
        has_text=bool(text),
        text_possible=sum(positive, ZERO) if points else ONE * len(text),
        values={point.pk: point.points for point in points},
    )


def marks(
    activity: Activity,
    rubric: Iterable[Point],
    verdicts: Mapping[str, Mapping[str, str]] | None,
    grade: Given | None,
) -> Marks:
    """One answer's marks; for many answers to one Activity make its `scheme` once."""
    return scheme(activity, rubric).marks(verdicts, grade)
