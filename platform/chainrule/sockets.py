"""The websocket address that is not there."""

from collections.abc import Awaitable, Callable
from typing import Any


async def no_such_socket(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[Any]],
    send: Callable[[Any], Awaitable[None]],
) -> None:
    """Refuse before accepting (HTTP 403), where Channels would raise and fill the log."""
    await send({"type": "websocket.close"})
