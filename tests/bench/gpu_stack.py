"""The whole stack beside a GPU: each step of a course that runs something, run on the card.

A guest opens the step's page, writes down the hypothesis where one is asked for, presses Run, and
follows the Run over the websocket to its outcome.
COURSE names the course (rmsnorm); a Run of a mutant must fail, any other must pass.
FROM names a part of a step's address: the Runs from there on come first, those before it last.
With RECORDINGS set to a folder, each Run that passed is kept there as a recording.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from chainrule.serving.plan import count_gpus
from tests.stack import ROOT, Stack
from tests.visitor import Visitor

COURSE = os.environ.get("COURSE", "rmsnorm")
FROM = os.environ.get("FROM", "")


@dataclass(frozen=True)
class Seen:
    step: str
    procedure: str
    expected: str
    outcome: str
    events: int
    first_ms: float  # from the click to the first Event at the visitor
    seconds: float


def main() -> None:
    if not count_gpus():
        print("There is no NVIDIA GPU here: nothing is measured.")
        return
    with tempfile.TemporaryDirectory() as folder, Stack(Path(folder)) as stack:
        wait_for_gpu(stack)
        print(stack.log.read_text()[-600:])
        seen = []
        for step in steps():
            seen.append(run_step(stack, *step))
            print(seen[-1].step, seen[-1].outcome, f"{seen[-1].seconds:.1f} s", flush=True)
    print(f"{'step':42} {'Procedure':28} {'outcome':10} {'Events':>6} {'first':>8} {'whole':>8}")
    for s in seen:
        print(
            f"{s.step:42} {s.procedure:28} {s.outcome:10} {s.events:6} "
            f"{s.first_ms:5.0f} ms {s.seconds:6.1f} s"
        )
    first = statistics.median(s.first_ms for s in seen)
    print(f"click to first Event over HTTP and websocket: median {first:.0f} ms ({len(seen)} Runs)")
    if wrong := [s.step for s in seen if s.outcome != s.expected]:
        sys.exit(f"Not as expected: {', '.join(wrong)}")


def wait_for_gpu(stack: Stack) -> None:
    command = [sys.executable, "manage.py", "worker_alive"]
    environment = stack.env | {"CHAINRULE_QUEUE": "gpu"}
    for _ in range(60):
        if not subprocess.run(command, cwd=ROOT, env=environment, capture_output=True).returncode:
            return
        time.sleep(1)
    sys.exit(f"No GPU worker came online:\n{stack.log.read_text()}")


def steps() -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The address of each step that runs something, its Run, and its activity."""
    found = []
    for file in sorted((ROOT / "lessons" / "courses" / COURSE).glob("*/lesson.yaml")):
        lesson = yaml.safe_load(file.read_text())
        for step in lesson["steps"]:
            if "run" in step:
                address = f"/en/{COURSE}/{lesson['id']}/{step['id']}/"
                found.append((address, step["run"], step.get("activity", {})))
    first = next(i for i, (address, _, _) in enumerate(found) if FROM in address)
    return found[first:] + found[:first]


def hypothesis(activity: dict[str, Any]) -> dict[str, str | list[str]]:
    """What a form would send: the keys, and for a text as many letters as it asks for."""
    given: dict[str, str | list[str]] = {}
    for field in activity["fields"]:
        value = field.get("answer", "x" * field.get("min", 1))
        given[field["id"]] = list(map(str, value)) if isinstance(value, list) else str(value)
    return given


def run_step(
    stack: Stack, step: str, run_spec: dict[str, Any], activity: dict[str, Any], device: str = "gpu"
) -> Seen:
    visitor = Visitor(stack.url)
    if activity.get("predict"):
        visitor.get(step)
        form = {"base": "0", "key": str(uuid.uuid4()), "do": "submit"}
        visitor.post(f"{step}answer/", **form, **hypothesis(activity))
    clicked = time.monotonic()
    run = visitor.run(step, device)
    events, first = [], 0.0
    for event in visitor.follow(run):
        first = first or time.monotonic() - clicked
        events.append(event)
    seconds = time.monotonic() - clicked
    if (folder := os.environ.get("RECORDINGS")) and events[-1]["data"]["outcome"] == "passed":
        keep(stack, run, Path(folder) / f"{step.strip('/').replace('/', '-')[3:]}.jsonl.gz")
    outcome = str(events[-1]["data"]["outcome"])
    expected = "failed" if "mutant" in run_spec.get("parameters", {}) else "passed"
    return Seen(step, run_spec["procedure"], expected, outcome, len(events), first * 1000, seconds)


def keep(stack: Stack, run: str, file: Path) -> None:
    command = [sys.executable, "manage.py", "recording", "export", run, str(file)]
    subprocess.run(command, cwd=ROOT, env=stack.env, check=True)


if __name__ == "__main__":
    main()
