"""What a socket is asked for, and how many one client may hold."""

import asyncio
import uuid
from types import SimpleNamespace
from typing import Any

import pytest

from accounts.addresses import Addressed
from runner import sockets


@pytest.mark.parametrize(
    ("query", "start"),
    [
        (b"after=17", 17),
        (b"", 0),
        (b"after=", 0),
        (b"after=-1", 0),
        (b"after=1_0", 0),
        ("after=\u0663".encode(), 0),
        (b"after=" + b"9" * 10, 0),
        (b"after=" + b"9" * 5000, 0),
    ],
)
def test_where_a_socket_starts(query: bytes, start: int) -> None:
    assert sockets.start_of({"query_string": query}) == start


class Server:
    """Sockets opened at `follow`, each held until `leave` is set."""

    def __init__(self) -> None:
        self.leave = asyncio.Event()
        self.closed: list[dict[str, Any]] = []

    async def open(self, person: int | None, network: str = "192.0.2.1") -> None:
        async def receive() -> dict[str, Any]:
            return {"type": "websocket.connect"}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "websocket.close":
                self.closed.append(message)

        scope = {
            "url_route": {"kwargs": {"run_id": uuid.uuid4()}},
            "user": SimpleNamespace(pk=person),
            "network": network,
        }
        await sockets.follow(scope, receive, send)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Server:
    settings.SOCKETS_EACH = 3
    server = Server()

    async def found(*_: Any) -> None:
        return None

    async def held(*_: Any) -> None:
        await server.leave.wait()

    monkeypatch.setattr(sockets, "in_database", found)
    monkeypatch.setattr(sockets, "serve", held)
    return server


@pytest.mark.parametrize("person", [7, None])
async def test_one_client_holds_so_many_and_the_next_is_told_to_come_later(
    server: Server, person: int | None
) -> None:
    mine = [asyncio.create_task(server.open(person)) for _ in range(4)]
    others = [
        asyncio.create_task(server.open(8)),
        asyncio.create_task(server.open(None, "192.0.2.2")),
    ]
    await asyncio.wait({mine[3]}, timeout=10)
    said = [(message["code"], bool(message["reason"])) for message in server.closed]
    assert said == [(1013, True)]
    server.leave.set()
    await asyncio.gather(*mine, *others)
    assert not sockets._open
    await server.open(person)
    assert len(server.closed) == 1


async def test_the_address_of_who_is_unknown_is_what_our_proxy_saw(settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["network"])

    headers = [(b"x-forwarded-for", b"203.0.113.9, 198.51.100.4")]
    for client in (("10.0.0.1", 1234), None):
        await Addressed(app)({"client": client, "headers": headers}, None, None)
    settings.TRUSTED_PROXIES = 0
    await Addressed(app)({"client": ("10.0.0.1", 1234), "headers": headers}, None, None)
    assert seen == ["198.51.100.4", "198.51.100.4", "10.0.0.1"]
