"""The rubric of a question, edited in place: what a change re-marks is said before it is made."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from classroom import amounts, points, rubrics
from classroom.models import RubricPoint
from classroom.rubrics import Changed, Draft, Unfit
from classroom.views.asked import Asked, find_asked


@dataclass(frozen=True)
class PointRow:
    point: RubricPoint
    html: SafeString
    words: str
    points: str  # as signed
    typed: str  # as in a form
    holders: int
    error: str = ""


@dataclass(frozen=True)
class Refusal:
    """A form that was not taken: `point` None is the one that adds."""

    point: int | None
    text: str
    points: str
    error: str


@require_http_methods(["GET", "HEAD", "POST"])
def rubric_page(request: HttpRequest, cohort: uuid.UUID, activity: str) -> HttpResponse:
    """GET shows; POST adds a point."""
    asked = find_asked(request, cohort, activity)
    if request.method != "POST":
        return _page(request, asked)
    try:
        draft = rubrics.read(request.POST)
        rubrics.add(asked.cohort, asked.question.activity, request.user, draft)
    except Unfit as unfit:
        return _page(request, asked, _refusal(request, None, str(unfit)), 422)
    messages.success(request, _("The point is in the rubric now."))
    return redirect(asked.address("rubric"))


@require_http_methods(["GET", "HEAD", "POST"])
def point(request: HttpRequest, cohort: uuid.UUID, activity: str, point: int) -> HttpResponse:
    """POST edits, retires or restores one point; a GET leads back to the rubric."""
    asked = find_asked(request, cohort, activity)
    if request.method != "POST":
        return redirect(asked.address("rubric"))
    row = RubricPoint.objects.filter(cohort=asked.cohort, activity=activity, pk=point).first()
    if row is None:
        raise Http404(str(point))
    try:
        said = _change(request, asked, row)
    except Unfit as unfit:
        return _page(request, asked, _refusal(request, point, str(unfit)), 422)
    except Changed:
        error = _(
            "Somebody changed this point since you opened the rubric. Above is how it stands now; "
            "what you typed is kept here."
        )
        return _page(request, asked, _refusal(request, point, error), 409)
    messages.success(request, said)
    return redirect(asked.address("rubric"))


def _change(request: HttpRequest, asked: Asked, row: RubricPoint) -> str:
    version = amounts.whole(request.POST.get("version", "")) or 0
    match request.POST.get("do"):
        case "retire":
            kept = rubrics.retire(row, request.user, version)
            return ngettext(
                "The point is offered no more; %(n)d grade keeps it.",
                "The point is offered no more; %(n)d grades keep it.",
                kept,
            ) % {"n": kept}
        case "restore":
            rubrics.restore(row, request.user, version)
            return _("The point is offered again.")
    draft = rubrics.read(request.POST)
    if draft.text == points.point_words(asked.question, row, asked.language) and not row.text:
        draft = Draft("", draft.points)  # the lesson's own words stay the lesson's
    touched = rubrics.edit(row, request.user, draft, version)
    return ngettext(
        "The point is changed, and %(n)d grade with it.",
        "The point is changed, and %(n)d grades with it.",
        touched,
    ) % {"n": touched}


def _refusal(request: HttpRequest, point: int | None, error: str) -> Refusal:
    text, typed = request.POST.get("text", ""), request.POST.get("points", "")
    return Refusal(point, text[: 2 * rubrics.LONGEST], typed[:40], error)


def _page(
    request: HttpRequest, asked: Asked, refused: Refusal | None = None, status: int = 200
) -> HttpResponse:
    rubric = rubrics.rubric_of(asked.cohort, asked.question.activity)
    holders = rubrics.holders(rubric)
    rows = [_row(asked, row, holders[row.pk], refused) for row in rubric]
    context: dict[str, Any] = asked.context() | {
        "rows": [row for row in rows if not row.point.is_retired],
        "retired": [row for row in rows if row.point.is_retired],
        "refused": refused if refused and refused.point is None else None,
        "longest": rubrics.LONGEST,
    }
    return render(request, "classroom/queue/rubric.html", context, status=status)


def _row(asked: Asked, row: RubricPoint, holders: int, refused: Refusal | None) -> PointRow:
    mine = refused if refused and refused.point == row.pk else None
    return PointRow(
        point=row,
        html=points.point_html(asked.question, row, asked.language),
        words=mine.text if mine else points.point_words(asked.question, row, asked.language),
        points=amounts.signed(row.points),
        typed=mine.points if mine else amounts.points(row.points),
        holders=holders,
        error=mine.error if mine else "",
    )
