"""How a Run ends: every way a child can end has an outcome and a sentence of its own."""

import pytest

from runner.models import Run
from tests.runner.site import Site, events_of, require_whole


def notes(run: Run) -> list[str]:
    return [e["data"]["note"]["code"] for e in events_of(run.id) if e["data"].get("note")]


def text(run: Run) -> str:
    return "".join(e["data"].get("text", "") for e in events_of(run.id) if e["kind"] == "log")


@pytest.mark.parametrize(
    ("procedure", "parameters", "outcome", "note"),
    [
        ("test.count", {}, "passed", "outcome.passed"),
        ("test.cases", {}, "passed", "end.cases"),
        ("test.cases", {"failing": 1}, "failed", "end.cases"),
        ("test.bad-code", {}, "error_in_code", "end.error-in-code"),
        ("test.segfault", {}, "error_in_code", "end.crashed"),
        ("test.eat-memory", {}, "out_of_memory", "end.memory-limit"),
        ("test.allocation-refused", {}, "out_of_memory", "end.out-of-memory"),
        ("test.too-slow", {}, "timed_out", "end.timed-out"),
        ("test.raise", {}, "infrastructure_failure", "end.fault"),
        ("test.exit", {}, "infrastructure_failure", "end.vanished"),
    ],
)
def test_each_ending_has_its_own_outcome(
    site: Site, procedure: str, parameters: dict[str, int], outcome: str, note: str
) -> None:
    run = site.run(procedure, **parameters)
    assert run.outcome == outcome, text(run)
    assert run.note["code"] == note
    require_whole(run)
