"""A training beside a GPU, as a learner does it: trained, stopped, resumed and proved.

A guest opens the step of the ANDREA course that trains `12M` on a card and presses Run; a second
Run is told to write a checkpoint and then to stop, goes on from what it saved, and its losses
must be those of the first; then the proof runs. All of it over HTTP and the websocket.
With RECORDINGS set to a folder, the first Run is kept there as a recording.
DEVICE=cpu tries the same with what the step gives the interpreter.
"""

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from chainrule.serving.plan import count_gpus
from tests.bench.gpu_stack import keep, wait_for_gpu
from tests.stack import Stack
from tests.visitor import Visitor

STEP = "/en/andrea/training-run/phases/"

Events = list[dict[str, Any]]


def main() -> None:
    device = os.environ.get("DEVICE", "gpu")
    if device == "gpu" and not count_gpus():
        print("There is no NVIDIA GPU here: nothing is measured.")
        return
    with tempfile.TemporaryDirectory() as folder, Stack(Path(folder)) as stack:
        if device == "gpu":
            wait_for_gpu(stack)
        visitor = Visitor(stack.url)
        run = visitor.run(STEP, device)
        straight = followed(visitor, run, "straight")
        if target := os.environ.get("RECORDINGS"):
            name = STEP.strip("/").replace("/", "-")[3:]
            keep(stack, run, Path(target) / f"{name}.jsonl.gz")
        stopped_run = visitor.run(STEP, device)
        stopped = stopped_half_way(visitor, stopped_run, straight)
        file = names(stopped)[-1]
        resumed_run = visitor.post(f"/en/runs/{stopped_run}/resume/", file=file)["run"]
        resumed = followed(visitor, resumed_run, f"resumed from {file}")
        proof = followed(visitor, visitor.post(f"/en/runs/{run}/prove/")["run"], "proof")
    ends = [events[-1]["data"]["outcome"] for events in (straight, stopped, resumed, proof)]
    same = losses(straight) == losses(stopped) | losses(resumed)
    print(f"losses of stopped and resumed equal those of the straight Run: {same}")
    if ends != ["passed", "cancelled", "passed", "passed"] or not same:
        sys.exit(f"outcomes {ends}")


def followed(visitor: Visitor, run: str, what: str) -> Events:
    """All Events of a Run, and a line about it."""
    began = time.monotonic()
    events = list(visitor.follow(run))
    say(what, events, time.monotonic() - began)
    return events


def stopped_half_way(visitor: Visitor, run: str, straight: Events) -> Events:
    """A checkpoint is asked for in the first quarter, the end at the half."""
    began, events, asked = time.monotonic(), [], 0
    last = max(losses(straight))
    for event in visitor.follow(run):
        events.append(event)
        step = event["data"].get("step") or 0
        if event["kind"] == "metric" and asked == 0 and step >= last // 8:
            visitor.post(f"/en/runs/{run}/checkpoint/")
            asked = 1
        elif event["kind"] == "metric" and asked == 1 and step >= last // 2:
            visitor.post(f"/en/runs/{run}/stop/")
            asked = 2
    say("stopped half way", events, time.monotonic() - began)
    return events


def losses(events: Events) -> dict[int, float]:
    return {
        event["data"]["step"]: event["data"]["value"]
        for event in events
        if event["kind"] == "metric" and event["data"]["name"] == "loss"
    }


def names(events: Events) -> list[str]:
    """Checkpoints, as they came."""
    found = [event["data"]["name"] for event in events if event["kind"] == "artifact"]
    return [name for name in found if name.endswith(".bin")]


def say(what: str, events: Events, seconds: float) -> None:
    found = losses(events)
    samples = [e["data"]["scores"]["score"] for e in events if e["kind"] == "sample"]
    curve = f"loss {found[min(found)]:.3f} to {found[max(found)]:.3f}" if found else ""
    speeds = [e["data"]["value"] for e in events if e["data"].get("name") == "tokens-per-second"]
    print(
        f"{what}: {events[-1]['data']['outcome']} after {seconds:.1f} s, {len(events)} Events, "
        f"{len(found)} losses, {curve}, samples {[round(score) for score in samples]}, "
        f"checkpoints {names(events)}, "
        f"tokens a second {[round(speed) for speed in speeds[-5:]]}",
        flush=True,
    )


if __name__ == "__main__":
    main()
