"""What signing in through a platform keeps between its two requests: in a table, for minutes.

In the database, so that it holds across web processes and restarts. PyLTI1p3 asks a cache for it,
lets a nonce be used again and gives up on a state once its token has been seen: here a nonce is
used once, and belongs to the state it was made with.
"""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from pylti1p3.contrib.django.session import DjangoSessionService
from pylti1p3.launch_data_storage.base import LaunchDataStorage

from classroom.models import Kept

LOGIN_LASTS = 10 * 60  # seconds, from the platform's first request to its second


class Table(LaunchDataStorage[Any]):
    """PyLTI1p3's storage. No cookie names its keys: each holds 122 random bits."""

    def get_session_cookie_name(self) -> str | None:
        return None

    def can_set_keys_expiration(self) -> bool:
        return True

    def get_value(self, key: str) -> Any:
        return read(self._prepare_key(key))

    def set_value(self, key: str, value: Any, exp: int | None = None) -> None:
        keep(self._prepare_key(key), value, exp or LOGIN_LASTS)

    def check_value(self, key: str) -> bool:
        return read(self._prepare_key(key)) is not None

    def take(self, key: str) -> bool:
        return take(self._prepare_key(key))


class OneTime(DjangoSessionService):
    """Nonces that are gone once they were asked for, whoever asks first."""

    data_storage: Table

    def check_nonce(self, nonce: str) -> bool:
        return self.data_storage.take(self._get_key("nonce", nonce))

    def check_state_is_valid(self, state: str, id_token_hash: str) -> bool:
        return False  # only the browser's cookie says that a state is its own


def keep(key: str, value: Any, seconds: int) -> None:
    until = timezone.now() + timedelta(seconds=seconds)
    Kept.objects.update_or_create(key=key, defaults={"value": value, "expires_at": until})


def read(key: str) -> Any:
    """None: it was never kept, has been taken, or is over."""
    return (
        Kept.objects.filter(key=key, expires_at__gt=timezone.now())
        .values_list("value", flat=True)
        .first()
    )


def take(key: str) -> bool:
    """Whether it was there; only one caller is told so."""
    with transaction.atomic():
        return bool(Kept.objects.filter(key=key, expires_at__gt=timezone.now()).delete()[0])


def forget() -> None:
    """Clear away what is over. Asked often: it only writes where there is something."""
    over = Kept.objects.filter(expires_at__lt=timezone.now())
    if over.exists():
        over.delete()
