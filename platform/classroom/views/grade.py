"""One answer at the grading desk: shown, graded, taken back."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from classroom import desk, grading, groups, markdown, papers
from classroom.access import teaching
from classroom.amounts import whole
from classroom.grading import AnswerGone, Conflict, PointsGone, Written
from classroom.judging import Posted, read_judgement
from classroom.points import point_html
from classroom.queue import Entry
from classroom.rubrics import rubric_of
from classroom.views import taking_back
from classroom.views.asked import Asked, Choice, Line, choice_of, find_asked, line
from lessons.models import Revision
from lessons.views.found import wants_json
from runner import api as runner

_JSON = "application/json"


@require_http_methods(["GET", "HEAD", "POST"])
def grade_page(request: HttpRequest, cohort: uuid.UUID, activity: str, ref: str) -> HttpResponse:
    asked = find_asked(request, cohort, activity)
    choice = choice_of(request)
    if request.method == "POST":
        return _write(request, asked, choice, ref)
    here = line(asked, choice)
    entry = here.entry(ref)
    if entry is None:
        return _gone(request, asked)
    return _desk_page(request, asked, choice, here, entry, whole(request.GET.get("revision", "")))


@require_safe
def run_part(request: HttpRequest, cohort: uuid.UUID, activity: str, ref: str) -> HttpResponse:
    """The Run that a revision rests on, drawn as its owner saw it."""
    asked = find_asked(request, cohort, activity)
    revision = Revision.objects.filter(
        answer__person__memberships__cohort=asked.cohort,
        answer__person__memberships__ref=ref,
        answer__course=asked.cohort.course,
        answer__activity=activity,
        number=whole(request.GET.get("revision", "")) or 0,
    ).first()
    if revision is None or revision.run is None:
        raise Http404(ref)
    try:
        snapshot = runner.snapshot(revision.run, request.user)
    except runner.RunNotFound:
        snapshot = None
    context = asked.context() | {"snapshot": snapshot, "ref": ref}
    return render(request, "classroom/queue/run.html", context)


@require_POST
def preview(request: HttpRequest, cohort: uuid.UUID) -> HttpResponse:
    """A comment as its learner will read it."""
    teaching(request, cohort)
    return HttpResponse(markdown.render(request.POST.get("comment", "")[: grading.LONGEST_COMMENT]))


def _write(request: HttpRequest, asked: Asked, choice: Choice, ref: str) -> HttpResponse:
    """The form of a judgement was sent: take it, or say what stands in the way."""
    posted_id = request.POST.get("revision", "")
    revision = _revision(asked, ref, posted_id)
    if revision is None:
        return _gone(request, asked)
    posted = read_judgement(request.POST, revision.content)
    if request.POST.get("do") == "preview":
        return _again(request, asked, choice, ref, revision, posted, 200)
    if posted.problems:
        return _again(request, asked, choice, ref, revision, posted, 422)
    try:
        written = grading.write(
            asked.cohort, request.user, revision.pk, posted.judgement, posted.seen
        )
    except Conflict as conflict:
        theirs = {"conflict": True, "theirs": conflict.grade}
        return _again(request, asked, choice, ref, revision, posted, 409, theirs)
    except PointsGone as gone:
        words = [point_html(asked.question, point, asked.language) for point in gone.points]
        return _again(
            request, asked, choice, ref, revision, posted, 409, {"points_gone": words or [""]}
        )
    except AnswerGone:
        return _gone(request, asked)
    if posted.reply:
        grading.reply(asked.cohort, request.user, written.grade, posted.reply)
    taking_back.remember_grade(request, asked.activity, ref, written)
    return _taken(request, asked, choice, ref, revision, written)


def _taken(
    request: HttpRequest,
    asked: Asked,
    choice: Choice,
    ref: str,
    revision: Revision,
    written: Written,
) -> HttpResponse:
    """Stored: on to the next answer, or back to this one."""
    stays = request.POST.get("do") == "stay"
    address = asked.address("grade", ref)
    newer = ""
    if written.newer:
        newer = _(
            "A new answer was sent in while you graded. Your grade stays with answer %(old)d; "
            "answer %(new)d now waits for a grade of its own."
        ) % {"old": revision.number, "new": written.newer}
    if wants_json(request):
        saved = {"saved": written.grade.version, "said": newer, "url": address if newer else ""}
        return JsonResponse(saved | {"turn": _turn(asked, choice, ref)})
    if newer:
        messages.warning(request, newer)
    if stays or newer:
        return redirect(f"{address}{choice.query}")
    following = line(asked, choice).after(ref)
    if following is None:
        return redirect(asked.address("question") + choice.query)
    return redirect(asked.address("grade", following.ref) + choice.query)


def _turn(asked: Asked, choice: Choice, ref: str) -> dict[str, str] | None:
    """What follows the answer that a script has turned to already, now that this one is stored."""
    here = line(asked, choice)
    following = here.after(ref)
    if following is None:
        return None
    then = here.after(following.ref)
    return {
        "ref": following.ref,
        "next": asked.address("grade", then.ref) + choice.query if then else "",
        "left": _left(len(here.entries)),
    }


def _left(count: int) -> str:
    return ngettext("%(n)d left", "%(n)d left", count) % {"n": count}


def _again(
    request: HttpRequest,
    asked: Asked,
    choice: Choice,
    ref: str,
    revision: Revision,
    posted: Posted,
    status: int,
    more: dict[str, Any] | None = None,
) -> HttpResponse:
    """The desk with the form as it was sent, and why it was not taken."""
    here = line(asked, choice)
    entry = here.entry(ref)
    if entry is None:
        return _gone(request, asked)
    page = _desk_page(request, asked, choice, here, entry, revision.number, posted, more)
    page.status_code = status
    if not wants_json(request):
        return page
    sentence = _("Your grade of %(ref)s is not stored yet: it needs another look.") % {"ref": ref}
    return JsonResponse({"error": sentence, "page": page.content.decode()}, status=status)


def _desk_page(
    request: HttpRequest,
    asked: Asked,
    choice: Choice,
    here: Line,
    entry: Entry,
    number: int | None,
    posted: Posted | None = None,
    more: dict[str, Any] | None = None,
) -> HttpResponse:
    rubric = rubric_of(asked.cohort, asked.question.activity)
    if number is None and choice.part.value == "looks" and entry.look:
        number = entry.look
    try:
        shown = desk.desk(
            asked.cohort, asked.question, entry.revision, rubric, asked.language, number, posted
        )
    except desk.NoSuchRevision:
        return _gone(request, asked)
    texts = papers.ask_texts(asked.question, asked.language)
    following, previous = here.after(entry.ref), here.before(entry.ref)
    same = next(
        (g for g in groups.groups(asked.question, here.everything) if entry in g.entries), None
    )
    context = asked.context() | {
        "choice": choice,
        "entry": entry,
        "desk": shown,
        "bench": shown.bench,
        "texts": texts,
        "group": same,
        "next": asked.address("grade", following.ref) + choice.query if following else "",
        "previous": asked.address("grade", previous.ref) + choice.query if previous else "",
        "left": _left(len(here.entries)),
        "total": len(here.everything),
        "place": here.everything.index(entry) + 1,
        "undo": taking_back.remembered(request, asked.cohort),
        **_theirs(request, asked, more or {}),
    }
    return render(request, "classroom/queue/grade.html", context)


def _theirs(request: HttpRequest, asked: Asked, more: dict[str, Any]) -> dict[str, Any]:
    """What stands there by now, drawn as the form draws it: another grader's, or their own."""
    grade = more.get("theirs")
    if grade is None:
        return more
    rubric = rubric_of(asked.cohort, asked.question.activity)
    return more | {
        "their_bench": desk.bench(asked.question, rubric, asked.language, grade),
        "is_own": grade.grader_id == request.user.pk,
    }


def _revision(asked: Asked, ref: str, revision_id: str) -> Revision | None:
    """The submission named by the form, where it is that learner's and they still learn here."""
    try:
        key = uuid.UUID(revision_id)
    except ValueError:
        return None
    return (
        Revision.objects.filter(
            pk=key,
            answer__activity=asked.activity,
            answer__course=asked.cohort.course,
            answer__person__memberships__cohort=asked.cohort,
            answer__person__memberships__ref=ref,
        )
        .select_related("answer")
        .first()
    )


def _gone(request: HttpRequest, asked: Asked) -> HttpResponse:
    """The learner left, was erased, or never answered: said, not just missing."""
    sentence = _(
        "There is no such answer here any more: its learner has left the cohort or was erased. "
        "Nothing of it is left to grade."
    )
    if wants_json(request):
        return JsonResponse({"error": sentence, "page": ""}, status=404)
    context = asked.context() | {"sentence": sentence}
    return render(request, "classroom/queue/gone.html", context, status=404)
