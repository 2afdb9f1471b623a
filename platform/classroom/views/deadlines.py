"""Until when each lesson is open: for everybody, and longer for one learner."""

import unicodedata
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from classroom import scheduling, titles
from classroom.access import Teaching, learner, teaching
from classroom.cohort_forms import HIDDEN
from classroom.deadlines import Closings, closings
from classroom.models import Cohort, Deadline, Extension, Membership
from classroom.scheduling import Outcome, Trouble, Typed
from classroom.wording import said, said_in


@dataclass(frozen=True)
class LessonEnd:
    """A lesson and what closes it for a reader."""

    id: str
    title: str
    end: Deadline | Extension | None
    said: str
    is_over: bool
    is_extended: bool


@dataclass(frozen=True)
class Line:
    """A lesson's line of the form."""

    id: str
    title: str
    seen: str  # the wall time stored when the page was made
    wall: str  # what the input holds
    said: str
    at: datetime | None
    is_over: bool
    common: str = ""  # on the page of one learner: the cohort's own deadline
    reason: str = ""
    seen_reason: str = ""
    trouble: Trouble | None = None


def lesson_ends(cohort: Cohort, ends: Closings, mine: Membership) -> list[LessonEnd]:
    """Every lesson of the course as it closes for this member."""
    now = timezone.now()
    found = []
    for lesson in titles.lessons(cohort.course):
        end = ends.of(mine.person_id, lesson.id)
        found.append(
            LessonEnd(
                lesson.id,
                lesson.title,
                end,
                said(end) if end else "",
                bool(end and end.at <= now),
                isinstance(end, Extension),
            )
        )
    return found


@require_http_methods(["GET", "HEAD", "POST"])
def deadlines(request: HttpRequest, cohort_id: uuid.UUID) -> HttpResponse:
    """Assistants read them; instructors set them, all in one form."""
    writes = request.method == "POST"
    here = teaching(request, cohort_id, instructor=writes)
    outcome, typed = Outcome(), {}
    if writes:
        typed = _typed(request, here.cohort)
        outcome = scheduling.set_deadlines(here.cohort, request.user, typed)
        if not outcome.troubles:
            _tell(request, outcome)
            return HttpResponseRedirect(reverse("classroom:deadlines", args=[cohort_id]))
    rows = {row.lesson: row for row in Deadline.objects.filter(cohort=here.cohort)}
    context = _context(here) | {"lines": _lines(here.cohort, rows, typed, outcome)}
    status = 422 if outcome.troubles else 200
    return render(request, "classroom/cohorts/deadlines.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def extensions(request: HttpRequest, cohort_id: uuid.UUID, ref: str) -> HttpResponse:
    here = teaching(request, cohort_id, instructor=True)
    member = learner(here.cohort, ref)
    outcome, typed = Outcome(), {}
    if request.method == "POST":
        typed = _typed(request, here.cohort)
        outcome = scheduling.extend(here.cohort, request.user, member, typed)
        if not outcome.troubles:
            _tell(request, outcome)
            return HttpResponseRedirect(request.path)
    ends = closings(here.cohort, member.person)
    rows = {lesson: row for (person, lesson), row in ends.extensions.items()
            if person == member.person_id}  # fmt: skip
    context = _context(here) | {
        "tab": "members",
        "member": member,
        "lines": _lines(here.cohort, rows, typed, outcome, ends.deadlines),
    }
    status = 422 if outcome.troubles else 200
    return render(request, "classroom/cohorts/extensions.html", context, status=status)


def _context(here: Teaching) -> dict[str, Any]:
    return {"cohort": here.cohort, "teaching": here, "tab": "deadlines"}


def _typed(request: HttpRequest, cohort: Cohort) -> dict[str, Typed]:
    """By lesson. A button may hold a time to take in place of what was typed."""
    taken, _space, instead = request.POST.get("take", "").partition(" ")
    found = {}
    for lesson in titles.lessons(cohort.course):
        wall = request.POST.get(f"wall.{lesson.id}", "").strip()[:40]
        found[lesson.id] = Typed(
            seen=request.POST.get(f"seen.{lesson.id}", ""),
            wall=instead if taken == lesson.id else wall,
            reason=_line_of_text(request.POST.get(f"reason.{lesson.id}", "")),
            seen_reason=request.POST.get(f"seen-reason.{lesson.id}", ""),
        )
    return found


def _line_of_text(typed: str) -> str:
    """One space between words, and nothing that cannot be shown."""
    shown = (letter for letter in typed if unicodedata.category(letter) not in HIDDEN)
    return " ".join("".join(shown).split())


def _lines(
    cohort: Cohort,
    rows: Any,
    typed: dict[str, Typed],
    outcome: Outcome,
    common: Any = None,
) -> list[Line]:
    now = timezone.now()
    found = []
    for lesson in titles.lessons(cohort.course):
        row = rows.get(lesson.id)
        wall, reason = (row.wall, getattr(row, "reason", "")) if row else ("", "")
        given = typed.get(lesson.id)
        deadline = (common or {}).get(lesson.id)
        found.append(
            Line(
                id=lesson.id,
                title=lesson.title,
                seen=wall,
                wall=given.wall if given else wall,
                said=said_in(row, cohort.zone) if row else "",
                at=row.at if row else None,
                is_over=bool(row and row.at <= now),
                common=said_in(deadline, cohort.zone) if deadline else "",
                reason=given.reason if given else reason,
                seen_reason=reason,
                trouble=outcome.troubles.get(lesson.id),
            )
        )
    return found


def _tell(request: HttpRequest, outcome: Outcome) -> None:
    if outcome.changed:
        sentence = ngettext("%(n)d line is changed.", "%(n)d lines are changed.", outcome.changed)
        messages.success(request, sentence % {"n": outcome.changed})
    else:
        messages.info(request, _("Nothing was changed."))
    for line in outcome.notes:
        messages.warning(request, line)
