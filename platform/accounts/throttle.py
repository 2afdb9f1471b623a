"""How often one client may do what costs us something: each limit is a row of a table.

The counts are in the database, so that they hold across web processes and restarts, and
while the broker is away.
"""

import hmac
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil

from django.conf import settings
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.addresses import client_ip, network
from accounts.models import Tally

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Limit:
    """`sentence` is shown to who is refused; a classroom behind one address must fit in."""

    name: str
    windows: tuple[tuple[timedelta, int], ...]
    sentence: str | Promise


GUESTS = Limit(
    "guest",
    ((HOUR, settings.GUESTS_PER_HOUR), (DAY, 5 * settings.GUESTS_PER_HOUR)),
    _(
        "Many people have started from your network within a short time, so nothing was saved. "
        "Sign in to go on now, or try again later."
    ),
)
SIGN_UPS = Limit(
    "sign-up",
    ((HOUR, 120),),
    _("Too many attempts to sign up came from your network. Try again later."),
)
SIGN_INS = Limit(
    "sign-in",
    ((HOUR, 300),),
    _("Too many attempts to sign in came from your network. Try again later."),
)
FAILED_SIGN_INS = Limit(  # counted by django-axes, by address and network together
    "failed-sign-in",
    (),
    _(
        "Signing in failed too often. If you have forgotten your password, "
        "you can choose a new one."
    ),
)
PASSWORD_CHECKS = Limit(
    "password",
    ((HOUR, 20),),
    _("The password was entered too often. Try again later."),
)
RESETS = Limit(
    "reset",
    ((HOUR, 60),),
    _("Too many messages were asked for from your network. Try again later."),
)
EXPORTS = Limit(
    "export",
    ((HOUR, 20),),
    _("Your data is being exported, or was exported often within an hour. Try again later."),
)
RESETS_TO_ONE_ADDRESS = Limit("reset-to", ((HOUR, 3),), "")  # never shown: it would tell


class TooMany(Exception):
    """The limit is used up; `retry_after` is in seconds."""

    def __init__(self, limit: Limit, retry_after: int) -> None:
        super().__init__(limit.name)
        self.sentence = limit.sentence
        self.retry_after = retry_after


def take_for_network(limit: Limit, request: HttpRequest) -> None:
    """Tally one use by this client's network; raises TooMany where none is left."""
    take(limit, network(client_ip(request)))


def take(limit: Limit, who: str) -> None:
    """Tally one use by `who`; raises TooMany where none is left."""
    now = timezone.now()
    for length, most in limit.windows:
        end = _window_end(now, length)
        if not _counted(_hash(f"{limit.name}:{length}:{who}"), end, most):
            raise TooMany(limit, retry_after=ceil((end - now).total_seconds()))


def _counted(client: str, end: datetime, most: int) -> bool:
    counts = Tally.objects.filter(client=client, window_end=end)
    if counts.filter(used__lt=most).update(used=F("used") + 1):
        return True
    _count, is_first = Tally.objects.get_or_create(client=client, window_end=end)
    # Another request may have made the first count in between.
    return is_first or bool(counts.filter(used__lt=most).update(used=F("used") + 1))


def _window_end(now: datetime, length: timedelta) -> datetime:
    start = datetime(2000, 1, 1, tzinfo=UTC)
    return start + ((now - start) // length + 1) * length


def _hash(text: str) -> str:
    return hmac.digest(settings.SECRET_KEY.encode(), text.encode(), "sha256").hex()
