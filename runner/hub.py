"""One hub a Run and web process: reads the Run's Events once and feeds every socket.

The stream is read because it is quick; the stored log is read where the stream has a gap, while
the broker is away, and every two seconds in any case. So a socket can be a hint and still show
every Event once.
"""

import asyncio
import logging
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import islice

from django.db import DatabaseError
from redis.exceptions import RedisError

from runner import streams
from runner.reading import Status, in_database, numbered_after, status_of

log = logging.getLogger(__name__)

_POLL_SECONDS = 2.0
_POLL_SECONDS_ALONE = 0.5  # while the broker is away
_FRAMES_KEPT = 100  # of a socket that is slow; then it must resume
_REMEMBERED = 4_000  # Events kept for those who join late; older ones are in the log
_REMEMBERED_TEXT = 4 * 1024 * 1024  # and at most so much of them
_SHORTEST, _LONGEST = 0.01, 0.06  # seconds between two frames


@dataclass(frozen=True)
class Frame:
    """Consecutive Events, serialised once for every socket."""

    first: int
    last: int
    text: str


class Subscription:
    """What one socket still has to send. Dropped, with `slow` set, when it falls behind."""

    def __init__(self) -> None:
        self.slow = False
        self.ended = False
        self._items: deque[Frame | Status] = deque()
        self._news = asyncio.Event()

    def put(self, item: Frame | Status) -> None:
        if len(self._items) >= _FRAMES_KEPT:
            self.slow = True
            self._items.clear()
        if not self.slow:
            self._items.append(item)
        self._news.set()

    def end(self) -> None:
        self.ended = True
        self._news.set()

    async def __aiter__(self) -> AsyncIterator[Frame | Status]:
        while True:
            while self._items:
                yield self._items.popleft()
            if self.slow or self.ended:
                return
            self._news.clear()
            await self._news.wait()


class Hub:
    def __init__(self, run_id: uuid.UUID) -> None:
        self.run_id = run_id
        self.status: Status | None = None
        self.head = 0  # the last Event taken, sent or about to be
        self.recent: deque[streams.Numbered] = deque()
        self._recent_text = 0
        self.subscriptions: set[Subscription] = set()
        self.started = asyncio.Event()
        self._unsent: list[streams.Numbered] = []
        self._unsent_news = asyncio.Event()
        self._poll_now = asyncio.Event()
        self._filling = asyncio.Lock()
        self._broker_away = False
        self._over = False

    async def run(self) -> None:
        """Until the Run has ended and all of it is sent, or this is cancelled."""
        status = await in_database(status_of, self.run_id)
        self.status = status
        if status:
            self.head = max(0, status.last_seq - _REMEMBERED)
            await self._fill(status.last_seq)
            self._unsent.clear()
        self.started.set()
        parts = [self._poll(), self._read_stream(), self._send()]  # only the first one ends
        tasks = [asyncio.create_task(part) for part in parts]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            self._over = True
            await end_all(tasks)
        self._flush()
        for subscription in self.subscriptions:
            subscription.end()

    def remembered_after(self, seq: int) -> Frame | None:
        """Everything after that Event, if all of it is still in memory."""
        first = self.recent[0][0] if self.recent else self.head + 1
        if not first - 1 <= seq < self.head:
            return None
        return frame_of(list(islice(self.recent, seq - first + 1, None)))

    async def _poll(self) -> None:
        """Follow the row. Returns once the Run has ended and its last Event is here."""
        while self.status is not None and not (
            self.status.ended and self.head >= self.status.last_seq
        ):
            pause = _POLL_SECONDS_ALONE if self._broker_away else _POLL_SECONDS
            with suppress(TimeoutError):
                await asyncio.wait_for(self._poll_now.wait(), pause)
            self._poll_now.clear()
            try:
                status = await in_database(status_of, self.run_id)
                if status and status.last_seq > self.head:
                    await self._fill(status.last_seq)
            except DatabaseError as away:
                log.warning("The database did not answer the hub of %s: %s", self.run_id, away)
                continue
            if status is None or not status.same_as(self.status):
                self._tell(status)
            self.status = status

    def _tell(self, status: Status | None) -> None:
        self._flush()
        if status is not None:
            for subscription in self.subscriptions:
                subscription.put(status)

    async def _read_stream(self) -> None:
        connection = streams.async_client()
        while not self._over:
            try:
                events = await streams.read(connection, self.run_id, self.head)
                self._broker_away = False
                await self._take(events)
            except (RedisError, OSError, DatabaseError) as away:
                log.warning("The hub of %s reads the log alone: %s", self.run_id, away)
                self._broker_away = True
                self._poll_now.set()
                await asyncio.sleep(_POLL_SECONDS_ALONE)

    async def _take(self, events: list[streams.Numbered]) -> None:
        for seq, text in events:
            if seq > self.head + 1:
                await self._fill(seq - 1)
            if seq == self.head + 1:
                self._append(seq, text)
        if events and (self._was_queued() or '"kind":"outcome"' in events[-1][1]):
            self._poll_now.set()  # the row has changed too

    def _was_queued(self) -> bool:
        return self.status is not None and self.status.state == "queued"

    async def _fill(self, until: int) -> None:
        """Take from the log what the stream did not bring."""
        async with self._filling:
            while self.head < until:
                events = await in_database(numbered_after, self.run_id, self.head)
                if not events:
                    return
                for seq, text in events:
                    if seq == self.head + 1:
                        self._append(seq, text)

    def _append(self, seq: int, text: str) -> None:
        self._unsent.append((seq, text))
        self._remember(seq, text)
        self.head = seq
        self._unsent_news.set()

    def _remember(self, seq: int, text: str) -> None:
        self.recent.append((seq, text))
        self._recent_text += len(text)
        while len(self.recent) > _REMEMBERED or self._recent_text > _REMEMBERED_TEXT:
            self._recent_text -= len(self.recent.popleft()[1])

    async def _send(self) -> None:
        """The first Event at once; then frames as often as feeding every socket leaves half of
        this process for pages: more sockets or a busier machine, fewer and longer frames."""
        while True:
            await self._unsent_news.wait()
            began = time.thread_time()
            self._flush()
            await asyncio.sleep(0)  # every socket that was waiting has its turn before us
            await asyncio.sleep(min(_LONGEST, max(_SHORTEST, time.thread_time() - began)))

    def _flush(self) -> None:
        self._unsent_news.clear()
        if not self._unsent:
            return
        frame = frame_of(self._unsent)
        self._unsent = []
        for subscription in self.subscriptions:
            subscription.put(frame)


def frame_of(events: list[streams.Numbered]) -> Frame:
    return Frame(events[0][0], events[-1][0], f"[{','.join(text for _, text in events)}]")


class Hubs:
    """The hubs of this process."""

    def __init__(self) -> None:
        self._hubs: dict[uuid.UUID, tuple[Hub, asyncio.Task[None]]] = {}

    @asynccontextmanager
    async def subscribe(self, run_id: uuid.UUID) -> AsyncIterator[tuple[Hub, Subscription]]:
        """Join before reading the log: what is not in the log by then will be fed."""
        hub, task = self._hubs.get(run_id) or self._open(run_id)
        subscription = Subscription()
        hub.subscriptions.add(subscription)
        try:
            await first(hub.started.wait(), task)
            if task.done():
                subscription.end()
            yield hub, subscription
        finally:
            hub.subscriptions.discard(subscription)
            if not hub.subscriptions:
                task.cancel()
                if self._hubs.get(run_id, (None,))[0] is hub:
                    del self._hubs[run_id]

    def _open(self, run_id: uuid.UUID) -> tuple[Hub, "asyncio.Task[None]"]:
        hub = Hub(run_id)
        task = asyncio.create_task(hub.run(), name=f"hub {run_id}")
        task.add_done_callback(lambda done: self._close(hub, done))
        self._hubs[run_id] = (hub, task)
        return self._hubs[run_id]

    def _close(self, hub: Hub, task: "asyncio.Task[None]") -> None:
        if self._hubs.get(hub.run_id, (None,))[0] is hub:
            del self._hubs[hub.run_id]
        if not task.cancelled() and (error := task.exception()):
            log.error("The hub of %s broke.", hub.run_id, exc_info=error)
        for subscription in hub.subscriptions:
            subscription.end()


async def end_all(tasks: list["asyncio.Task[None]"]) -> None:
    """Cancel until they are done: once is not enough where `asyncio.wait_for`, which redis-py
    writes with, swallows a cancellation (Python 3.11)."""
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=0.2)


async def first(waiting: Awaitable[object], task: "asyncio.Task[None]") -> None:
    """Wait for either; the task's own error is told elsewhere."""
    waiter = asyncio.ensure_future(waiting)
    await asyncio.wait({waiter, task}, return_when=asyncio.FIRST_COMPLETED)
    waiter.cancel()


hubs = Hubs()
