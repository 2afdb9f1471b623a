"""What a platform sends browsers to. Posted from its pages, these two carry no token of ours: the
state in the browser's cookie, the nonce and the platform's signature stand in its place."""

import logging
from typing import cast
from urllib.parse import urlencode

from csp.decorators import csp_replace
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from lti_tool.models import LtiRegistration
from lti_tool.views import jwks
from pylti1p3.exception import LtiException, OIDCException

from accounts import throttle
from classroom.lti import arrivals, deep, launching, outgoing, tickets

log = logging.getLogger(__name__)

LAUNCHES = throttle.Limit(  # two a launch; a school behind one address has room
    "lti",
    ((throttle.HOUR, 6000),),
    _("Too many people came from your network's learning platform. Try again later."),
)
FRAMES = {"iframe", "frame", "embed", "object", "fencedframe"}
PASSED_ON = (
    "iss", "login_hint", "target_link_uri", "lti_message_hint", "client_id", "lti_deployment_id",
)  # fmt: skip
LONGEST_QUERY = 6000


@csrf_exempt
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def login(request: HttpRequest) -> HttpResponse:
    """A platform announces somebody: on to its login, with a state and a nonce."""
    throttle.take_for_network(LAUNCHES, request)
    if request.headers.get("Sec-Fetch-Dest") in FRAMES:
        return _framed(request)
    try:
        return launching.login(request, request.build_absolute_uri(reverse("lti:launch")))
    except OIDCException as error:
        return _refused(request, error)


@csrf_exempt
@never_cache
@require_POST
def launch(request: HttpRequest) -> HttpResponse:
    """The platform's token: checked, written down, and on to `enter` with a ticket."""
    throttle.take_for_network(LAUNCHES, request)
    try:
        made = launching.launch(request)
    except LtiException as error:
        return _refused(request, error)
    asked = made.claims.deep
    if asked is not None and not deep.accepts(made.registration, asked):
        log.warning("%s wants a lesson sent to a host that is not its own.", made.registration)
        return _refused(request, LtiException("The answer would go elsewhere."))
    arrival = arrivals.record(made)
    response = HttpResponseRedirect(reverse("lti:enter"))
    tickets.issue(response, arrival, made.claims.locale, asked)
    return response


@require_safe
def keys(request: HttpRequest) -> HttpResponse:
    """Our public keys, by which platforms know our signature."""
    response: HttpResponse = jwks(request)
    return response


def _refused(request: HttpRequest, error: Exception) -> HttpResponse:
    """What exactly is wrong is for who runs the site."""
    log.warning("A launch was refused: %r", str(error)[:300])
    return render(request, "classroom/lti/refused.html", status=400)


def _framed(request: HttpRequest) -> HttpResponse:
    """Our pages stand in nobody's frame, and browsers keep no cookies there. This one does, in the
    platform's: it only holds a link that begins anew in a window of its own."""
    given = request.GET | request.POST if request.method == "POST" else request.GET
    params = {name: given[name] for name in PASSED_ON if given.get(name)}
    query = urlencode(params)
    rows = LtiRegistration.objects.active().filter(issuer=params.get("iss", ""))
    origins = sorted({origin for row in rows for origin in _origins(row)})
    if not origins or len(query) > LONGEST_QUERY:
        return _refused(request, OIDCException("Framed, and by no platform that we know."))

    @xframe_options_exempt
    @csp_replace({"frame-ancestors": origins})
    def page(request: HttpRequest) -> HttpResponse:
        return render(request, "classroom/lti/framed.html", {"query": query})

    return cast(HttpResponse, page(request))


def _origins(registration: LtiRegistration) -> set[str]:
    known = {outgoing.origin_of(registration.auth_url)}
    if outgoing.is_secure(registration.issuer):
        known.add(outgoing.origin_of(registration.issuer))
    return known | {f"https://{row.host}" for row in registration.hosts.all()}
