"""The gradebook: learners × lessons in points, and one lesson's learners × questions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count

from classroom.collation import collation_key
from classroom.models import Cohort, Grade
from classroom.progress import (
    CohortWork,
    Learner,
    LessonMarks,
    Work,
    activities,
    cohort_work,
    learners,
)
from classroom.titles import Titles
from lessons.content.structure import Activity, Lesson
from lessons.views.found import reading_language

LEARNERS_A_PAGE = 100
BY_NAME = "name"
BY_TOTAL = "total"


@dataclass(frozen=True)
class Order:
    """By a lesson's or a question's id, by name, or by the total."""

    by: str = BY_NAME
    is_descending: bool = False

    def turned(self, by: str) -> "Order":
        """What pressing that column's head asks for: points begin with the most."""
        if by == self.by:
            return Order(by, not self.is_descending)
        return Order(by, is_descending=by != BY_NAME)

    @property
    def query(self) -> str:
        return f"sort={self.by}{'&down=1' if self.is_descending else ''}"


@dataclass(frozen=True)
class Line:
    """One learner: a cell for each lesson, and their sum."""

    learner: Learner
    cells: tuple[LessonMarks, ...]
    earned: Decimal | None
    possible: Decimal


@dataclass(frozen=True)
class LessonLine:
    """One learner in one lesson: a cell for each question."""

    learner: Learner
    cells: tuple[Work | None, ...]
    marks: LessonMarks


@dataclass(frozen=True)
class Held:
    """Grades of a lesson, or of a question, that wait to be released."""

    id: str
    title: str
    count: int


@dataclass(frozen=True)
class Book:
    work: CohortWork
    columns: Sequence[Lesson] | Sequence[Activity]
    lines: Sequence[Any]  # of the page: Line, or LessonLine
    page: Page
    order: Order


def book(cohort: Cohort, order: Order, number: int | str = 1) -> Book:
    """A page of the gradebook. A learner's name decides the order before anything is summed, so
    that by name only the learners of the page are read."""

    def value(work: CohortWork, learner: Learner) -> Decimal | None:
        line = line_of(work, learner)
        if order.by == BY_TOTAL:
            return line.earned
        cells = {le.id: cell for le, cell in zip(work.lessons, line.cells, strict=True)}
        return cells[order.by].earned if order.by in cells else None

    work, page = _page(cohort, order, number, value)
    return Book(work, work.lessons, [line_of(work, learner) for learner in page], page, order)


def lesson_book(cohort: Cohort, lesson: Lesson, order: Order, number: int | str = 1) -> Book:
    """A page of one lesson of the gradebook."""
    asked = activities(lesson)

    def value(work: CohortWork, learner: Learner) -> Decimal | None:
        if order.by == BY_TOTAL:
            return work.lesson(learner.person, lesson).earned
        answer = work.of(learner.person).get(order.by)
        return answer.marks.earned if answer else None

    only = {activity.id for activity in asked}
    work, page = _page(cohort, order, number, value, only)
    lines = [
        LessonLine(
            learner,
            tuple(work.of(learner.person).get(activity.id) for activity in asked),
            work.lesson(learner.person, lesson),
        )
        for learner in page
    ]
    return Book(work, asked, lines, page, order)


def line_of(work: CohortWork, learner: Learner) -> Line:
    cells = tuple(work.lesson(learner.person, lesson) for lesson in work.lessons)
    return Line(learner, cells, *work.totals(cells))


def by_name(people: Sequence[Learner]) -> list[Learner]:
    """In the reader's alphabet; who has no name comes last, by ref."""
    here = reading_language()

    def key(learner: Learner) -> tuple[bool, tuple[str, str], str]:
        shown = learner.name or learner.email
        return not shown, collation_key(shown, here), learner.ref

    return sorted(people, key=key)


def held_lessons(cohort: Cohort, titles: Titles | None) -> list[Held]:
    """The lessons that have grades to be released."""
    counts = held_back(cohort)
    lessons = titles.shelf.course.lessons if titles and counts else ()
    found = [
        Held(lesson.id, titles.lesson(lesson), sum(counts.get(a.id, 0) for a in activities(lesson)))
        for lesson in lessons
        if titles
    ]
    return [item for item in found if item.count]


def held_back(cohort: Cohort) -> dict[str, int]:
    """How many grades wait to be released, by Activity."""
    rows = Grade.objects.filter(cohort=cohort, published_at=None)
    return dict(rows.values_list("revision__answer__activity").annotate(n=Count("id")).order_by())


def _page(
    cohort: Cohort,
    order: Order,
    number: int | str,
    value: Callable[[CohortWork, Learner], Decimal | None],
    asked: set[str] | None = None,
) -> tuple[CohortWork, Page]:
    if order.by == BY_NAME:
        people = by_name(learners(cohort))
        if order.is_descending:
            people.reverse()
        page = Paginator(people, LEARNERS_A_PAGE).get_page(number)
        shown = [learner.person for learner in page]
        return cohort_work(cohort, people=shown, asked=asked), page
    work = cohort_work(cohort, asked=asked)
    points = {learner: value(work, learner) for learner in work.learners}
    people = by_name(work.learners)
    some = [learner for learner in people if points[learner] is not None]
    none = [learner for learner in people if points[learner] is None]
    some.sort(key=lambda learner: points[learner] or 0, reverse=order.is_descending)
    return work, Paginator([*some, *none], LEARNERS_A_PAGE).get_page(number)
