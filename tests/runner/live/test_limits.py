"""What a child may print, send, write and leave behind."""

import hashlib

import psutil

from runner import api, limits
from runner.models import Run
from tests.runner.site import Site, events_of, require_whole, wait_for


def notes(run: Run) -> list[str]:
    return [e["data"]["note"]["code"] for e in events_of(run.id) if e["data"].get("note")]


def printed(run: Run) -> str:
    return "".join(e["data"].get("text", "") for e in events_of(run.id) if e["kind"] == "log")


def log_file(run: Run) -> bytes:
    return api.artifact(run.id, run.owner, "log.txt")[1].read()


def test_a_tight_print_loop_shows_head_and_tail_and_keeps_the_whole(site: Site) -> None:
    run = site.run("test.print-loop", lines=200_000)
    assert run.outcome == "passed"
    text = printed(run)
    assert text.startswith("line 0\n")
    assert text.endswith("line 199999\n")
    assert len(text.encode()) <= limits.LOG_HEAD_BYTES + limits.LOG_TAIL_BYTES
    assert "log.cut" in notes(run) and "log.truncated" in notes(run)
    whole = log_file(run)
    assert whole == b"".join(b"line %d\n" % n for n in range(200_000))
    assert run.last_seq < 100


def test_short_output_is_whole_and_in_order(site: Site) -> None:
    run = site.run("test.print-slowly", lines=20, pause=0.02)
    assert printed(run) == "".join(f"line {n}\n" for n in range(20))
    assert "log.cut" not in notes(run)
    assert log_file(run).decode() == printed(run)


def test_an_event_too_large_is_refused_with_a_note_and_the_next_one_passes(site: Site) -> None:
    run = site.run("test.huge-event")
    assert "log.event-too-long" in notes(run)
    assert "small again" in printed(run)
    assert run.outcome == "passed"


def test_a_flood_of_events_is_cut_and_counted_and_takes_no_file_and_no_failure_with_it(
    site: Site,
) -> None:
    run = site.run("test.events-flood", events=limits.MAX_EVENTS + 500)
    events = events_of(run.id)
    assert (run.outcome, run.passed, run.failed) == ("failed", 1, 1)
    assert [e["kind"] for e in events[limits.MAX_EVENTS :]] == [
        *("case", "log", "artifact", "log", "outcome")
    ]
    assert events[-2]["data"]["note"] == {"code": "log.events-dropped", "params": {"count": 502}}
    assert api.artifact(run.id, run.owner, "weights.bin")[1].read() == b"weights"
    require_whole(run)


def test_large_events_together_are_cut_too(site: Site) -> None:
    run = site.run("test.large-events", events=300)
    stored = sum(len(e["data"].get("text", "")) for e in events_of(run.id))
    assert run.outcome == "passed"
    assert stored <= limits.MAX_EVENTS_BYTES
    assert "log.events-dropped" in notes(run)
    require_whole(run)


def test_text_that_no_database_takes_is_made_storable(site: Site) -> None:
    run = site.run("test.odd-text")
    assert run.outcome == "passed"
    text = printed(run)
    assert "\0" not in text and "\ud800" not in text
    assert "<script>alert(1)</script>" in text  # escaped where it is shown, not here
    metric = next(e for e in events_of(run.id) if e["kind"] == "metric")
    assert metric["data"]["value"] == "inf"


def test_an_artifact_is_stored_as_measured_and_a_bad_one_refused(site: Site) -> None:
    run = site.run("test.artifacts")
    view, file = api.artifact(run.id, run.owner, "figures/loss.svg")
    content = file.read()
    assert content.startswith(b"<svg")
    assert view.sha256 == hashlib.sha256(content).hexdigest()
    assert view.media == "image/svg+xml"
    assert notes(run).count("log.artifact-missing") == 4
    assert [a.name for a in api.get(run.id, run.owner).artifacts] == ["figures/loss.svg"]


def test_what_a_child_leaves_behind_is_killed(site: Site) -> None:
    run = site.run("test.leave-children")
    assert run.outcome == "passed"

    def sleepers() -> list[psutil.Process]:
        return [
            p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", "987"]
        ]

    wait_for(lambda: not sleepers())
    require_whole(run)


def test_no_folder_of_a_run_stays(site: Site) -> None:
    site.run("test.count")
    wait_for(lambda: not list((site.folder / "work").glob("*/runs/*")))
