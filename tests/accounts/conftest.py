"""Guests and accounts, and an app that holds something of theirs."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from accounts.models import Person
from tests.accounts import holding

PASSWORD = "a long sentence 42"


@pytest.fixture(autouse=True)
def quick_hashes(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def held(settings: Any) -> Iterator[dict[str, list[str]]]:
    """What `tests.accounts.holding` holds, by person; it is the only PERSONAL_DATA module."""
    settings.PERSONAL_DATA = ["tests.accounts.holding"]
    yield holding.WORK
    holding.WORK.clear()


@pytest.fixture
def account(db: None) -> Person:
    return Person.objects.create_user("ada@example.org", PASSWORD, name="Ada", language="fr")


@pytest.fixture
def guest(client: Client, db: None) -> Person:
    """A guest who is signed in to `client`."""
    person = Person.objects.create_guest("en")
    client.force_login(person)
    return person


@pytest.fixture
def outbox() -> list[mail.EmailMessage]:
    return mail.outbox
