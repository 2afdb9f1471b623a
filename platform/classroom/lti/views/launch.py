"""What a platform sends browsers to. Posted from its pages, these two carry no token of ours: the
state in the browser's cookie, the nonce and the platform's signature stand in its place."""

import logging
from urllib.parse import urlencode, urlsplit

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from lti_tool.models import LtiRegistration
from lti_tool.views import jwks
from pylti1p3.exception import LtiException, OIDCException

from accounts import throttle
from classroom.lti import arrivals, launching, tickets
from classroom.lti.views import deep, frames
from classroom.lti.views.methods import READS, only

log = logging.getLogger(__name__)

LAUNCHES = throttle.Limit(  # two a launch; a school behind one address has room
    "lti",
    ((throttle.HOUR, 6000),),
    _("Too many people came from your network’s learning platform. Try again later."),
)
PASSED_ON = (
    "iss", "login_hint", "target_link_uri", "lti_message_hint", "client_id", "lti_deployment_id",
)  # fmt: skip
LONGEST_QUERY = 6000


@csrf_exempt
@never_cache
@only(*READS, "POST")
def login(request: HttpRequest) -> HttpResponse:
    """A platform announces somebody: on to its login, with a state and a nonce."""
    throttle.take_for_network(LAUNCHES, request)
    given = request.POST if request.method == "POST" else request.GET
    params = {name: given[name] for name in PASSED_ON if given.get(name)}
    if frames.is_framed(request) and not _picks(params.get("target_link_uri", "")):
        return _a_window_of_its_own(request, params)
    try:
        return launching.login(request, request.build_absolute_uri(reverse("lti:launch")))
    except OIDCException as error:
        return _refused(request, error)


@csrf_exempt
@never_cache
@only("POST")
def launch(request: HttpRequest) -> HttpResponse:
    """The platform's token: checked, written down, and on to `enter` with a ticket."""
    throttle.take_for_network(LAUNCHES, request)
    try:
        made = launching.launch(request)
        if made.claims.deep is not None:
            deep.require_way_back(made)
    except LtiException as error:
        return _refused(request, error)
    arrival = arrivals.record(made)
    if made.claims.deep is not None and (offered := deep.offer(request, made, arrival)):
        return offered
    response = HttpResponseRedirect(reverse("lti:enter"))
    tickets.issue(response, arrival, made.claims.locale)
    return response


@only(*READS)
def keys(request: HttpRequest) -> HttpResponse:
    """Our public keys, by which platforms know our signature."""
    response: HttpResponse = jwks(request)
    return response


def _picks(target: str) -> bool:
    """Whether a lesson is to be picked: platforms want that in a frame, and it needs no session."""
    try:
        return urlsplit(target).path == reverse("lti:deep-link")
    except ValueError:
        return False


def _refused(request: HttpRequest, error: Exception) -> HttpResponse:
    """What exactly is wrong is for who runs the site."""
    log.warning("A launch was refused: %r", str(error)[:300])
    return render(request, "classroom/lti/refused.html", status=400)


def _a_window_of_its_own(request: HttpRequest, params: dict[str, str]) -> HttpResponse:
    """In a frame browsers keep no cookies of ours: a link begins anew in a window."""
    query = urlencode(params)
    rows = list(LtiRegistration.objects.active().filter(issuer=params.get("iss", "")))
    if not rows or len(query) > LONGEST_QUERY:
        return _refused(request, OIDCException("Framed, and by no platform that we know."))
    return frames.shown(request, "classroom/lti/framed.html", {"query": query}, rows)
