"""Re-checks: what can be checked again, and one of them from its start to its end."""

import uuid
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from classroom.access import Teaching, teaching
from classroom.models import Recheck, RecheckState
from classroom.rechecks import asking, targets
from classroom.rechecks.asking import NotNow
from classroom.rechecks.reading import Choices, changed, rows, summary
from classroom.rechecks.working import AT_WORK

PAGE = 50
SHOWN = 30  # earlier re-checks
ACTS: dict[str, Callable[[Recheck, Any], None]] = {
    "apply": asking.apply,
    "stop": asking.stop,
    "go-on": asking.go_on,
    "again": asking.again,
    "drop": asking.drop,
}


@require_http_methods(["GET", "HEAD", "POST"])
def rechecks(request: HttpRequest, cohort_id: uuid.UUID) -> HttpResponse:
    here = teaching(request, cohort_id, instructor=True)
    choices = Choices(here.cohort)
    if request.method == "POST":
        choice = choices.find(request.POST.get("target", ""))
        if choice is None:
            messages.error(request, _("Nothing was handed in or run there: choose another one."))
            return redirect("classroom:rechecks", cohort_id)
        job = asking.start(here.cohort, request.user, choice.target)
        return redirect("classroom:recheck", cohort_id, job.pk)
    jobs = list(Recheck.objects.filter(cohort=here.cohort).order_by("-created_at")[:SHOWN])
    context = {
        **_frame(here),
        "choices": choices,
        "jobs": [(job, choices.named(job)) for job in jobs],
    }
    return render(request, "classroom/records/rechecks.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def recheck(request: HttpRequest, cohort_id: uuid.UUID, job_id: uuid.UUID) -> HttpResponse:
    here = teaching(request, cohort_id, instructor=True)
    job = Recheck.objects.filter(cohort=here.cohort, pk=job_id).select_related("cohort").first()
    if job is None:
        raise Http404(str(job_id))
    if request.method == "POST":
        return _acted(request, job)
    target = targets.of(job)
    listed = Paginator(changed(job), PAGE).get_page(request.GET.get("page"))
    context = {
        **_frame(here),
        "job": job,
        "title": Choices(here.cohort).named(job),
        "summary": summary(job),
        "at_work": job.state in AT_WORK,
        "is_begun": job.items.exclude(applied_at=None).exists(),
        "is_stale": job.state == RecheckState.READY and (not target or target.key != job.key_hash),
        "page": listed,
        "rows": [] if job.state in AT_WORK else rows(job, list(listed)),
    }
    return render(request, "classroom/records/recheck.html", context)


def _acted(request: HttpRequest, job: Recheck) -> HttpResponse:
    act = ACTS.get(request.POST.get("do", ""))
    if act is None:
        raise Http404("no such act")
    try:
        act(job, request.user)
    except NotNow:
        messages.error(
            request, _("This re-check has moved on since the page was opened: here it is now.")
        )
    return redirect("classroom:recheck", job.cohort_id, job.pk)


def _frame(here: Teaching) -> dict[str, Any]:
    return {"cohort": here.cohort, "teaching": here, "tab": "rechecks"}
