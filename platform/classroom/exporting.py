"""The gradebook as tables to take away: lessons, questions, and adjustments to edit and bring back.

The first column is the learner's key: it stays the same whatever they call themselves, and an
import finds them by it.
"""

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from enum import StrEnum

from django.utils.text import slugify
from django.utils.timezone import now
from django.utils.translation import gettext
from django.utils.translation import gettext as _

from classroom.cells import Sheet, Value
from classroom.gradebook import by_name, line_of
from classroom.importing import EMAIL, KEY, LESSON, NAME, POINTS, REASON
from classroom.models import Adjustment, Cohort
from classroom.progress import CohortWork, Learner, cohort_work
from classroom.titles import Titles, titles_of


class What(StrEnum):
    LESSONS = "lessons"
    QUESTIONS = "questions"
    ADJUSTMENTS = "adjustments"


class Format(StrEnum):
    CSV = "csv"
    PLAIN = "plain"  # a CSV for programs
    XLSX = "xlsx"


def sheet(cohort: Cohort, what: What) -> Sheet:
    return _SHEETS[what](cohort)


def file_name(cohort: Cohort, what: What, format_: Format) -> str:
    return named(cohort, what, "xlsx" if format_ is Format.XLSX else "csv")


def named(cohort: Cohort, what: str, ending: str) -> str:
    """ASCII, and no learner in it."""
    name = slugify(cohort.name) or "cohort"
    return f"{name[:60]}-{what}-{now():%Y-%m-%d}.{ending}"


def lessons_sheet(cohort: Cohort) -> Sheet:
    """A learner a row, the points of each lesson, adjustments in them."""
    work = cohort_work(cohort)
    titles = titles_of(cohort.course)
    heads = [
        f"{place}. {titles.lesson(lesson) if titles else lesson.id}"
        for place, lesson in enumerate(work.lessons, start=1)
    ]
    ends = [_("Total"), _("Possible"), _("Waiting for a grader"), _("Deadlines missed")]
    people = by_name(work.learners)  # now: while rows are sent nobody knows the language any more

    def rows() -> Iterator[list[Value]]:
        for learner in people:
            line = line_of(work, learner)
            yield [
                *_who(learner),
                *(cell.earned for cell in line.cells),
                line.earned,
                line.possible,
                sum(cell.waiting for cell in line.cells),
                sum(cell.is_missed for cell in line.cells),
            ]

    return Sheet(_("Gradebook"), [*_heads(), *heads, *ends], rows())


def questions_sheet(cohort: Cohort) -> Sheet:
    """A learner a row, the points of each question's latest answer."""
    work = cohort_work(cohort)
    titles = titles_of(cohort.course)
    asked = list(_asked(work, titles))
    people = by_name(work.learners)

    def rows() -> Iterator[list[Value]]:
        for learner in people:
            mine = work.of(learner.person)
            answers = (mine.get(activity) for activity, _head in asked)
            yield [*_who(learner), *(a.marks.earned if a else None for a in answers)]

    return Sheet(_("Questions"), [*_heads(), *(head for _id, head in asked)], rows())


def adjustments_sheet(cohort: Cohort) -> Sheet:
    """Every adjustment, in the columns that an import reads."""
    work = cohort_work(cohort, asked=())
    titles = titles_of(cohort.course)
    names = {lesson.id: titles.lesson(lesson) for lesson in work.lessons} if titles else {}
    kept: dict[uuid.UUID, list[Adjustment]] = defaultdict(list)
    for row in Adjustment.objects.filter(cohort=cohort).order_by("lesson"):
        kept[row.person_id].append(row)
    rows = [
        [*_who(learner), names.get(row.lesson, row.lesson), row.points, row.reason]
        for learner in by_name(work.learners)
        for row in kept[learner.person]
    ]
    heads = [*_heads(), gettext(LESSON), gettext(POINTS), gettext(REASON)]
    return Sheet(_("Adjustments"), heads, rows)


_SHEETS: dict[What, Callable[[Cohort], Sheet]] = {
    What.LESSONS: lessons_sheet,
    What.QUESTIONS: questions_sheet,
    What.ADJUSTMENTS: adjustments_sheet,
}


def _heads() -> list[str]:
    return [gettext(KEY), gettext(NAME), gettext(EMAIL)]


def _who(learner: Learner) -> list[Value]:
    return [learner.ref, learner.name, learner.email]


def _asked(work: CohortWork, titles: Titles | None) -> Iterator[tuple[str, str]]:
    """Each question with its head: the lesson's number, its own, and its title."""
    for place, lesson in enumerate(work.lessons, start=1):
        steps = [step for step in lesson.steps if step.activity]
        for number, step in enumerate(steps, start=1):
            assert step.activity is not None
            title = titles.question(lesson, step) if titles else step.activity.id
            yield step.activity.id, f"{place}.{number} {title}"
