"""The few pages that a platform may show in a frame of its own page. They need no cookie and hold
nothing that is anybody's: a link that opens a window, lessons to pick, the way back."""

from collections.abc import Iterable
from typing import Any, cast

from csp.constants import SELF
from csp.decorators import csp_replace
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.clickjacking import xframe_options_exempt
from lti_tool.models import LtiRegistration

from classroom.lti import outgoing

FRAMES = {"iframe", "frame", "embed", "object", "fencedframe"}


def is_framed(request: HttpRequest) -> bool:
    """As every browser of today says of its own."""
    return request.headers.get("Sec-Fetch-Dest") in FRAMES


def shown(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    platforms: Iterable[LtiRegistration],
    *,
    status: int = 200,
    sends_to: str = "",
) -> HttpResponse:
    """A page that these platforms may frame, and whose forms lead to us, or to `sends_to`."""
    origins = sorted({origin for platform in platforms for origin in origins_of(platform)})
    policy = {"frame-ancestors": origins, "form-action": [SELF, sends_to] if sends_to else [SELF]}

    @xframe_options_exempt
    @csp_replace(policy)
    def page(request: HttpRequest) -> HttpResponse:
        return render(request, template, context, status=status)

    return cast(HttpResponse, page(request))


def origins_of(platform: LtiRegistration) -> set[str]:
    """From where it may frame us: its login's host, its issuer, and the further hosts."""
    known = {outgoing.origin_of(platform.auth_url)}
    if outgoing.is_secure(platform.issuer):
        known.add(outgoing.origin_of(platform.issuer))
    return known | {f"https://{row.host}" for row in platform.hosts.all()}
