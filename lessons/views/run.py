"""POST that starts the step's Procedure on the device chosen."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from lessons import answers
from lessons.content.structure import RunSpec, Step
from lessons.views.found import find, person_of, wants_json, write_as
from runner import api as runner


@dataclass(frozen=True)
class Refusal:
    """Why no Run was started; `code` and `status` are for the page's script."""

    code: str
    status: int
    sentence: str
    url: str = ""  # of the Run that is in the way


@require_POST
def run(request: HttpRequest, course: str, lesson: str, step: str) -> HttpResponse:
    found = find(course)
    here = found.step(found.lesson(lesson), step)
    spec = found.run(here)
    address = reverse("lessons:step", args=[course, lesson, step])
    started = _start(request, here, spec, runner.Origin(course, lesson, step))
    if isinstance(started, Refusal):
        if wants_json(request):
            data = {"error": started.sentence, "code": started.code, "url": started.url}
            return JsonResponse(data, status=started.status)
        messages.error(request, started.sentence)
    elif wants_json(request):
        url = reverse("runner:run", args=[started.id])
        quota = runner.quota(request.user)
        left = {"n": quota.left, "limit": quota.limit, "few": quota.few_left}
        return JsonResponse({"run": str(started.id), "url": url, "left": left}, status=201)
    return HttpResponseRedirect(address, status=303)


def _start(
    request: HttpRequest, step: Step, spec: RunSpec, origin: runner.Origin
) -> runner.RunView | Refusal:
    if locked(request, step, origin.course):
        return Refusal("locked", 409, _("First write down your hypothesis, then press Run."))
    device = request.POST.get("device", "")
    try:
        return runner.submit(
            write_as(request),
            spec.procedure,
            parameters=spec.parameters,
            version=spec.version,
            device=device,
            origin=origin,
        )
    except runner.QuotaSpent as spent:
        return Refusal("quota", 429, _quota_sentence(spent))
    except runner.ActiveRun as active:
        url = reverse("runner:run", args=[active.run_id]) if active.run_id else ""
        sentence = _("One Run at a time: another one of yours is queued or running.")
        return Refusal("active", 409, sentence, url)
    except runner.NoWorker as missing:
        return Refusal("no-worker", 503, _worker_sentence(missing))
    except runner.BadParameter:
        return Refusal("bad-parameter", 400, _("Choose the device this Run is to use."))


def locked(request: HttpRequest, step: Step, course: str) -> bool:
    """Whether the step's Run waits for a hypothesis that this person has not submitted."""
    if step.activity is None or not step.activity.predict:
        return False
    person = person_of(request)
    return person is None or answers.history(person, course, step.activity.id).last is None


def _quota_sentence(spent: runner.QuotaSpent) -> str:
    at = date_format(timezone.localtime(spent.resets_at), "TIME_FORMAT")
    return ngettext(
        "Today’s %(n)d Run is used up. The next one is free from %(time)s UTC.",
        "Today’s %(n)d Runs are used up. The next ones are free from %(time)s UTC.",
        spent.limit,
    ) % {"n": spent.limit, "time": at}


def _worker_sentence(missing: runner.NoWorker) -> str:
    if missing.device == "gpu" and "cpu" in missing.alternatives:
        return _("No GPU is online now. You may choose Triton’s interpreter on the CPU instead.")
    return _("No worker for this device is online now. Try again in a while.")
