"""A person's data as one JSON document, made while it is sent and never whole in memory."""

import json
import threading
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

from asgiref.sync import sync_to_async
from django.core.serializers.json import DjangoJSONEncoder
from django.db import close_old_connections

from accounts import holdings, throttle
from accounts.models import Person

_PART = 64 * 1024  # characters, sent at once
_WAIT_SECONDS = 60  # said to who asks again while an export of theirs is being sent

_running: set[Any] = set()  # whose data this process sends just now
_lock = threading.Lock()


class Export:
    """What a response streams. Closing it lets this person export again.

    Raises TooMany where an export of theirs is on its way, or there were many within the hour.
    """

    def __init__(self, person: Person, *, zipped: bool) -> None:
        with _lock:
            if person.pk in _running:
                raise throttle.TooMany(throttle.EXPORTS, _WAIT_SECONDS)
            throttle.take(throttle.EXPORTS, str(person.pk))
            _running.add(person.pk)
        self._owner = person.pk
        self._zipped = zipped
        try:
            self._pieces = pieces(holdings.export(person))
        except BaseException:
            self.close()  # nobody else would
            raise

    async def __aiter__(self) -> AsyncIterator[bytes]:
        # Django's middleware would make one gzip stream of each part.
        packer = zlib.compressobj(wbits=31)
        while part := await sync_to_async(self._next_part)():
            yield packer.compress(part) if self._zipped else part
        if self._zipped:
            yield packer.flush()

    def close(self) -> None:
        with _lock:
            _running.discard(self._owner)

    def _next_part(self) -> bytes:
        part, size = [], 0
        for piece in self._pieces:
            part.append(piece)
            size += len(piece)
            if size >= _PART:
                break
        close_old_connections()  # others may have it until the client takes the next part
        return "".join(part).encode()


def pieces(value: Any) -> Iterator[str]:
    """The JSON of plain data in which iterators stand for lists."""
    if isinstance(value, Iterator):
        yield "["
        for number, item in enumerate(value):
            yield ",\n" if number else "\n"
            yield from pieces(item)
        yield "\n]"
    elif isinstance(value, dict) and any(map(is_stream, value.values())):
        yield "{"
        for number, (name, item) in enumerate(value.items()):
            yield f"{',' if number else ''}\n{json.dumps(name)}: "
            yield from pieces(item)
        yield "\n}"
    else:
        yield json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False)


def is_stream(value: Any) -> bool:
    """Whether an iterator is in it."""
    if isinstance(value, dict):
        return any(map(is_stream, value.values()))
    return isinstance(value, Iterator)
