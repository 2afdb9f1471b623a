"""From the launch to the first page: one ticket, once, in the browser that brought the launch.

A launch is posted from the platform's page, where our session's cookie does not come along. So it
sets a cookie of its own and leads to a page of ours, which sees both.
"""

import hashlib
import secrets
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from lti_tool.models import LtiContext, LtiUser

from classroom.lti import storage
from classroom.lti.arrivals import Arrival
from classroom.lti.places import Place
from classroom.models import Role

COOKIE = "lti-ticket"
LASTS = 10 * 60  # seconds


@dataclass(frozen=True)
class Ticket:
    key: str
    user: LtiUser
    context: LtiContext | None
    role: Role | None
    place: Place
    locale: str


def issue(response: HttpResponse, arrival: Arrival, locale: str) -> None:
    secret = secrets.token_urlsafe(32)
    kept = {
        "user": arrival.user.pk,
        "context": arrival.context.pk if arrival.context else None,
        "role": arrival.role,
        "place": arrival.place.to_json(),
        "locale": locale,
    }
    storage.keep(_key(secret), kept, LASTS)
    response.set_cookie(
        COOKIE, secret, max_age=LASTS, path="/lti/", httponly=True, samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )  # fmt: skip


def read(request: HttpRequest) -> Ticket | None:
    """This browser's ticket, while it holds."""
    secret = request.COOKIES.get(COOKIE)
    kept = storage.read(_key(secret)) if secret else None
    if kept is None:
        return None
    user = LtiUser.objects.select_related("auth_user", "registration").filter(pk=kept["user"])
    context = LtiContext.objects.filter(pk=kept["context"]).first() if kept["context"] else None
    found = user.filter(registration__is_active=True).first()
    if found is None or (kept["context"] and context is None):
        return None
    role = Role(kept["role"]) if kept["role"] else None
    place = Place.from_json(kept["place"])
    return Ticket(
        _key(str(secret)), found, context, role, place, kept["locale"]
    )  # fmt: skip


def spend(ticket: Ticket) -> bool:
    """False: it was spent before."""
    return storage.take(ticket.key)


def _key(secret: str) -> str:
    return f"ticket-{hashlib.sha256(secret.encode()).hexdigest()}"
