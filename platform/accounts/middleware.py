"""What every request knows of its person, and what every page says to caches."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from math import ceil

from axes.helpers import get_cool_off
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext_lazy as _

from accounts.guests import RENEW_AFTER, ensure_person
from accounts.models import Person
from accounts.throttle import FAILED_SIGN_INS, TooMany


class PersonMiddleware:
    """Gives requests `ensure_person()`; refuses politely; keeps pages out of shared caches.

    It is synchronous, as our views are. Standing last, it makes the whole chain run in the
    view's thread instead of hopping between threads at each middleware.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.ensure_person = partial(ensure_person, request)  # type: ignore[attr-defined]
        response = self.get_response(request)
        _renew(request)
        if "Cache-Control" not in response:
            # Each page is made for one person; "no-cache" lets their browser ask again.
            response["Cache-Control"] = "private, no-cache"
        patch_vary_headers(response, ["Cookie"])
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return refused(request, exception) if isinstance(exception, TooMany) else None


def refused(request: HttpRequest, refusal: TooMany) -> HttpResponse:
    """429 with the sentence of the limit: a page, or JSON for a script that asked for it."""
    response: HttpResponse
    if _wants_json(request):
        response = JsonResponse({"error": str(refusal.sentence)}, status=429)
    else:
        context = {"sentence": refusal.sentence, "minutes": ceil(refusal.retry_after / 60)}
        response = render(request, "accounts/refused.html", context, status=429)
    response["Retry-After"] = str(refusal.retry_after)
    return response


def locked_out(request: HttpRequest, *_details: object) -> HttpResponse:
    """django-axes: this address and this network failed to sign in too often."""
    cooling: timedelta = get_cool_off(request) or timedelta()
    return refused(request, TooMany(FAILED_SIGN_INS, int(cooling.total_seconds())))


def stale(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form whose CSRF token is not of this session: mostly one from before signing in."""
    if _wants_json(request):
        sentence = _("This page is out of date. Reload it, then send again.")
        return JsonResponse({"error": str(sentence)}, status=403)
    return render(request, "accounts/stale.html", status=403)


def _wants_json(request: HttpRequest) -> bool:
    kind = request.get_preferred_type(["text/html", "application/json"])
    return kind == "application/json"


def _renew(request: HttpRequest) -> None:
    """Let the year of the cookie begin anew for who still comes."""
    person = getattr(request, "_cached_user", None)  # never ask the database for this alone
    if not isinstance(person, Person) or person.pk is None or person.last_login is None:
        return
    now = timezone.now()
    if now - person.last_login > RENEW_AFTER:
        Person.objects.filter(pk=person.pk).update(last_login=now)
        request.session.modified = True
