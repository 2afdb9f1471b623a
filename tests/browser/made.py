"""Runs in every state, put into a running system's database: `python -m tests.browser.made`.

Prints the session of their owner and their ids as JSON. Those that go on are out of reach of
the worker and the sweeper: one waits for a GPU that is not there, one holds a long lease.
"""

import json
import os
import sys
from datetime import timedelta
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chainrule.settings")
django.setup()

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY  # noqa: E402
from django.contrib.sessions.backends.db import SessionStore  # noqa: E402
from django.core.files.base import ContentFile  # noqa: E402
from django.utils import timezone  # noqa: E402

from accounts.models import Person  # noqa: E402
from kernels.artifacts import checkpoint_step  # noqa: E402
from kernels.events import Outcome  # noqa: E402
from runner.models import Run, RunArtifact, StoredEvent  # noqa: E402
from tests.browser.trained import resumed, trained  # noqa: E402

AT = "2026-11-30T12:00:00.000Z"
MADE = {
    "device": "cuda", "device_name": "NVIDIA H200", "driver": "580.159", "torch": "2.11.0",
    "triton": "3.6.0", "python": "3.12.3", "commit": "8fe31fb7875c0ffee", "seed": 1,
    "sandbox": "bubblewrap", "interpreter": 0, "version": 1,
}  # fmt: skip
Said = tuple[str, dict[str, Any]]


def main() -> None:
    person = Person.objects.create_guest("en")
    runs = {outcome.value: ended(person, outcome) for outcome in Outcome}
    runs["training"] = ended(person, Outcome.PASSED, curves(), "rmsnorm.train-integration")
    runs["table"] = ended(person, Outcome.PASSED, told(), "rmsnorm.exercise")
    runs["recording"] = ended(None, Outcome.PASSED, is_recording=True)
    runs["queued"] = create(Person.objects.create_guest("en"), [], device="gpu", state="queued")
    runs["running"] = create(
        person, checked()[:40], state="running", started_at=timezone.now(), attempt=1,
        lease_until=timezone.now() + timedelta(days=1), made=MADE,
    )  # fmt: skip
    runs["checkpoints"] = create(
        Person.objects.create_guest("en"), [beginning()], procedure="andrea.train",
        state="running", started_at=timezone.now(), attempt=1, made=MADE,
        lease_until=timezone.now() + timedelta(days=1),
    )  # fmt: skip
    runs["trained"] = a_training(person, trained(300))
    runs["lost"] = a_training(
        person, trained(300, lost_at=257, telemetry=True), parameters={"warmup": 0, "decay": 0.0},
        attempt=2, began_at=timezone.now() - timedelta(seconds=64),
    )  # fmt: skip
    start = {"run": str(runs["trained"].pk), "file": "step_000200.bin", "step": 200}
    runs["resumed"] = a_training(person, resumed(200, 300), resumes=start)
    runs["long"] = a_training(person, trained(10_000))
    sessions = {name: session(run.owner) for name, run in runs.items() if run.owner}
    ids = {name: str(run.pk) for name, run in runs.items()}
    json.dump({"sessions": sessions, "runs": ids}, sys.stdout)


def ended(
    person: Person | None,
    outcome: Outcome,
    said: list[Said] | None = None,
    procedure: str = "rmsnorm.check-forward",
    **fields: Any,
) -> Run:
    whole = said or checked(fails=outcome == Outcome.FAILED)
    end = {
        "outcome": outcome.value,
        "note": {"code": "end.cases", "params": {"passed": 66, "total": 72}},
    }
    now = timezone.now()
    return create(
        person, [*whole, ("outcome", end)], procedure=procedure, state="ended", made=MADE,
        outcome=outcome.value, note=end["note"], started_at=now - timedelta(seconds=4),
        ended_at=now, **fields,
    )  # fmt: skip


def a_training(person: Person, said: list[Said], **fields: Any) -> Run:
    """With its checkpoints, of which the last three are kept and the rest were let go."""
    run = ended(person, Outcome.PASSED, [beginning(), *said], "andrea.train", **fields)
    files = {data["name"]: data for kind, data in said if kind == "artifact"}
    names = sorted(files, key=lambda name: checkpoint_step(name) or 0)
    for name in names:
        file = ContentFile(b"weights", name=f"runs/{run.pk}/{name}") if name in names[-3:] else ""
        RunArtifact.objects.create(run=run, file=file, **files[name])
    return run


def create(person: Person | None, said: list[Said], **fields: Any) -> Run:
    defaults = {"procedure": "rmsnorm.check-forward", "device": "cpu", "last_seq": len(said)}
    run: Run = Run.objects.create(owner=person, **(defaults | fields))
    StoredEvent.objects.bulk_create(
        StoredEvent(run=run, seq=seq, kind=kind, at=AT, data=data)
        for seq, (kind, data) in enumerate(said, start=1)
    )
    return run


def beginning() -> Said:
    return "log", {"note": {"code": "made", "params": MADE}, "level": "info"}


def checked(fails: bool = True) -> list[Said]:
    """72 cases; those of 17 rows and 257 columns fail when asked to."""
    said: list[Said] = [beginning()]
    for done in range(72):
        row, column, slot = done // 12, done % 12 // 3, done % 3
        failed = fails and row % 3 == 1 and column == 2
        case = {
            "id": str(done), "verdict": "failed" if failed else "passed",
            "labels": {"dtype": "FP32", "rows": 17, "columns": 257, "seed": slot + 1},
            "place": [row, column, slot], "what": "y",
            "max_abs_error": 0.411458 if failed else 2e-7, "atol": 1e-05, "rtol": 0.0001,
            "worst": {"index": [0, 3], "got": 1.411458, "expected": 0.9999995, "allowed": 0.00011},
        }  # fmt: skip
        if failed:
            case["why"] = {
                "code": "why.by-block",
                "params": {"factor": 1.41146, "block": 512, "columns": 257},
            }
        said += [("case", case), ("progress", {"done": done + 1, "total": 72})]
    special = {
        "id": "zeros",
        "verdict": "passed",
        "labels": {"dtype": "FP16", "input": "row-of-zeros"},
    }
    return [*said, ("case", special | {"max_abs_error": 0.0})]


def curves() -> list[Said]:
    said: list[Said] = [beginning()]
    for step in range(1, 1501):
        for series in ("reference", "kernel"):
            point = {"name": "loss", "series": series, "step": step, "value": 1 / step}
            said.append(("metric", point))
    return [*said, ("metric", {"name": "reload-difference", "value": 0.0})]


def told() -> list[Said]:
    """Everything that is neither a square nor a curve."""
    labels = {"judge": "oracle", "forward": "block"}
    return [
        beginning(),
        ("metric", {"name": "inflation", "value": 1.411459, "unit": None}),
        ("metric", {"name": "forward-kernel", "value": 12.5, "unit": "us"}),
        ("case", {"id": "a", "verdict": "passed", "labels": labels}),
        ("table", {
            "name": "judges", "columns": [{"key": "forward"}, {"key": "bytes", "unit": "B"}],
            "rows": [["right", 131584], ["block", None]],
        }),
        ("sample", {"step": 50, "text": "def forward(x):", "scores": {}}),
        ("log", {"text": "<b>raw</b> output\n", "level": "warning"}),
    ]  # fmt: skip


def session(person: Person) -> str:
    store = SessionStore()
    store[SESSION_KEY] = str(person.pk)
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store[HASH_SESSION_KEY] = person.get_session_auth_hash()
    store.create()
    return str(store.session_key)


if __name__ == "__main__":
    main()
