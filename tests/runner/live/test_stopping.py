"""Stop and Checkpoint, while queued and while running."""

import time
from functools import partial

import pytest

from runner import api
from runner.models import Run, State
from tests.runner.site import Site, events_of, require_whole, reread, wait_for


def test_stop_while_queued_ends_at_once_and_costs_no_quota(site: Site) -> None:
    blocking = site.submit("test.sleep")
    site.running(blocking)
    run = site.submit("test.sleep")
    before = api.quota(run.owner).used
    view = api.stop(run.id, run.owner)
    assert (view.state, view.outcome) == ("ended", "cancelled")
    require_whole(reread(run))
    assert api.quota(run.owner).used == before - 1
    api.stop(blocking.id, blocking.owner)
    site.ended(blocking)
    time.sleep(0.5)  # the doorbell of the cancelled one rings now, in vain
    assert reread(run).attempt == 0


def test_stop_while_running_lets_the_procedure_end_cleanly(site: Site) -> None:
    run = site.submit("test.sleep")
    site.running(run)
    assert api.stop(run.id, run.owner).stopping
    site.ended(run)
    assert run.outcome == "cancelled"
    assert run.note["code"] == "end.stopped"  # and not "end.killed", after the grace
    require_whole(run)


def test_a_child_that_ignores_sigterm_is_killed_after_the_grace(site: Site) -> None:
    run = site.submit("test.ignore-stop")
    site.running(run)
    child = site.child_of(run)
    api.stop(run.id, run.owner)
    site.ended(run)
    assert run.outcome == "cancelled"
    assert run.note["code"] == "end.killed"
    assert not child.is_running()
    require_whole(run)


def test_a_checkpoint_is_written_and_the_run_goes_on(site: Site) -> None:
    run = site.submit("test.checkpoints")
    site.running(run)
    for wanted in (1, 2):
        api.checkpoint(run.id, run.owner)
        wait_for(partial(has_written, run, wanted))
    assert reread(run).state == State.RUNNING
    api.stop(run.id, run.owner)
    site.ended(run)


def has_written(run: Run, checkpoints: int) -> bool:
    texts = [event["data"].get("text") for event in events_of(run.id)]
    return texts.count("checkpoint written") == checkpoints


def test_only_the_owner_may_stop(site: Site) -> None:
    run = site.submit("test.sleep")
    with pytest.raises(api.RunNotFound):
        api.stop(run.id, site.person())
    api.stop(run.id, run.owner)
    site.ended(run)
