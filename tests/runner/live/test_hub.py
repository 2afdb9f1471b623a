"""The hub: one reader of a Run for all its sockets, over a real stream and a real log."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from typing import Any

import pytest

from runner import hub as hub_module
from runner import sockets, streams
from runner.ending import as_json
from runner.hub import Frame, Hubs, Subscription
from runner.models import Run
from runner.reading import in_database
from tests.runner import rows
from tests.runner.site import Site


def numbered(events: list[dict[str, Any]]) -> list[streams.Numbered]:
    return [(event["seq"], as_json(event)) for event in events]


def publish(run: Run, events: list[dict[str, Any]]) -> None:
    streams.publish(streams.client(), run.id, numbered(events))


@pytest.fixture
def run(site: Site) -> Run:
    """Running, held by a worker that does not exist, for long enough."""
    return rows.a_running_run(lease_seconds=300)


@pytest.fixture
async def hubs(site: Site) -> AsyncIterator[Hubs]:
    yield Hubs()


async def numbers(subscription: Subscription, until: int, timeout: float = 60) -> list[int]:
    seen: list[int] = []

    async def take() -> None:
        async for item in subscription:
            if isinstance(item, Frame):
                seen.extend(range(item.first, item.last + 1))
            if seen and seen[-1] >= until:
                return

    await asyncio.wait_for(take(), timeout)
    return seen


async def test_a_gap_in_the_stream_is_read_from_the_log(hubs: Hubs, run: Run) -> None:
    async with hubs.subscribe(run.id) as (_, subscription):
        events = await in_database(rows.tell, run, *range(1, 11))
        await in_database(publish, run, events[:3] + events[7:])
        assert await numbers(subscription, 10) == list(range(1, 11))


async def test_what_was_never_published_comes_from_the_log(hubs: Hubs, run: Run) -> None:
    async with hubs.subscribe(run.id) as (_, subscription):
        await in_database(rows.tell, run, *range(1, 6))
        assert await numbers(subscription, 5) == [1, 2, 3, 4, 5]


async def test_what_was_published_twice_comes_once(hubs: Hubs, run: Run) -> None:
    async with hubs.subscribe(run.id) as (_, subscription):
        events = await in_database(rows.tell, run, *range(1, 6))
        for again in (events[:3], events, events):
            await in_database(publish, run, again)
        assert await numbers(subscription, 5) == [1, 2, 3, 4, 5]


async def test_who_joins_late_is_fed_from_memory(
    hubs: Hubs, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_database(rows.tell, run, *range(1, 51))
    async with hubs.subscribe(run.id) as (hub, _):
        frame = hub.remembered_after(0)
        assert frame is not None and (frame.first, frame.last) == (1, 50)
        frame = hub.remembered_after(48)
        assert frame is not None and (frame.first, frame.last) == (49, 50)
        assert hub.remembered_after(50) is None


async def test_a_long_run_is_remembered_in_part_and_replayed_from_the_log(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "_REMEMBERED", 20)
    await in_database(rows.tell, run, *range(1, 51))
    sent = await watch(run, until=50)
    assert sent == list(range(1, 51))


async def test_the_last_one_to_leave_closes_the_hub(hubs: Hubs, run: Run) -> None:
    async with hubs.subscribe(run.id) as (first, _):
        async with hubs.subscribe(run.id) as (second, _):
            assert first is second
    async with hubs.subscribe(run.id) as (third, _):
        assert third is not first


async def test_a_slow_socket_must_resume_and_slows_nobody(
    site: Site, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine makes fewer, longer frames: a third of these must be too many already.
    monkeypatch.setattr(hub_module, "_FRAMES_KEPT", 10)
    gate = asyncio.Event()
    slow = asyncio.create_task(watch(run, until=0, gate=gate))
    quick = asyncio.create_task(watch(run, until=600))
    await asyncio.sleep(0.3)
    for first in range(1, 601, 4):
        events = await in_database(rows.tell, run, *range(first, first + 4))
        await in_database(publish, run, events)
        await asyncio.sleep(0.012)
    assert await asyncio.wait_for(quick, 60) == list(range(1, 601))
    gate.set()
    seen = await asyncio.wait_for(slow, 60)
    assert seen[-1] == "resume"
    assert seen[:-1] == list(range(1, len(seen)))
    assert len(seen) < 600


async def watch(run: Run, until: int, gate: asyncio.Event | None = None) -> list[Any]:
    """A socket that the server speaks to; after its first Event it reads only past the gate."""
    seen: list[Any] = []
    left = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if not seen and not left.is_set():
            left.set()
            return {"type": "websocket.connect"}
        left.clear()
        await left.wait()
        return {"type": "websocket.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        text = message.get("text", "")
        if text.startswith("["):
            seen.extend(event["seq"] for event in json.loads(text))
            if gate is not None:
                await gate.wait()
        if '"resume"' in text:
            seen.append("resume")
        if until and seen and seen[-1] >= until:
            left.set()

    owner = await in_database(lambda: Run.objects.select_related("owner").get(id=run.id).owner)
    scope = {
        "url_route": {"kwargs": {"run_id": uuid.UUID(str(run.id))}},
        "query_string": b"after=0",
        "user": owner,
    }
    await sockets.follow(scope, receive, send)
    return seen


async def test_a_hub_left_at_any_moment_leaves_no_task_behind(hubs: Hubs, run: Run) -> None:
    for pause in range(30):
        async with hubs.subscribe(run.id):
            for _ in range(pause):
                await asyncio.sleep(0)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        hub_tasks = [task for task in others if "hub" in repr(task)]
        if hub_tasks:
            _, pending = await asyncio.wait(hub_tasks, timeout=30)
            assert not pending
