"""POST that starts the step's Procedure on the device chosen."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from lessons import answers
from lessons.content.structure import RunSpec, Step
from lessons.gates import closed
from lessons.views.found import find, person_of, wants_json, write_as
from runner import api as runner
from runner.pages import REFUSED, Refusal, refusal


@require_POST
def run(request: HttpRequest, course: str, lesson: str, step: str) -> HttpResponse:
    found = find(course)
    here = found.step(found.lesson(lesson), step)
    spec = found.run(here)
    address = reverse("lessons:step", args=[course, lesson, step])
    origin = runner.Origin(course, lesson, step)
    started = _start(request, here, spec, origin)
    if isinstance(started, Refusal):
        if wants_json(request):
            shown = _shown(request, spec, origin)
            data = started.data() | {"here": bool(started.run) and started.run == shown}
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
    if locked(request, step, origin):
        return Refusal("locked", 409, _("First write down your hypothesis, then press Run."))
    device = request.POST.get("device", "")
    spec = spec.on(device)
    try:
        return runner.submit(
            write_as(request),
            spec.procedure,
            parameters=spec.parameters,
            version=spec.version,
            device=device,
            origin=origin,
        )
    except REFUSED as refused:
        return refusal(refused, _("Choose the device this Run is to use."))


def _shown(request: HttpRequest, spec: RunSpec, origin: runner.Origin) -> str:
    """Which Run the panel of this step shows when it is read anew."""
    if not request.user.is_authenticated:
        return ""
    latest = runner.latest(request.user, origin, spec.procedure)
    return str(latest.run.id) if latest else ""


def locked(request: HttpRequest, step: Step, origin: runner.Origin) -> bool:
    """Whether the step's Run waits for a hypothesis that this person can still submit."""
    if step.activity is None or not step.activity.predict:
        return False
    person = person_of(request)
    if person is None:
        return True
    if answers.history(person, origin.course, step.activity.id).last is not None:
        return False
    return closed(person, origin.course, origin.lesson) is None
