"""The pages of Runs. Whose Run may be seen is asked of `runner.api`, once, by each view."""

import json
import re
import uuid
import zlib
from collections.abc import AsyncIterator, Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
    JsonResponse,
    StreamingHttpResponse,
)
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from runner import api
from runner.api import Origin, RunNotFound, RunView
from runner.overlay import overlay
from runner.panel import elapsed, run_panel, title
from runner.refusals import REFUSED, refusal
from runner.wording import Wording

HISTORY = 50
SLUG = re.compile(r"[-a-zA-Z0-9_]{1,80}")  # what the address of a step may hold
PICTURES = {"image/png", "image/svg+xml"}
# A picture is shown by its own address too: there it may run nothing and load nothing.
SEALED = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
Rest = ParamSpec("Rest")
Line = Callable[[dict[str, Any]], str]
View = Callable[Concatenate[HttpRequest, Rest], HttpResponseBase]


def missing_is_404(view: "View[Rest]") -> "View[Rest]":
    """A Run that is not there and one that is somebody else's are the same page."""

    @wraps(view)
    def guarded(
        request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs
    ) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except RunNotFound as missing:
            raise Http404 from missing

    return guarded


@require_safe
@missing_is_404
def run(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """A Run at its own address, for its owner and whoever they share it with."""
    return render(request, "runner/run.html", {"snapshot": api.snapshot(run_id, request.user)})


@require_safe
def history(request: HttpRequest) -> HttpResponse:
    """My Runs, of one step where the address names it."""
    named = [request.GET.get(name, "") for name in ("course", "lesson", "step")]
    origin = Origin(*named) if all(SLUG.fullmatch(part) for part in named) else Origin()
    runs = api.history(request.user, origin, HISTORY)
    context = {"origin": origin, "rows": [row(run) for run in runs]}
    return render(request, "runner/history.html", context)


@require_safe
@missing_is_404
def compare(request: HttpRequest) -> HttpResponse:
    """Two Runs side by side: ?a=…&b=…"""
    picked = [value for name in ("a", "b") if (value := request.GET.get(name))]
    picked = list(dict.fromkeys(picked or request.GET.getlist("run")))[:2]
    snapshots = [api.snapshot(run_id, request.user) for run_id in picked]
    panels = [run_panel(snapshot, request.user, level=2) for snapshot in snapshots]
    context = {"panels": panels, "overlay": overlay(panels)}
    return render(request, "runner/compare.html", context)


@require_safe
@missing_is_404
def events(request: HttpRequest, run_id: uuid.UUID) -> StreamingHttpResponse:
    """Every Event as it was stored, one JSON object a line."""
    found = api.get(run_id, request.user)

    def line(event: dict[str, Any]) -> str:
        return json.dumps(event, ensure_ascii=False) + "\n"

    return download(request, found, line, f"run-{found.id.hex[:8]}.jsonl", "application/jsonl")


@require_safe
@missing_is_404
def log(request: HttpRequest, run_id: uuid.UUID) -> StreamingHttpResponse:
    """The log as text: every sentence and every line that its Events hold."""
    found = api.get(run_id, request.user)
    language = get_language() or "en"
    wording = Wording(language, api.messages(language))

    def line(event: dict[str, Any]) -> str:
        if event["kind"] != "log":
            return ""
        said = event["data"].get("text") or wording.note(event["data"].get("note"))
        return f"{event['at']} {said.rstrip()}\n"

    name = f"run-{found.id.hex[:8]}.log.txt"
    return download(request, found, line, name, "text/plain; charset=utf-8")


@require_safe
@missing_is_404
def artifact(request: HttpRequest, run_id: uuid.UUID, name: str) -> FileResponse:
    """A file that the Run wrote. Pictures are shown, everything else is downloaded."""
    view, file = api.artifact(run_id, request.user, name)
    shown = view.media in PICTURES
    response = FileResponse(
        file,
        as_attachment=not shown,
        filename=view.name.rsplit("/", 1)[-1],
        content_type=view.media if shown else "application/octet-stream",
    )
    response["Content-Security-Policy"] = SEALED
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, max-age=86400"
    return response


@require_POST
@missing_is_404
def stop(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Take it out of the queue, or ask it to end."""
    return steered(request, api.stop(run_id, request.user))


@require_POST
@missing_is_404
def checkpoint(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    return steered(request, api.checkpoint(run_id, request.user))


@require_POST
@missing_is_404
def resume(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """A new Run that goes on from a checkpoint of this one."""
    file, steps = (request.POST.get(name, "") for name in ("file", "steps"))
    return led_on(request, run_id, lambda: api.resume(run_id, request.user, file, steps or None))


@require_POST
@missing_is_404
def prove(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """A new Run that proves, with this one's model, that stopping and resuming changes nothing."""
    return led_on(request, run_id, lambda: api.prove(run_id, request.user))


def led_on(request: HttpRequest, run_id: uuid.UUID, submit: Callable[[], RunView]) -> HttpResponse:
    """To the new Run; or why there is none."""
    try:
        started = submit()
    except REFUSED as refused:
        steps = _(
            "This number of steps is not accepted. Write a whole number above the step of the "
            "checkpoint and at most twice the length of this Run."
        )
        why = refusal(refused, steps)
        if not request.accepts("text/html"):
            return JsonResponse(why.data(), status=why.status)
        messages.error(request, why.sentence)
        return HttpResponseRedirect(reverse("runner:run", args=[run_id]), status=303)
    url = reverse("runner:run", args=[started.id])
    if not request.accepts("text/html"):
        return JsonResponse({"run": str(started.id), "url": url}, status=201)
    return HttpResponseRedirect(url, status=303)


def steered(request: HttpRequest, found: RunView) -> HttpResponse:
    if request.accepts("text/html"):
        return redirect("runner:run", found.id)
    return JsonResponse({"run": str(found.id), "state": found.state, "stopping": found.stopping})


def download(
    request: HttpRequest, found: RunView, line: Line, name: str, media: str
) -> StreamingHttpResponse:
    """All Events of the Run as lines of a file, read and sent in pages. A HEAD reads none: a page
    asks that way whether its Run is still there."""
    lines = nothing() if request.method == "HEAD" else pages(found, request.user, line)
    zipped = "gzip" in request.headers.get("Accept-Encoding", "")
    response = StreamingHttpResponse(gzipped(lines) if zipped else lines, content_type=media)
    if zipped:
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ("Accept-Encoding",))
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


async def pages(found: RunView, viewer: Any, line: Line) -> AsyncIterator[bytes]:
    after = 0
    while page := await sync_to_async(api.events_after)(found.id, viewer, after):
        yield "".join(map(line, page)).encode()
        after = page[-1]["seq"]


async def nothing() -> AsyncIterator[bytes]:
    return
    yield


async def gzipped(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """One gzip stream. Django's own middleware would make one of each part, which clients that
    read only the first take for the whole."""
    packer = zlib.compressobj(wbits=31)
    async for part in parts:
        yield packer.compress(part)
    yield packer.flush()


def row(found: RunView) -> dict[str, Any]:
    """A Run as a line of the history."""
    language = get_language() or "en"
    wording = Wording(language, api.messages(language))
    word = wording.say(f"outcome.{found.outcome}" if found.outcome else found.state)
    return {
        "run": found,
        "title": title(found.procedure, wording),
        "word": word,
        "cases": (found.passed or 0) + (found.failed or 0),
        "elapsed": elapsed(found, wording),
    }
