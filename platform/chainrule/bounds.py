"""How much a client may send before anybody has looked at it."""

from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.translation import get_language_from_path, gettext, override

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]


class TooLong(Exception):
    """The body goes on after the limit."""


class BoundedBodies:
    """Refuses longer request bodies with 413.

    Django on ASGI copies the whole body to disk before it calls a view; its own limits
    (DATA_UPLOAD_MAX_MEMORY_SIZE) come later and leave uploaded files out.
    """

    def __init__(self, app: App, most: int) -> None:
        self.app = app
        self.most = most

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if _announced(scope) > self.most:
            await _refuse(scope, send)
            return
        received = 0

        async def bounded() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.most:
                raise TooLong
            return message

        try:
            await self.app(scope, bounded, send)
        except TooLong:
            await _refuse(scope, send)


def _announced(scope: Any) -> int:
    """What Content-Length says; the server has refused what is not a number."""
    return next((int(value) for name, value in scope["headers"] if name == b"content-length"), 0)


async def _refuse(scope: Any, send: Send) -> None:
    """In the language of the address, for no middleware has looked at this request; as a page
    to who reads pages: a form that went up with too large a file left its own."""
    language = get_language_from_path(scope["path"]) or settings.LANGUAGE_CODE
    is_page = any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])
    with override(language):
        said = gettext("This is too long to be sent here.") + "\n"
        body: str = render_to_string("errors/413.html") if is_page else said
    headers = [
        (b"content-type", f"text/{'html' if is_page else 'plain'}; charset=utf-8".encode()),
        (b"content-language", language.encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body.encode()})
