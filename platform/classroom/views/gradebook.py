"""The gradebook: learners × lessons, one lesson's questions, adjusting, releasing."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from classroom import amounts
from classroom.access import NotAMember, Teaching, learner, teaching
from classroom.adjusting import LONGEST_REASON, ZERO, Change, Stale, Stood, adjust, adjustments
from classroom.gradebook import (
    BY_NAME,
    BY_TOTAL,
    Book,
    Held,
    Order,
    book,
    held_back,
    held_lessons,
    lesson_book,
)
from classroom.importing import points_sentence, read_points
from classroom.lti.wording import told
from classroom.models import Adjustment, Import
from classroom.progress import activities, course_of
from classroom.releasing import release
from classroom.titles import Titles, titles_of
from classroom.views.book_cells import Head, head_of, lesson_row, row
from classroom.views.members import note_names_seen
from lessons.content.structure import Lesson

JUST_IMPORTED = "just-imported"  # in a session: the import that the next look can undo


def keeper(request: HttpRequest, cohort_id: uuid.UUID, *, instructor: bool = False) -> Teaching:
    """Who may open the gradebook: a teacher who may see names. Raises NotAMember."""
    here = teaching(request, cohort_id, instructor=instructor)
    if not here.may_see_names:
        raise NotAMember(str(cohort_id))
    return here


@require_safe
def gradebook(request: HttpRequest, cohort_id: uuid.UUID) -> HttpResponse:
    here = keeper(request, cohort_id)
    note_names_seen(here)
    course = course_of(here.cohort)
    lessons = course.lessons if course else ()
    order = _order(request, {lesson.id for lesson in lessons})
    found = book(here.cohort, order, request.GET.get("page", 1))
    titles = titles_of(here.cohort.course)
    context = _context(here, found) | {
        "rows": [row(line) for line in found.lines],
        "heads": [
            _lesson_head(here, titles, order, lesson, place)
            for place, lesson in enumerate(lessons, start=1)
        ],
        "held": held_lessons(here.cohort, titles),
        "marks": told(here.cohort),
        "just_imported": _just_imported(request, here),
    }
    return render(request, "classroom/gradebook/book.html", context)


@require_safe
def lesson(request: HttpRequest, cohort_id: uuid.UUID, lesson: str) -> HttpResponse:
    here = keeper(request, cohort_id)
    named = _lesson(here, lesson)
    note_names_seen(here)
    titles = titles_of(here.cohort.course)
    assert titles is not None
    asked = [(step, step.activity) for step in named.steps if step.activity]
    order = _order(request, {activity.id for _step, activity in asked})
    found = lesson_book(here.cohort, named, order, request.GET.get("page", 1))
    reasons = dict(
        Adjustment.objects.filter(cohort=here.cohort, lesson=named.id).values_list(
            "person_id", "reason"
        )
    )
    held = held_back(here.cohort)
    heads = []
    for place, (step, activity) in enumerate(asked, start=1):
        address = reverse("classroom:question", args=[here.cohort.pk, activity.id])
        title = titles.question(named, step)
        heads.append(
            head_of(order, activity.id, str(place), title, address, held.get(activity.id, 0))
        )
    context = _context(here, found) | {
        "lesson": named,
        "lesson_title": titles.lesson(named),
        "number": found.work.lessons.index(named) + 1,
        "rows": [
            lesson_row(here.cohort, line, activities(named), reasons.get(line.learner.person, ""))
            for line in found.lines
        ],
        "heads": heads,
        "held": [
            Held(head_id, head.title, head.held)
            for head, (_step, activity) in zip(heads, asked, strict=True)
            if head.held and (head_id := activity.id)
        ],
        "longest_reason": LONGEST_REASON,
    }
    return render(request, "classroom/gradebook/lesson.html", context)


@require_POST
def adjust_one(request: HttpRequest, cohort_id: uuid.UUID, lesson: str) -> HttpResponse:
    """Set one learner's adjustment in a lesson. The form says which one it had seen."""
    here = keeper(request, cohort_id, instructor=True)
    named = _lesson(here, lesson)
    who = learner(here.cohort, request.POST.get("ref", ""))
    typed = request.POST.get("points", "")
    points, seen = read_points(typed), read_points(request.POST.get("seen", "0"))
    reason = " ".join(request.POST.get("reason", "").split())[:LONGEST_REASON]
    if points is None:
        messages.error(request, points_sentence(typed))
    else:
        try:
            adjust(
                here.cohort, request.user, Change(who.ref, named.id, seen or ZERO, points, reason)
            )
            messages.success(request, _("The adjustment is saved."))
        except Stale:
            now = adjustments(here.cohort).get((who.person_id, named.id), Stood()).points
            messages.error(
                request,
                _(
                    "Somebody changed this adjustment meanwhile: it is %(now)s now. Nothing was "
                    "overwritten; set it again if it should be another."
                )
                % {"now": amounts.signed(now)},
            )
    return _back(request, "gradebook-lesson", cohort_id, named.id)


@require_POST
def release_grades(request: HttpRequest, cohort_id: uuid.UUID) -> HttpResponse:
    """Publish what is held back of a lesson, or of one question (`activity`)."""
    here = teaching(request, cohort_id, instructor=True)
    lesson, activity = request.POST.get("lesson", ""), request.POST.get("activity", "")
    named = _lesson(here, lesson)
    asked = [item.id for item in activities(named) if activity in ("", item.id)]
    if not asked:
        raise Http404(activity)
    count = release(here.cohort, request.user, activity or f"lesson {named.id}", asked)
    if count:
        sentence = ngettext(
            "%(n)d grade is released: its learner sees it now.",
            "%(n)d grades are released: their learners see them now.",
            count,
        )
        messages.success(request, sentence % {"n": count})
    else:
        messages.info(request, _("There was nothing left to release."))
    if request.POST.get("from") == "queue":
        return HttpResponseRedirect(reverse("classroom:queue", args=[cohort_id]))
    if request.POST.get("from") == "lesson":
        return _back(request, "gradebook-lesson", cohort_id, named.id)
    return _back(request, "gradebook", cohort_id)


def _back(request: HttpRequest, name: str, *args: Any) -> HttpResponse:
    """To the page of the table that the form stood on."""
    query = request.POST.get("query", "")
    known = f"?{query}" if all(c.isalnum() or c in "-_=&" for c in query) and query else ""
    return HttpResponseRedirect(reverse(f"classroom:{name}", args=args) + known)


def _lesson(here: Teaching, lesson: str) -> Lesson:
    course = course_of(here.cohort)
    named = course.lesson(lesson) if course else None
    if named is None:
        raise Http404(lesson)
    return named


def _order(request: HttpRequest, columns: set[str]) -> Order:
    by = request.GET.get("sort", BY_NAME)
    if by not in columns | {BY_NAME, BY_TOTAL}:
        by = BY_NAME
    return Order(by, request.GET.get("down") == "1")


def _context(here: Teaching, found: Book) -> dict[str, Any]:
    page = found.page
    return {
        "cohort": here.cohort,
        "teaching": here,
        "tab": "gradebook",
        "order": found.order,
        "query": f"{found.order.query}&page={page.number}",
        "page": page,
        "learners": page.paginator.count,
        "name_head": head_of(found.order, BY_NAME, "", _("Learner")),
        "total_head": head_of(found.order, BY_TOTAL, "", _("Total")),
    }


def _lesson_head(
    here: Teaching, titles: Titles | None, order: Order, lesson: Lesson, place: int
) -> Head:
    address = reverse("classroom:gradebook-lesson", args=[here.cohort.pk, lesson.id])
    title = titles.lesson(lesson) if titles else lesson.id
    return head_of(order, lesson.id, str(place), title, address)


def _just_imported(request: HttpRequest, here: Teaching) -> Import | None:
    """What this session has just imported into this cohort, once, for an undo beside the news."""
    key = request.session.pop(JUST_IMPORTED, None)
    if key is None:
        return None
    rows = Import.objects.filter(cohort=here.cohort, pk=key, undone_at=None)
    return rows.first()
