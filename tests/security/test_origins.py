"""Hosts and origins, on HTTP and on websockets."""

import asyncio
from typing import Any

import pytest
from django.test import Client, override_settings

from chainrule.asgi import application
from chainrule.origins import SameOrigin

HERE = "localhost:8000"


def opened(origin: str | None, host: str = HERE) -> bool:
    """Whether a websocket from a page of `origin` reaches what stands behind the check."""
    headers = [(b"host", host.encode())]
    if origin is not None:
        headers.append((b"origin", origin.encode()))
    reached: list[bool] = []

    async def behind(scope: Any, receive: Any, send: Any) -> None:
        reached.append(True)

    messages = iter(("websocket.connect", "websocket.disconnect"))

    async def receive() -> dict[str, Any]:
        return {"type": next(messages), "code": 1000}

    async def send(message: dict[str, Any]) -> None:
        assert message["type"] == "websocket.close"

    scope = {"type": "websocket", "path": "/ws/", "headers": headers}
    asyncio.run(SameOrigin(behind)(scope, receive, send))
    return bool(reached)


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        (f"http://{HERE}", True),
        ("http://LOCALHOST:8000", True),
        ("http://localhost:9000", False),  # another program on this machine
        ("http://localhost", False),
        ("http://127.0.0.1:8000", False),
        ("https://evil.example", False),
        ("https://localhost:8000.evil.example", False),
        ("http://user@localhost:8000", False),
        ("null", False),
        ("", False),
        (None, False),
    ],
)
def test_only_a_page_of_this_site_may_open_a_websocket(origin: str | None, allowed: bool) -> None:
    assert opened(origin) is allowed


def test_a_websocket_under_a_foreign_host_name_is_refused() -> None:
    assert not opened("http://evil.example", host="evil.example")  # DNS rebinding


@override_settings(CSRF_TRUSTED_ORIGINS=["https://class.example"])
def test_an_origin_that_the_settings_trust_may_open_a_websocket() -> None:
    assert opened("https://class.example")


@pytest.mark.django_db
def test_a_foreign_host_name_is_refused(client: Client) -> None:
    assert client.get("/healthz", headers={"host": "evil.example"}).status_code == 400


@pytest.mark.django_db
def test_a_form_sent_from_a_foreign_page_is_refused() -> None:
    strict = Client(enforce_csrf_checks=True)
    page = strict.get("/en/account/sign-in/")
    token = page.context["csrf_token"]
    data = {"csrfmiddlewaretoken": str(token), "email": "a@example.org", "password": "x"}

    def sent_from(origin: str) -> int:
        return strict.post("/en/account/sign-in/", data, headers={"origin": origin}).status_code

    assert sent_from("https://evil.example") == 403
    assert sent_from("http://testserver") == 422


def test_a_websocket_address_that_is_not_there_is_refused_without_an_error() -> None:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    headers = [(b"host", HERE.encode()), (b"origin", f"http://{HERE}".encode())]
    scope = {"type": "websocket", "path": "/ws/nope", "headers": headers}
    asyncio.run(application(scope, receive, send))
    assert sent == [{"type": "websocket.close"}]
