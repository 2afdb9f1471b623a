"""One Run at 100 Events a second, watched by 500 people through one web process.

From the child's write to each client, every Event on every socket counted.
"""

import asyncio
import json
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID

import psutil
import uvloop

from tests.bench._report import Row, percentile, set_up
from tests.bench._viewers import Viewer, connect

set_up()

from runner import streams  # noqa: E402
from tests.runner.site import Site  # noqa: E402

VIEWERS = 500
RATE = 100
SECONDS = 15
DELAY = 8  # seconds for everybody to come
TARGET_MS = 100


@dataclass
class Deliveries:
    latencies_ms: list[float]
    lost: int
    doubled: int
    viewers: int


async def watch(port: int, run_id: str, cookie: str) -> tuple[list[Viewer], float]:
    path = f"/ws/runs/{run_id}/?after=0"
    viewers: list[Viewer] = []
    began = time.time()
    for _ in range(0, VIEWERS, 25):
        viewers += await asyncio.gather(*(connect(port, path, cookie) for _ in range(25)))
    everybody_since = time.time()
    print(f"{VIEWERS} sockets opened in {everybody_since - began:.1f} s")
    stream = asyncio.create_task(listen(UUID(run_id), everybody_since))
    await asyncio.wait_for(asyncio.gather(*(viewer.closed for viewer in viewers)), 180)
    stream.cancel()
    print(f"child's write → stream, p99 {percentile(await stream, 0.99):.0f} ms")
    return viewers, everybody_since


async def listen(run_id: UUID, since: float) -> list[float]:
    """How much of it is spent before the stream, in ms."""
    connection = streams.async_client()
    latencies: list[float] = []
    last = 0
    try:
        while True:
            for seq, text in await streams.read(connection, run_id, last):
                last = seq
                at = datetime.fromisoformat(json.loads(text)["at"]).timestamp()
                if at > since + 1:
                    latencies.append((time.time() - at) * 1000)
    except asyncio.CancelledError:
        return latencies
    finally:
        await connection.aclose()


def count(viewers: list[Viewer], since: float) -> Deliveries:
    """Latencies of what was written once everybody had come; losses of all that was written."""
    read: dict[bytes, list[tuple[int, float]]] = {}
    latencies: list[float] = []
    lost = doubled = 0
    for viewer in viewers:
        numbers: Counter[int] = Counter()
        for frame in viewer.frames:
            if frame.payload not in read:
                read[frame.payload] = numbers_and_times(frame.payload)
            for seq, at in read[frame.payload]:
                numbers[seq] += 1
                if at > since + 1:
                    latencies.append((frame.at - at) * 1000)
        lost += RATE * SECONDS + 3 - len(numbers)  # made, progress, outcome
        doubled += sum(times - 1 for times in numbers.values())
    return Deliveries(latencies, lost, doubled, len(viewers))


def numbers_and_times(payload: bytes) -> list[tuple[int, float]]:
    frame = json.loads(payload)
    if not isinstance(frame, list):
        return []
    return [(e["seq"], datetime.fromisoformat(e["at"]).timestamp()) for e in frame]


def measure() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="chainrule-bench-") as folder:
        site = Site(Path(folder), SOCKETS_EACH=str(2 * VIEWERS))
        try:
            site.open()
            person = site.person()
            cookie = site.cookie(person)
            run = site.submit("test.paced", person, events=RATE * SECONDS, rate=RATE, delay=DELAY)
            assert site.web.process is not None
            web = psutil.Process(site.web.process.pid)
            before = web.cpu_times()
            began = time.time()
            viewers, since = uvloop.run(watch(site.port, str(run.id), cookie))
            after = web.cpu_times()
            busy = after.user + after.system - before.user - before.system
            share = busy / (time.time() - began)
        finally:
            site.close()
    found = count(viewers, since)
    p50, p99 = percentile(found.latencies_ms, 0.5), percentile(found.latencies_ms, 0.99)
    name = f"child's write → {found.viewers} sockets at {RATE} Events/s"
    count_text = f"{len(found.latencies_ms):,} deliveries"
    detail = f"median {p50:.0f} ms, {count_text}, web process {share:.0%} of a core"
    return [
        Row(f"{name}, p99", f"{p99:.0f} ms", f"< {TARGET_MS} ms", p99 < TARGET_MS, detail),
        Row(f"{name}, lost", str(found.lost), "0", found.lost == 0),
        Row(f"{name}, twice", str(found.doubled), "0", found.doubled == 0),
    ]


def main() -> None:
    for row in measure():
        print(row)


if __name__ == "__main__":
    main()
