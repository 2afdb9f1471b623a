"""Adjustments from an uploaded table: read, shown line by line, and only then applied.

A file has a head and four columns, in any order: the learner's key (or e-mail address), the
lesson, the points, and a reason that may be missing. Each line sets the adjustment of one
learner's lesson; it does not add to it.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from django.conf import settings
from django.utils.translation import gettext, gettext_noop, override
from django.utils.translation import gettext as _

from classroom import amounts
from classroom.adjusting import LARGEST, LONGEST_REASON, Change, Stood, adjustments
from classroom.cells import bare
from classroom.models import Cohort
from classroom.progress import Learner, learners
from classroom.reading import Row, Unreadable
from classroom.titles import Titles, titles_of

KEY, NAME, EMAIL = gettext_noop("Learner key"), gettext_noop("Name"), gettext_noop("E-mail")
LESSON, POINTS, REASON = gettext_noop("Lesson"), gettext_noop("Points"), gettext_noop("Reason")
HEADS = (KEY, NAME, EMAIL, LESSON, POINTS, REASON)
_ALIASES = {"key": KEY, "email": EMAIL, "lesson": LESSON, "points": POINTS, "reason": REASON}


@dataclass(frozen=True)
class Refused:
    """A line that cannot be taken, and why."""

    line: int
    said: str
    why: str


@dataclass(frozen=True)
class Plan:
    """What an import would do. It is done whole or not at all: one refusal stops it."""

    changes: Sequence[tuple[int, Learner, str, Change]] = ()  # line, who, lesson's title, what
    refused: Sequence[Refused] = ()
    same: int = 0  # lines that change nothing

    @property
    def is_fit(self) -> bool:
        return bool(self.changes) and not self.refused


@dataclass
class _Names:
    """What a file may call the cohort's learners and lessons."""

    by_key: Mapping[str, Learner]
    by_email: Mapping[str, Learner]
    lessons: Mapping[str, str]  # casefolded id or title, in any language -> id
    titles: Mapping[str, str]
    now: Mapping[tuple[uuid.UUID, str], Stood]
    seen: dict[tuple[str, str], int] = field(default_factory=dict)  # -> the line


class _Unfit(Exception):
    """Why a line is refused, as a sentence."""


def plan(cohort: Cohort, rows: Sequence[Row]) -> Plan:
    """What these rows would change. Raises Unreadable where the head names no such table."""
    heads = _heads(rows[0])
    names = _names(cohort)
    changes, refused, same = [], [], 0
    for row in rows[1:]:
        try:
            learner, change = _change(row, heads, names)
        except _Unfit as unfit:
            refused.append(
                Refused(row.number, " · ".join(filter(None, row.cells))[:120], str(unfit))
            )
            continue
        if change.before == change.after and change.reason in ("", change.before_reason):
            same += 1
        else:
            changes.append((row.number, learner, names.titles[change.lesson], change))
    return Plan(changes, refused, same)


def known_heads() -> dict[str, str]:
    """Every head that is understood, casefolded, in each of the site's languages."""
    found = dict(_ALIASES)
    for code, _name in settings.LANGUAGES:
        with override(code):
            found |= {gettext(head).casefold(): head for head in HEADS}
    return found


def _heads(row: Row) -> dict[str, int]:
    known = known_heads()
    found: dict[str, int] = {}
    for place, cell in enumerate(row.cells):
        head = known.get(bare(cell).casefold())
        if head in found:
            raise Unreadable(_("Two columns are called “%(head)s”.") % {"head": cell[:40]})
        if head:
            found[head] = place
    if LESSON not in found or POINTS not in found or not {KEY, EMAIL} & set(found):
        raise Unreadable(
            _(
                "The first line must name the columns: %(key)s or %(email)s, %(lesson)s, "
                "%(points)s, and %(reason)s if there is one."
            )
            % {"key": gettext(KEY), "email": gettext(EMAIL), "lesson": gettext(LESSON),
               "points": gettext(POINTS), "reason": gettext(REASON)}
        )  # fmt: skip
    return found


def _names(cohort: Cohort) -> _Names:
    people = learners(cohort)
    lessons: dict[str, str] = {}
    titles: dict[str, str] = {}
    if here := titles_of(cohort.course):
        for lesson in here.shelf.course.lessons:
            titles[lesson.id] = here.lesson(lesson)
            for language in here.shelf.course.languages:
                lessons[Titles(here.shelf, language).lesson(lesson).casefold()] = lesson.id
        lessons |= {lesson.id: lesson.id for lesson in here.shelf.course.lessons}
    return _Names(
        {learner.ref: learner for learner in people},
        {learner.email.casefold(): learner for learner in people if learner.email},
        lessons,
        titles,
        adjustments(cohort),
    )


def _change(row: Row, heads: Mapping[str, int], names: _Names) -> tuple[Learner, Change]:
    if row.has_formula:
        raise _Unfit(_("A cell of this line is a formula. Paste its value in place of it."))

    def said(head: str) -> str:
        place = heads.get(head)
        return bare(row.cells[place]) if place is not None and place < len(row.cells) else ""

    learner = _learner(said(KEY), said(EMAIL), names)
    if not said(LESSON):
        raise _Unfit(_("The lesson is missing. Write its title, or its id."))
    lesson = names.lessons.get(said(LESSON).casefold())
    if lesson is None:
        raise _Unfit(_("The course has no lesson “%(said)s”.") % {"said": said(LESSON)[:60]})
    points = read_points(said(POINTS))
    if points is None:
        raise _Unfit(points_sentence(said(POINTS)))
    reason = " ".join(said(REASON).split())
    if len(reason) > LONGEST_REASON:
        raise _Unfit(_("The reason is longer than %(n)d characters.") % {"n": LONGEST_REASON})
    first = names.seen.setdefault((learner.ref, lesson), row.number)
    if first != row.number:
        raise _Unfit(_("Line %(line)d is about the same learner and lesson.") % {"line": first})
    stood = names.now.get((learner.person, lesson), Stood())
    reason = reason if points else ""  # what is taken away has none
    return learner, Change(learner.ref, lesson, stood.points, points, reason, stood.reason)


def _learner(key: str, email: str, names: _Names) -> Learner:
    if not key and not email:
        raise _Unfit(_("The learner is missing. Write their key, or their e-mail address."))
    found = names.by_key.get(key.lower()) if key else names.by_email.get(email.casefold())
    if found is None:
        raise _Unfit(_("No learner of this cohort is “%(said)s”.") % {"said": (key or email)[:60]})
    if key and email and found.email and found.email.casefold() != email.casefold():
        raise _Unfit(_("The key and the e-mail address are of two different people."))
    return found


def read_points(typed: str) -> Decimal | None:
    """Of an adjustment; None where they are none."""
    return amounts.read(typed, LARGEST)


def points_sentence(typed: str) -> str:
    if not typed.strip():
        return _("The points are missing. Write 0 to take an adjustment away.")
    return amounts.unread(typed, LARGEST)


def changes_of(plan: Plan) -> Iterable[Change]:
    return [change for _line, _learner, _title, change in plan.changes]
