"""The grading desk: one answer on paper, and beside it everything a grader gives to it."""

import dataclasses
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db.models import Prefetch
from django.utils.safestring import SafeString

from classroom import amounts, markdown, points, scoring
from classroom.grading import Judgement
from classroom.judging import Posted, RawPassage
from classroom.models import Cohort, Grade, GradePoint, PassageComment, RubricPoint, SecondLook
from classroom.papers import EarlierPaper, Paper, paper
from classroom.queue import Question
from classroom.scoring import Given, Marks
from lessons.models import Revision, State

_HISTORY = 20  # submissions that a page shows
_KEYS = "123456789"


@dataclass(frozen=True)
class PointView:
    id: int
    key: str  # the digit that gives or takes it
    text: SafeString
    points: str
    value: Decimal
    is_chosen: bool
    is_retired: bool

    @property
    def takes(self) -> bool:
        return self.value < 0


@dataclass(frozen=True)
class Bench:
    """The form of a judgement."""

    points: tuple[PointView, ...]
    adjustment: str
    comment: str
    preview: SafeString
    is_ungradable: bool
    passages: tuple[RawPassage, ...]
    seen: int
    reply: str = ""
    problems: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Desk:
    paper: Paper
    bench: Bench
    grade: Grade | None
    marks: str  # “3 / 4” as it stands
    right: str  # what the machine gave, and what is possible: plain numbers for the script
    possible: str
    earlier: tuple[EarlierPaper, ...]
    newer: int  # the number of a later submission; 0: none
    look: SecondLook | None
    reply: SafeString  # to that second look

    @property
    def has_text(self) -> bool:
        return any(item.is_text for item in self.paper.fields)


class NoSuchRevision(Exception):
    """The learner never submitted a revision of that number."""


def desk(
    cohort: Cohort,
    asked: Question,
    of: uuid.UUID,
    rubric: Sequence[RubricPoint],
    language: str,
    number: int | None = None,
    posted: Posted | None = None,
) -> Desk:
    """`of` names a revision of the answer, whose last one is shown, or that `number`.

    `posted` is a form that was not taken. Raises NoSuchRevision.
    """
    revisions = _submissions(of)
    here = next((row for row in revisions if number in (None, row.number)), None)
    if here is None:
        raise NoSuchRevision
    grades = _grades(cohort, revisions)
    grade = grades.get(here.pk)
    passages = list(grade.passages.all()) if grade else []
    bare = scoring.marks(asked.activity, rubric, here.verdicts, Given())
    look: SecondLook | None = getattr(grade, "second_look", None) if grade else None
    return Desk(
        paper=paper(asked, here, language, passages),
        bench=bench(asked, rubric, language, grade, posted),
        grade=grade,
        marks=marks_said(asked, rubric, here, grade),
        right=str(bare.earned or 0),
        possible=str(bare.possible),
        earlier=tuple(
            _earlier(asked, rubric, row, grades.get(row.pk), language)
            for row in revisions
            if row.number < here.number
        ),
        newer=revisions[0].number if revisions[0].number > here.number else 0,
        look=look,
        reply=markdown.render(look.reply) if look and look.reply else SafeString(""),
    )


def bench(
    asked: Question,
    rubric: Sequence[RubricPoint],
    language: str,
    grade: Grade | None = None,
    posted: Posted | None = None,
) -> Bench:
    """The form as it was posted, or else as the grade has it."""
    held = frozenset(row.point_id for row in grade.given.all()) if grade else frozenset[int]()
    chosen = posted.judgement.points if posted else held
    views = point_views(asked, rubric, language, chosen, held)
    if posted:
        given = posted.judgement
        return Bench(
            views, posted.adjustment, given.comment, markdown.render(given.comment),
            given.is_ungradable, posted.passages, grade.version if grade else 0, posted.reply,
            posted.problems,
        )  # fmt: skip
    if grade is None:
        return Bench(views, "", "", SafeString(""), False, (), 0)
    return Bench(
        views, points.typed(grade.adjustment), grade.comment, markdown.render(grade.comment),
        grade.is_ungradable, raw_passages(grade.passages.all()), grade.version,
    )  # fmt: skip


def point_views(
    asked: Question,
    rubric: Iterable[RubricPoint],
    language: str,
    chosen: frozenset[int],
    held: frozenset[int],
) -> tuple[PointView, ...]:
    """What is offered, and the retired points that this grade holds."""
    shown = [p for p in rubric if not p.is_retired or p.pk in held]
    return tuple(
        PointView(
            id=point.pk,
            key=_KEYS[place] if place < len(_KEYS) else "",
            text=points.point_html(asked, point, language),
            points=amounts.signed(point.points),
            value=point.points,
            is_chosen=point.pk in chosen,
            is_retired=point.is_retired,
        )
        for place, point in enumerate(shown)
    )


def raw_passages(rows: Iterable[PassageComment]) -> tuple[RawPassage, ...]:
    return tuple(
        RawPassage(row.field, str(row.start), str(row.end), row.quote, row.text) for row in rows
    )


def marks_of(
    asked: Question, rubric: Sequence[RubricPoint], revision: Revision, grade: Grade | None
) -> Marks:
    given = None
    if grade:
        held = [row.point_id for row in grade.given.all()]
        given = Given(held, grade.adjustment, grade.is_ungradable)
    return scoring.marks(asked.activity, rubric, revision.verdicts, given)


def marks_said(
    asked: Question, rubric: Sequence[RubricPoint], revision: Revision, grade: Grade | None
) -> str:
    marks = marks_of(asked, rubric, revision, grade)
    earned = "–" if marks.earned is None else amounts.points(marks.earned)
    return f"{earned} / {amounts.points(marks.possible)}"


def judged(judgement: Judgement) -> dict[str, Any]:
    """A judgement as JSON, for the session: what taking it back needs."""
    return dataclasses.asdict(judgement) | {
        "points": sorted(judgement.points),
        "adjustment": str(judgement.adjustment),
    }


def _submissions(of: uuid.UUID) -> list[Revision]:
    """Of the same answer, the last one first."""
    rows = Revision.objects.filter(answer__revisions=of, state=State.SUBMITTED)
    return list(rows.order_by("-number")[:_HISTORY])


def _grades(cohort: Cohort, revisions: Iterable[Revision]) -> dict[Any, Grade]:
    rows = (
        Grade.objects.filter(cohort=cohort, revision__in=[row.pk for row in revisions])
        .select_related("grader", "second_look", "decision")
        .prefetch_related(Prefetch("given", GradePoint.objects.select_related("point")), "passages")
    )
    return {row.revision_id: row for row in rows}


def _earlier(
    asked: Question,
    rubric: Sequence[RubricPoint],
    row: Revision,
    grade: Grade | None,
    language: str,
) -> EarlierPaper:
    passages = list(grade.passages.all()) if grade else []
    return EarlierPaper(
        paper=paper(asked, row, language, passages),
        grade=grade,
        marks=marks_said(asked, rubric, row, grade),
        comment=markdown.render(grade.comment) if grade else SafeString(""),
    )
