"""`ws/runs/<id>/?after=N`: what is stored after N, then what happens, each Event once.

A plain ASGI application: Channels' consumers cost several times as much a message, and five
hundred people may watch one Run.
"""

import asyncio
import json
import re
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs

from django.conf import settings

from runner.access import visible
from runner.hub import Frame, Hub, Subscription, frame_of, hubs
from runner.reading import Status, in_database, numbered_after
from runner.shapes import RunNotFound

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

_NORMAL, _TRY_AGAIN = 1000, 1013
_NUMBER = re.compile(r"[0-9]{1,9}")  # of an Event: far below what a database's integer holds
_open: Counter[str] = Counter()  # sockets of this process, by whose they are


async def follow(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """One socket's life. Refused (403) to whoever may not see the Run."""
    await receive()  # the request to connect
    run_id: uuid.UUID = scope["url_route"]["kwargs"]["run_id"]
    try:
        await in_database(visible, run_id, scope["user"])
    except RunNotFound:
        await send({"type": "websocket.close"})
        return
    await send({"type": "websocket.accept"})
    who = client_of(scope)
    if _open[who] >= settings.SOCKETS_EACH:
        reason = "Too many pages of this person are open."
        await send({"type": "websocket.close", "code": _TRY_AGAIN, "reason": reason})
        return
    _open[who] += 1
    try:
        await serve(scope, run_id, receive, send)
    finally:
        _open[who] -= 1
        if not _open[who]:
            del _open[who]


def client_of(scope: dict[str, Any]) -> str:
    """A person, or the network address of somebody unknown, who may watch a recording."""
    person = scope["user"].pk
    return f"person {person}" if person else f"network {scope.get('network', '')}"


async def serve(scope: dict[str, Any], run_id: uuid.UUID, receive: Receive, send: Send) -> None:
    sending = asyncio.create_task(Socket(run_id, start_of(scope), send).feed())
    leaving = asyncio.create_task(until_disconnected(receive))
    await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
    for task in (sending, leaving):
        task.cancel()
        with suppress(asyncio.CancelledError, OSError):
            await task


def start_of(scope: dict[str, Any]) -> int:
    asked = parse_qs(scope.get("query_string", b"").decode("ascii", "replace")).get("after", ["0"])
    return int(asked[0]) if _NUMBER.fullmatch(asked[0]) else 0


async def until_disconnected(receive: Receive) -> None:
    """Nothing that a client says matters, but that it leaves."""
    while (await receive())["type"] != "websocket.disconnect":
        pass


class Socket:
    def __init__(self, run_id: uuid.UUID, after: int, send: Send) -> None:
        self.run_id = run_id
        self.last = after
        self._send = send

    async def feed(self) -> None:
        async with hubs.subscribe(self.run_id) as (hub, subscription):
            if hub.status is not None:
                await self.say(hub.status.now().text)
            if remembered := hub.remembered_after(self.last):
                await self.pass_on(remembered)
            else:
                await self.replay()
            await self.live(subscription)
            await self.close(hub, subscription)

    async def replay(self) -> None:
        """Everything stored after the last Event sent."""
        while events := await in_database(numbered_after, self.run_id, self.last):
            await self.pass_on(frame_of(events))

    async def live(self, subscription: Subscription) -> None:
        async for item in subscription:
            if isinstance(item, Status):
                await self.say(item.text)
            elif item.first == self.last + 1:
                await self.pass_on(item)
            elif item.last > self.last:  # joined in the middle of it, or something is missing
                await self.replay()

    async def close(self, hub: Hub, subscription: Subscription) -> None:
        over = hub.status is None or hub.status.ended
        if over and not subscription.slow:
            await self.replay()  # the hub ended: whatever it knew is stored
        else:
            await self.say(json.dumps({"close": "resume", "after": self.last}))
        code = _NORMAL if over and not subscription.slow else _TRY_AGAIN
        await self._send({"type": "websocket.close", "code": code})

    async def pass_on(self, frame: Frame) -> None:
        await self.say(frame.text)
        self.last = frame.last

    async def say(self, text: str) -> None:
        await self._send({"type": "websocket.send", "text": text})
