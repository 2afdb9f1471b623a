"""The gradebook's rows, heads and cells in the reader's words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from classroom import amounts
from classroom.gradebook import LessonLine, Line, Order
from classroom.models import Cohort
from classroom.progress import Learner, LessonMarks, Work
from lessons.content.structure import Activity


@dataclass(frozen=True)
class Note:
    """A few words below the points of a cell."""

    kind: str  # wait, fail, soft
    text: str


@dataclass(frozen=True)
class Cell:
    earned: str
    possible: str
    notes: tuple[Note, ...] = ()
    address: str = ""
    is_full: bool = False

    @property
    def html(self) -> SafeString:
        return _drawn(self.earned, self.possible, self.notes)


@lru_cache(maxsize=4096)  # a table of thousands of cells holds few different ones
def _drawn(earned: str, possible: str, notes: tuple[Note, ...]) -> SafeString:
    cell = {"earned": earned, "possible": possible, "notes": notes}
    return render_to_string("classroom/gradebook/_cell.html", {"cell": cell})


@dataclass(frozen=True)
class Row:
    name: str
    ref: str
    cells: Sequence[Cell]
    total: Cell
    adjustment: str = ""
    reason: str = ""  # of the adjustment


@dataclass(frozen=True)
class Head:
    """A column: what it is called, where it opens, how it is sorted."""

    number: str
    title: str
    sort: str  # the query that sorts by it
    state: str  # ascending, descending, none
    address: str = ""
    held: int = 0


def row(line: Line) -> Row:
    total = Cell(amounts.points(line.earned), amounts.points(line.possible))
    cells = [_lesson_cell(marks) for marks in line.cells]
    return Row(name_of(line.learner), line.learner.ref, cells, total)


def lesson_row(
    cohort: Cohort, line: LessonLine, asked: Sequence[Activity], reason: str = ""
) -> Row:
    cells = [
        _answer_cell(cohort, line.learner, activity.id, answer)
        for activity, answer in zip(asked, line.cells, strict=True)
    ]
    marks = line.marks
    typed = amounts.points(marks.adjustment) if marks.adjustment else ""
    total = _lesson_cell(marks)
    return Row(name_of(line.learner), line.learner.ref, cells, total, typed, reason)


def name_of(learner: Learner) -> str:
    return learner.name or learner.email or _("Guest")


def _lesson_cell(marks: LessonMarks) -> Cell:
    is_full = bool(marks.possible) and marks.earned == marks.possible and not marks.waiting
    return Cell(
        amounts.points(marks.earned),
        amounts.points(marks.possible),
        tuple(_notes(marks)),
        is_full=is_full,
    )


def _notes(marks: LessonMarks) -> Iterator[Note]:
    if marks.waiting:
        yield Note("wait", _("%(n)d to grade") % {"n": marks.waiting})
    if marks.held:
        yield Note("wait", _("%(n)d held back") % {"n": marks.held})
    if marks.ungradable:
        yield Note("soft", _("%(n)d not gradable") % {"n": marks.ungradable})
    if marks.adjustment:
        yield Note("soft", _("%(points)s adjusted") % {"points": amounts.signed(marks.adjustment)})
    if marks.is_missed:
        yield Note("fail", _("✗ missed"))


def _answer_cell(cohort: Cohort, learner: Learner, activity: str, answer: Work | None) -> Cell:
    if answer is None:
        return Cell(amounts.NOTHING, "")
    address = reverse("classroom:grade", args=[cohort.pk, activity, learner.ref])
    marks = answer.marks
    notes = []
    if marks.is_waiting:
        notes.append(Note("wait", _("to grade")))
    if marks.is_ungradable:
        notes.append(Note("soft", _("not gradable")))
    if answer.graded and not answer.graded.is_published:
        notes.append(Note("wait", _("held back")))
    if answer.tries > 1:
        notes.append(Note("soft", _("%(n)d tries") % {"n": answer.tries}))
    full = bool(marks.possible) and marks.earned == marks.possible and not marks.is_waiting
    return Cell(
        amounts.points(marks.earned), amounts.points(marks.possible), tuple(notes), address, full
    )


def head_of(
    order: Order, by: str, number: str, title: str, address: str = "", held: int = 0
) -> Head:
    state = "none" if by != order.by else "descending" if order.is_descending else "ascending"
    return Head(number, title, order.turned(by).query, state, address, held)
