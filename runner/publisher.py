"""Copying stored Events to the Run's stream; with the broker away, later and from the log."""

import logging
import threading
import time
import uuid
from collections import deque

from django.db import DatabaseError, connections
from redis.exceptions import RedisError

from runner import streams
from runner.ending import as_json
from runner.models import StoredEvent

log = logging.getLogger(__name__)

_REMEMBERED = 5_000  # beyond this many, they are read from the log again
_AGAIN_SECONDS = 0.5
_PAGE = 500
_LAST_WORDS_SECONDS = 2.0  # readers find what is missing in the log by themselves


class Publisher:
    def __init__(self, run_id: uuid.UUID, published: int) -> None:
        self.run_id = run_id
        self.published = published
        self.stored = published
        self._waiting: deque[streams.Numbered] = deque(maxlen=_REMEMBERED)
        self._news = threading.Condition()
        self._deadline: float | None = None
        self._redis = streams.client()
        self._thread = threading.Thread(target=self._publish_all, name="publisher", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def add(self, events: list[streams.Numbered]) -> None:
        with self._news:
            self._waiting.extend(events)
            self.stored = events[-1][0]
            self._news.notify()

    def finish(self) -> None:
        """Publish the rest, but do not wait for a broker that is away."""
        with self._news:
            self._deadline = time.monotonic() + _LAST_WORDS_SECONDS
            self._news.notify()
        self._thread.join()

    def _publish_all(self) -> None:
        try:
            while self._wait_for_news():
                try:
                    self._publish_next()
                except (RedisError, OSError, DatabaseError) as away:
                    log.warning("Events of Run %s wait for the broker: %s", self.run_id, away)
                    time.sleep(_AGAIN_SECONDS)
            if self.published == self.stored:
                streams.expire(self._redis, self.run_id)
        except RedisError as away:
            log.warning("The stream of Run %s keeps its first lifetime: %s", self.run_id, away)
        finally:
            connections.close_all()

    def _wait_for_news(self) -> bool:
        with self._news:
            self._news.wait_for(lambda: self.published < self.stored or self._deadline is not None)
            if self._deadline is None:
                return True
            return self.published < self.stored and time.monotonic() < self._deadline

    def _publish_next(self) -> None:
        with self._news:
            events = list(self._waiting)
        if not events or events[0][0] != self.published + 1:
            events = self._from_log()
        streams.publish(self._redis, self.run_id, events)
        self.published = events[-1][0]
        with self._news:
            while self._waiting and self._waiting[0][0] <= self.published:
                self._waiting.popleft()

    def _from_log(self) -> list[streams.Numbered]:
        rows = StoredEvent.objects.filter(run_id=self.run_id, seq__gt=self.published)
        return [(row.seq, as_json(row.envelope())) for row in rows.order_by("seq")[:_PAGE]]
