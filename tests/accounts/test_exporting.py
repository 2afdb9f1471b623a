"""An export through the web server's own door: sent in parts, and ended by whoever leaves."""

import asyncio
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.conf import settings as configured
from django.core.asgi import get_asgi_application
from django.test import Client

from accounts import exporting
from accounts.models import Person
from tests.accounts import holding

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def client_of(guest: Person, client: Client) -> ApplicationCommunicator:
    cookie = f"{configured.SESSION_COOKIE_NAME}={client.session.session_key}"
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "path": "/en/account/export/",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"cookie", cookie.encode())],
    }
    return ApplicationCommunicator(get_asgi_application(), scope)


@pytest.fixture
def long_data(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """One list of 400 items of 16 KiB; how many of them were made."""
    made = {"items": 0}

    def export_person(person: Person) -> dict[str, Any]:
        def items() -> Any:
            for _ in range(400):
                made["items"] += 1
                yield "x" * 16_384

        return {"words": items()}

    monkeypatch.setattr(holding, "export_person", export_person)
    return made


async def test_parts_are_made_as_they_are_sent(
    guest: Person, client_of: ApplicationCommunicator, long_data: dict[str, int]
) -> None:
    await client_of.send_input({"type": "http.request"})
    assert (await client_of.receive_output(20))["status"] == 200
    bodies = []
    while (message := await client_of.receive_output(20)).get("more_body"):
        bodies.append(message["body"])
    assert len(bodies) > 50 and max(map(len, bodies)) < 200_000
    assert len(json.loads(b"".join(bodies))["tests"]["words"]) == 400
    await client_of.wait(20)
    assert guest.pk not in exporting._running


async def test_who_leaves_in_the_middle_may_export_again(
    guest: Person,
    client_of: ApplicationCommunicator,
    long_data: dict[str, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = exporting.Export._next_part

    def next_part(export: exporting.Export) -> bytes:
        left.wait(0.05)
        return slow(export)

    left = exporting.threading.Event()
    monkeypatch.setattr(exporting.Export, "_next_part", next_part)
    await client_of.send_input({"type": "http.request"})
    for _ in range(3):
        await client_of.receive_output(20)
    assert guest.pk in exporting._running
    await client_of.send_input({"type": "http.disconnect"})
    for _ in range(200):
        if guest.pk not in exporting._running:
            break
        await asyncio.sleep(0.05)
    assert guest.pk not in exporting._running
    assert long_data["items"] < 400
    await sync_to_async(left.set)()


def test_an_export_that_cannot_begin_blocks_no_later_one(
    guest: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(person: Person) -> dict[str, Any]:
        raise RuntimeError("a holder is at fault")

    monkeypatch.setattr(holding, "export_person", broken)
    for _ in range(2):
        with pytest.raises(RuntimeError):
            exporting.Export(guest, zipped=False)
    assert guest.pk not in exporting._running
