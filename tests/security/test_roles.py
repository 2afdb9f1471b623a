"""Roles × addresses, websockets among them, from the table in `roles`."""

from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from chainrule.asgi import application
from runner.models import Run
from runner.routing import websocket_urlpatterns
from tests.security.conftest import Clients, Made
from tests.security.roles import EXEMPT, ROWS, SOCKETS, Role, Row, filled


def patterns(resolver: Any, space: str = "") -> Iterator[tuple[str, Any]]:
    """Every named address below that resolver, with its view."""
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            inner = f"{entry.app_name}:" if entry.app_name else ""
            yield from patterns(entry, space + inner)
        elif isinstance(entry, URLPattern):
            yield space + str(entry.name), entry.callback


def sent(client: Client, row: Row, made: Made) -> Any:
    address = reverse(row.name, args=filled(row.args, made))
    data = filled(row.data, made)
    return client.get(address, data) if row.method == "GET" else client.post(address, data)


def test_every_address_has_a_row() -> None:
    assert {name for name, _view in patterns(get_resolver())} == {row.name for row in ROWS}


def test_every_websocket_is_the_one_that_is_tested_here() -> None:
    assert [str(entry.pattern) for entry in websocket_urlpatterns] == ["ws/runs/<uuid:run_id>/"]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_each_role_gets_what_the_table_says(row: Row, client_as: Clients, made: Made) -> None:
    got = {}
    for role in Role:
        with transaction.atomic():  # each finds everything as the test has made it
            got[role] = sent(client_as(role), row, made).status_code
            transaction.set_rollback(True)
    assert got == {role: row.status(role) for role in Role}


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.method == "POST" and row.name not in EXEMPT], ids=str
)
def test_nothing_is_changed_without_the_token_of_the_page(
    row: Row, client_as: Clients, made: Made
) -> None:
    client = client_as(Role.OWNER, enforce_csrf_checks=True)
    answer = sent(client, row, made)
    assert answer.status_code == 403
    assert "out of date" in answer.content.decode()


def test_no_other_view_is_exempt_from_the_token() -> None:
    exempt = {
        name for name, view in patterns(get_resolver()) if getattr(view, "csrf_exempt", False)
    }
    assert exempt == EXEMPT


WRITES = {row.name for row in ROWS if row.method == "POST"}
READS = {row.name for row in ROWS if row.method == "GET"}


@pytest.mark.parametrize("name", sorted(WRITES - READS))
def test_what_changes_something_cannot_be_asked_for_by_a_link(
    name: str, client_as: Clients, made: Made
) -> None:
    row = next(row for row in ROWS if row.name == name)
    address = reverse(name, args=filled(row.args, made))
    assert client_as(Role.OWNER).get(address).status_code == 405


@pytest.mark.parametrize("row", [row for row in ROWS if row.method == "GET"], ids=str)
def test_asking_for_the_head_alone_is_asking_for_the_page(
    row: Row, client_as: Clients, made: Made
) -> None:
    address = reverse(row.name, args=filled(row.args, made))
    answer = client_as(Role.OWNER).head(address, filled(row.data, made))
    assert answer.status_code == row.status(Role.OWNER)


@pytest.mark.parametrize("name", sorted(READS - WRITES - {"root"}))
def test_what_is_for_reading_takes_nothing(name: str, client_as: Clients, made: Made) -> None:
    row = next(row for row in ROWS if row.name == name)
    address = reverse(name, args=filled(row.args, made))
    assert client_as(Role.OWNER).post(address).status_code == 405


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("role", Role)
def test_a_run_is_followed_by_its_owner_and_who_may_view_it(
    role: Role, client_as: Clients, run: Run
) -> None:
    assert followed(client_as(role), run, "http://testserver") is (role in SOCKETS)


@pytest.mark.django_db(transaction=True)
def test_a_page_elsewhere_cannot_follow_a_run_with_its_owner_s_cookie(
    client_as: Clients, run: Run
) -> None:
    assert not followed(client_as(Role.OWNER), run, "https://evil.example")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("role", Role)
def test_everybody_may_follow_a_recording(role: Role, client_as: Clients, run: Run) -> None:
    Run.objects.update(is_recording=True)
    assert followed(client_as(role), run, "http://testserver")


def followed(client: Client, run: Run, origin: str) -> bool:
    """Whether the whole application accepts this client's websocket."""
    cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    headers = [("host", "testserver"), ("origin", origin), ("cookie", cookies)]

    scope = {
        "type": "websocket",
        "path": f"/ws/runs/{run.pk}/",
        "query_string": b"after=0",
        "headers": [(name.encode(), value.encode()) for name, value in headers],
        "subprotocols": [],
    }

    async def attempt() -> bool:
        socket = ApplicationCommunicator(application, scope)
        await socket.send_input({"type": "websocket.connect"})
        first = await socket.receive_output(timeout=5)
        await socket.send_input({"type": "websocket.disconnect", "code": 1000})
        await socket.wait()
        return bool(first["type"] == "websocket.accept")

    assert settings.SESSION_COOKIE_NAME in client.cookies or not client.cookies
    return async_to_sync(attempt)()
