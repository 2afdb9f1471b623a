"""Answers that say the same, graded with one decision."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from classroom import desk, groups, papers, queue
from classroom.grading import PointsGone
from classroom.groups import Crossed, Group, NoGroup
from classroom.judging import Posted, read_judgement
from classroom.rubrics import rubric_of
from classroom.views import taking_back
from classroom.views.asked import Asked, find_asked
from lessons.models import Revision


@require_http_methods(["GET", "HEAD", "POST"])
def group_page(
    request: HttpRequest, cohort: uuid.UUID, activity: str, likeness: str
) -> HttpResponse:
    asked = find_asked(request, cohort, activity)
    try:
        found = queue.entries(asked.cohort, asked.question)
        group = groups.group_of(asked.question, found, likeness)
        if request.method != "POST":
            return _page(request, asked, group)
        posted = read_judgement(request.POST, None)
        if posted.problems:
            return _page(request, asked, group, posted, 422)
        return _decide(request, asked, group, posted)
    except NoGroup:
        messages.info(request, _("These answers no longer wait as a group: look at them below."))
        return redirect(asked.address("question"))


def _decide(request: HttpRequest, asked: Asked, group: Group, posted: Posted) -> HttpResponse:
    try:
        decision = groups.decide(
            asked.cohort, request.user, asked.question, group.likeness, posted.judgement
        )
    except Crossed:
        error = _("One of these was graded in this very moment. Look again, then send.")
        return _page(request, asked, group, posted, 409, error)
    except PointsGone:
        error = _("A point you chose was retired meanwhile. Look again, then send.")
        return _page(request, asked, group, posted, 409, error)
    taking_back.remember_decision(request, decision)
    count = decision.grades.count()
    messages.success(
        request,
        ngettext(
            "%(n)d answer graded with one decision. It can be taken back below.",
            "%(n)d answers graded with one decision. It can be taken back below.",
            count,
        )
        % {"n": count},
    )
    return redirect(asked.address("question"))


def _page(
    request: HttpRequest,
    asked: Asked,
    group: Group,
    posted: Posted | None = None,
    status: int = 200,
    error: str = "",
) -> HttpResponse:
    rubric = rubric_of(asked.cohort, asked.question.activity)
    shown = Revision.objects.filter(pk__in=[entry.revision for entry in group.entries[:6]])
    samples = [papers.paper(asked.question, row, asked.language) for row in shown]
    context = asked.context() | {
        "group": group,
        "samples": samples,
        "more": len(group) - len(samples),
        "bench": desk.bench(asked.question, rubric, asked.language, None, posted),
        "texts": papers.ask_texts(asked.question, asked.language),
        "error": error,
    }
    return render(request, "classroom/queue/group.html", context, status=status)
