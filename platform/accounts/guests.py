"""Guests: made at the first write, forgotten when nobody can come back to them."""

import hmac
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.contrib.auth import login
from django.contrib.sessions.models import Session
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import get_language

from accounts import throttle
from accounts.holdings import erase
from accounts.models import Person, Tally

BACKEND = "django.contrib.auth.backends.ModelBackend"
SAME_VISIT = timedelta(minutes=1)
IDLE_DAYS = 30
RENEW_AFTER = timedelta(days=30)


def ensure_person(request: HttpRequest) -> Person:
    """The person of this request; a newcomer becomes a guest and is signed in as one.

    Raises TooMany when the client's network has made too many guests.
    """
    if isinstance(request.user, Person):
        return request.user
    guest = _newcomer(request)
    secret = request.META.get("CSRF_COOKIE")
    login(request, guest, backend=BACKEND)
    # Signing in renews the CSRF secret. Here that would break what the page still has to
    # send (the draft after the first one, the form in another tab), and guards nothing.
    if secret:
        request.META["CSRF_COOKIE"] = secret
    return guest


def _newcomer(request: HttpRequest) -> Person:
    """A new guest, or the one that the same browser's other first write has just made."""
    visit = _visit(request)
    same = Person.objects.filter(first_write=visit, is_guest=True) if visit else None
    if same is not None:
        if twin := same.filter(created_at__gte=timezone.now() - SAME_VISIT).first():
            return twin
        same.update(first_write=None)
    throttle.take_for_network(throttle.GUESTS, request)
    language = get_language() or settings.LANGUAGE_CODE
    try:
        with transaction.atomic():
            return Person.objects.create_guest(language, visit)
    except IntegrityError:
        return Person.objects.get(first_write=visit)


def _visit(request: HttpRequest) -> str | None:
    """What a browser's requests share before it has a session: its CSRF secret, hashed."""
    secret: str = request.META.get("CSRF_COOKIE", "")
    if not secret:
        return None
    return hmac.digest(settings.SECRET_KEY.encode(), secret.encode(), "sha256").hex()


@dataclass(frozen=True)
class Forgotten:
    idle: int
    unreachable: int


def forget_guests(idle_days: int = IDLE_DAYS) -> Forgotten:
    """Erase guests who left nothing behind, and those whose cookie has run out."""
    now = timezone.now()
    guests = Person.objects.filter(is_guest=True)
    idle = _without_work(guests).filter(last_login__lt=now - timedelta(days=idle_days))
    done = Forgotten(idle=_erase_all(idle), unreachable=_erase_all(_unreachable(guests)))
    Session.objects.filter(expire_date__lt=now).delete()
    Tally.objects.filter(window_end__lt=now).delete()
    return done


def _unreachable(guests: QuerySet[Person]) -> QuerySet[Person]:
    """Guests whose session has ended: it lasts a year from the last visit that renewed it."""
    longest = timedelta(seconds=settings.SESSION_COOKIE_AGE) + RENEW_AFTER
    return guests.filter(last_login__lt=timezone.now() - longest)


def _without_work(guests: QuerySet[Person]) -> QuerySet[Person]:
    """Guests whom no row of any app belongs to."""
    for relation in Person._meta.related_objects:
        rows = relation.related_model._base_manager.filter(**{relation.field.name: OuterRef("pk")})
        guests = guests.filter(~Exists(rows))
    return guests


def _erase_all(guests: QuerySet[Person]) -> int:
    count = 0
    for guest in guests.iterator():
        erase(guest)
        count += 1
    return count
