"""Reading settings from the environment; a value that makes no sense stops the start."""

import fcntl
import os
import secrets
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

_YES = {"1", "true", "yes", "on"}
_NO = {"0", "false", "no", "off", ""}


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def boolean(name: str, default: bool = False) -> bool:
    value = os.environ.get(name)
    if value is None:
        return default
    if value.strip().lower() in _YES:
        return True
    if value.strip().lower() in _NO:
        return False
    raise ImproperlyConfigured(f"{name} is {value!r}: write 1 or 0.")


def integer(name: str, default: int, low: int = 0, high: int = 2**63 - 1) -> int:
    value = text(name)
    if not value:
        return default
    try:
        number = int(value)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} is {value!r}: write a whole number.") from error
    if number < low:
        raise ImproperlyConfigured(f"{name} is {number}: it must be at least {low}.")
    if number > high:
        raise ImproperlyConfigured(f"{name} is {number}: it must be at most {high}.")
    return number


def database(name: str, default: str) -> dict[str, Any]:
    address = text(name, default)
    try:
        return dict(dj_database_url.parse(address, conn_health_checks=True))
    except (ValueError, dj_database_url.UnknownSchemeError) as error:
        raise ImproperlyConfigured(
            f"{name} cannot be read: write postgres://user:password@host:5432/name, "
            "or leave it unset for SQLite in DATA_DIR."
        ) from error


def words(name: str, default: str = "") -> list[str]:
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def secret(name: str, file: Path) -> str:
    """The secret of that name, or one made once and kept in `file` (readable by its owner)."""
    if value := text(name):
        return value
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600, exist_ok=True)
        with file.open("r+") as kept:
            fcntl.flock(kept, fcntl.LOCK_EX)  # processes that start together make one between them
            if not (value := kept.read()):
                value = secrets.token_urlsafe(48)
                kept.write(value)
            return value
    except OSError as error:
        raise ImproperlyConfigured(
            f"DATA_DIR is {file.parent}, but nothing can be written there ({error.strerror}): "
            "name a folder you may write to, for instance DATA_DIR=$HOME/chainrule."
        ) from error
