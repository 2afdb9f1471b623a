"""One replay of a recorded step, node by node: what each takes and how long the card waits."""

import json
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import torch

from tests.bench._gpu_candidates import Call

WORK = ("kernel", "gpu_memset", "gpu_memcpy")


@dataclass(frozen=True)
class Node:
    name: str
    start: float  # microseconds
    length: float

    @property
    def end(self) -> float:
        return self.start + self.length


def nodes(step: Call) -> list[Node]:
    """What the card did in one step, in order. Slower than without a profiler, by a little."""
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    kinds = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds) as profile:
        step()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(file))
        events = json.loads(file.read_text())["traceEvents"]
    found = [
        Node(event["name"].removeprefix("void ")[:60], event["ts"], event["dur"])
        for event in events
        if event.get("cat") in WORK
    ]
    return sorted(found, key=lambda node: node.start)


def show(step: Call, *landmarks: str) -> None:
    """Totals by kernel, the waits behind each, and for each of the landmarks the nodes from its
    second occurrence to its third: a block's."""
    found = nodes(step)
    gaps = [max(0.0, after.start - node.end) for node, after in zip(found, found[1:], strict=False)]
    busy = sum(node.length for node in found)
    print(f"{len(found)} nodes: {busy / 1e3:.2f} ms busy, {sum(gaps) / 1e3:.2f} ms between them")
    times, waits = defaultdict(list), defaultdict(list)
    for node, gap in zip(found, [*gaps, 0.0], strict=True):
        times[node.name].append(node.length)
        waits[node.name].append(gap)
    for name, lengths in sorted(times.items(), key=lambda pair: -sum(pair[1]))[:40]:
        total, mean = sum(lengths) / 1e3, sum(lengths) / len(lengths)
        wait = sum(waits[name]) / len(lengths)
        print(f"  {total:7.3f} ms {len(lengths):4} x {mean:7.1f} us, then {wait:4.1f} us  {name}")
    for landmark in landmarks:
        at = [i for i, node in enumerate(found) if node.name.startswith(landmark)]
        if len(at) < 3:
            continue
        print(f"  from one {landmark} to the next")
        for i in range(at[1], at[2]):
            print(f"    {found[i].length:7.1f} us, then {gaps[i]:4.1f} us  {found[i].name}")
