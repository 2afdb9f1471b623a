"""Processes that die and a broker that freezes: each once. Over and over: test_chaos."""

import signal
import time

from runner import api, limits
from runner.models import Run, WorkerNode
from tests.runner.chaos import NOT_HUNG_SECONDS
from tests.runner.site import Site, events_of, require_whole, reread, wait_for
from tests.runner.sockets import Viewer


def test_a_frozen_broker_does_not_hang_a_submit_and_the_run_starts_when_it_is_back(
    site: Site,
) -> None:
    site.valkey.signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        run = site.submit("test.count")
        took = time.monotonic() - began
    finally:
        site.valkey.signal(signal.SIGCONT)
    assert took < NOT_HUNG_SECONDS
    assert run.state == "queued"
    site.ended(run)
    assert run.outcome == "passed"


def test_events_reach_a_viewer_from_the_log_while_the_broker_is_frozen(site: Site) -> None:
    run = site.submit("test.count", events=400, pause=0.01)
    with Viewer(site, run) as viewer:
        viewer.watch_until(20)
        site.valkey.signal(signal.SIGSTOP)
        try:
            viewer.watch()
        finally:
            site.valkey.signal(signal.SIGCONT)
    assert viewer.events == events_of(run.id)
    require_whole(reread(run))


def test_a_dead_warm_parent_is_a_fault_of_ours_and_the_next_run_has_a_new_one(site: Site) -> None:
    run = site.submit("test.sleep")
    site.running(run)
    parent = site.child_of(run).parent()
    assert parent is not None
    parent.kill()
    site.ended(run)
    assert run.outcome == "infrastructure_failure"
    assert run.note["code"] == "end.worker-lost"
    assert site.run("test.count").outcome == "passed"


def test_a_fault_of_ours_is_not_charged(site: Site) -> None:
    run = site.run("test.exit")
    assert run.outcome == "infrastructure_failure"
    assert api.quota(run.owner).used == 0


def test_a_dead_worker_is_noticed_and_the_run_starts_again(site: Site) -> None:
    run = site.submit("test.count", events=600, pause=0.02)
    site.running(run, events=20)
    child = site.child_of(run)
    site.restart(site.worker)
    wait_for(lambda: not child.is_running())
    wait_for(lambda: reread(run).attempt == 2 or run.state == "queued")
    site.ended(run)
    assert run.outcome == "passed"
    codes = [e["data"]["note"]["code"] for e in events_of(run.id) if e["data"].get("note")]
    assert codes.count("log.restarted") == 1
    require_whole(run)


def test_a_run_that_lost_two_workers_ends_as_a_fault_of_ours(site: Site) -> None:
    run = site.submit("test.sleep", seconds=60)
    site.running(run)
    Run.objects.filter(id=run.id).update(attempt=2, tries=limits.MAX_TRIES)
    site.ended(run)  # the worker finds its attempt stale and lets go; nobody renews the lease
    assert run.outcome == "infrastructure_failure"
    assert api.quota(run.owner).used == 0
    require_whole(run)


def test_a_worker_that_stops_is_offline_at_once(site: Site) -> None:
    site.worker.signal(signal.SIGTERM)
    assert site.worker.ended_within(60)
    assert not WorkerNode.objects.exists()
    site.start(site.worker)
    wait_for(lambda: any(device.online for device in api.devices()))
