"""What came back to a learner: the grades of their revisions, once they are published.

A grade stays with its revision: after a new submission both are shown. A learner may ask for
another look at each, once, with a reason.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from classroom import amounts, audit, points
from classroom.grading import subject_of
from classroom.markdown import render
from classroom.models import Cohort, Grade, Membership, Role, RubricPoint, SecondLook
from classroom.queue import NoSuchQuestion, Question, question
from classroom.received import Received, received
from classroom.scoring import Given, scheme
from classroom.titles import place_of, titles_of
from lessons.checking import Verdict
from lessons.content.structure import TextField
from lessons.models import Revision

LONGEST_REASON = 2_000
MOST_NEWS = 50


class AlreadyAsked(Exception):
    """Another look was asked for before; once is what there is."""


@dataclass(frozen=True)
class Item:
    """A rubric point (or points beside the rubric) that was given."""

    text: SafeString
    points: str


@dataclass(frozen=True)
class Remark:
    """A comment on a passage of the answer."""

    quote: str
    html: SafeString


@dataclass(frozen=True)
class Feedback:
    """One grade as its learner reads it."""

    grade: Grade
    number: int  # of the revision it belongs to
    earned: str  # empty: nothing can be said
    possible: str
    items: Sequence[Item]
    adjustment: str
    comment: SafeString
    remarks: Sequence[Remark]
    look: SecondLook | None
    reply: SafeString  # to it
    may_ask: bool
    is_new: bool
    is_latest: bool


@dataclass(frozen=True)
class News:
    """A line of the list of what came back."""

    grade: Grade
    question: str
    lesson: str
    address: tuple[str, str, str] | None  # course, lesson, step; None: it is asked no more
    is_new: bool


def of_step(
    person: Any, course: str, activity: str, language: str, cohort: Cohort | None = None
) -> list[Feedback]:
    """Everything published about this person's answers to the Activity, newest first.

    With `cohort` only what came from there: who teaches in one reads nothing of another's.
    """
    narrowed: dict[str, Any] = {} if cohort is None else {"cohort": cohort}
    rows = received(
        person, revision__answer__course=course, revision__answer__activity=activity, **narrowed
    )
    return [
        found
        for row in rows
        if (found := _read(row, language, is_latest=row is rows[0])) is not None
    ]


def graded(shown: Sequence[Feedback]) -> int:
    """The newest revision that somebody has judged; 0: none."""
    return max((item.number for item in shown), default=0)


def of_grade(person: Any, grade_id: int, language: str) -> tuple[Feedback, Question] | None:
    """One published grade of this person's, with its question."""
    for row in received(person, pk=grade_id):
        if found := _read(row, language, is_latest=True):
            return found, question(row.grade.cohort, row.grade.revision.answer.activity)
    return None


def mark_seen(shown: Sequence[Feedback]) -> None:
    """The learner has them before their eyes; one that was changed meanwhile is news still."""
    new = [Q(pk=item.grade.pk, version=item.grade.version) for item in shown if item.is_new]
    if new:
        Grade.objects.filter(reduce(or_, new)).update(seen_at=timezone.now())


def mark_all_seen(person: Any) -> None:
    Grade.objects.filter(
        revision__answer__person=person, seen_at=None, published_at__isnull=False
    ).update(seen_at=timezone.now())


def news(person: Any) -> list[News]:
    """What was not seen first, then what was seen last; so many at most."""
    rows = Grade.objects.filter(
        revision__answer__person=person, published_at__isnull=False
    ).select_related("cohort", "revision__answer")
    unseen = list(rows.filter(seen_at=None).order_by("-published_at")[:MOST_NEWS])
    seen = list(rows.exclude(seen_at=None).order_by("-seen_at")[: MOST_NEWS - len(unseen)])
    return [_news(grade) for grade in (*unseen, *seen)]


def ask_for_a_look(person: Any, grade: Grade, reason: str) -> None:
    """Raises AlreadyAsked."""
    ref = Membership.objects.get(cohort=grade.cohort, person=person, role=Role.LEARNER).ref
    try:
        with transaction.atomic():
            SecondLook.objects.create(grade=grade, reason=reason)
            subject = subject_of(grade.revision, ref)
            audit.record(grade.cohort, person, "second-look-asked", subject)
    except IntegrityError as twice:
        raise AlreadyAsked from twice


def _read(row: Received, language: str, *, is_latest: bool) -> Feedback | None:
    """A grade as its learner reads it. None where the course no longer asks the question."""
    grade, revision = row.grade, row.grade.revision
    try:
        asked = question(grade.cohort, revision.answer.activity)
    except NoSuchQuestion:
        return None
    rubric = row.rubric(asked.activity)
    given = Given(tuple(row.held), grade.adjustment, grade.is_ungradable)
    marks = scheme(asked.activity, rubric).marks(revision.verdicts, given)
    look = getattr(grade, "second_look", None)
    return Feedback(
        grade=grade,
        number=revision.number,
        earned="" if marks.earned is None else amounts.points(marks.earned),
        possible=amounts.points(marks.possible),
        items=[*_checked(asked, revision), *_given(asked, rubric, row.held, language)],
        adjustment=amounts.signed(grade.adjustment) if grade.adjustment else "",
        comment=render(grade.comment) if grade.comment else SafeString(""),
        remarks=[Remark(passage.quote, render(passage.text)) for passage in row.passages],
        look=look,
        reply=render(look.reply) if look and look.reply else SafeString(""),
        may_ask=look is None and grade.cohort.archived_at is None and row.learns,
        is_new=grade.seen_at is None,
        is_latest=is_latest,
    )


def _given(
    asked: Question, rubric: Sequence[RubricPoint], held: Collection[int], language: str
) -> Iterator[Item]:
    for point in rubric:
        if point.pk in held:
            words = points.point_html(asked, point, language)
            yield Item(words, amounts.signed(point.points))


def _checked(asked: Question, revision: Revision) -> list[Item]:
    """What the machine gave: a point for each field that is right."""
    fields = [item.id for item in asked.activity.fields if not isinstance(item, TextField)]
    right = sum(revision.verdicts.get(name, {}).get("verdict") == Verdict.RIGHT for name in fields)
    words = SafeString(escape(_("checked by the site")))
    return [Item(words, amounts.signed(Decimal(right)))] if right else []


def _news(grade: Grade) -> News:
    answer = grade.revision.answer
    place = place_of(answer.course, answer.activity)
    titles = titles_of(answer.course)
    is_new = grade.seen_at is None
    if place is None or titles is None:
        return News(grade, answer.activity, "", None, is_new)
    lesson, step = place
    return News(
        grade,
        titles.question(lesson, step),
        titles.lesson(lesson),
        (answer.course, lesson.id, step.id),
        is_new,
    )
