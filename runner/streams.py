"""The Redis stream of a Run: a fast copy of its stored log, never the truth."""

import asyncio
import uuid
from collections.abc import Sequence
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import redis
import redis.asyncio
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from runner.limits import STREAM_SECONDS

_PATIENCE = 1.0  # seconds
_READ_BLOCK_MS = 5_000
_LONGEST_STREAM = 20_000

Numbered = tuple[int, str]  # seq, the envelope as JSON


def key(run_id: uuid.UUID) -> str:
    return f"chainrule:run:{run_id}"


def client() -> redis.Redis:
    """Gives up soon and does not try again by itself: the log is elsewhere."""
    return redis.Redis(connection_pool=pool_of(settings.REDIS_URL))


@cache
def pool_of(address: str) -> redis.ConnectionPool:
    """The one pool of this process; one connection too many is a RedisError."""
    return redis.ConnectionPool.from_url(
        address,
        socket_timeout=_PATIENCE,
        socket_connect_timeout=_PATIENCE,
        retry=Retry(NoBackoff(), 0),
        decode_responses=True,
        max_connections=settings.REDIS_POOL,
    )


# A connection belongs to the loop that opened it. The web process has one loop, so one pool.
_pools: "WeakKeyDictionary[asyncio.AbstractEventLoop, redis.asyncio.ConnectionPool]" = (
    WeakKeyDictionary()
)


def async_client() -> redis.asyncio.Redis:
    loop = asyncio.get_running_loop()
    if loop not in _pools:
        _pools[loop] = redis.asyncio.ConnectionPool.from_url(
            settings.REDIS_URL,
            socket_timeout=_READ_BLOCK_MS / 1000 + 2,
            socket_connect_timeout=2,
            decode_responses=True,
            max_connections=settings.REDIS_POOL,
        )
    return redis.asyncio.Redis(connection_pool=_pools[loop])


def publish(connection: redis.Redis, run_id: uuid.UUID, events: Sequence[Numbered]) -> None:
    """Append Events that are already stored. One that is there already is left as it is.

    The id is made of the number, so Redis itself refuses a second copy. Raises RedisError.
    """
    name = key(run_id)
    pipeline = connection.pipeline(transaction=False)
    for seq, text in events:
        pipeline.xadd(name, {"e": text}, id=f"{seq}-1", maxlen=_LONGEST_STREAM, approximate=True)
    pipeline.expire(name, STREAM_SECONDS + settings.RUN_LONGEST_SECONDS)
    raise_unless_duplicate(pipeline.execute(raise_on_error=False))


def expire(connection: redis.Redis, run_id: uuid.UUID) -> None:
    connection.expire(key(run_id), STREAM_SECONDS)


async def read(connection: redis.asyncio.Redis, run_id: uuid.UUID, after: int) -> list[Numbered]:
    """What was published after that number, waiting a few seconds for it. Raises RedisError."""
    answer: Any = await connection.xread(
        {key(run_id): f"{after}-1"}, block=_READ_BLOCK_MS, count=2000
    )
    return [
        (int(entry.partition("-")[0]), fields["e"])
        for _, entries in answer or []
        for entry, fields in entries
    ]


def raise_unless_duplicate(answers: list[Any]) -> None:
    for answer in answers:
        if isinstance(answer, redis.ResponseError) and "equal or smaller" in str(answer):
            continue
        if isinstance(answer, Exception):
            raise answer
