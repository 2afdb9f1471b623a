"""What a browser is sent: every Event once, whatever it joined late, lost or asked twice."""

import pytest
from websockets.exceptions import InvalidStatus

from runner import api
from runner.models import Run
from tests.runner.site import Site, events_of, require_whole, wait_for
from tests.runner.sockets import Viewer


def test_a_viewer_from_the_start_gets_every_event_once_and_is_closed_at_the_end(
    site: Site,
) -> None:
    run = site.submit("test.count", events=300, pause=0.005)
    with Viewer(site, run) as viewer:
        viewer.watch()
    site.ended(run)
    assert viewer.events == events_of(run.id)
    assert viewer.close_code == 1000
    require_whole(run)


def test_a_reload_in_the_middle_continues_after_the_last_event_seen(site: Site) -> None:
    run = site.submit("test.count", events=200, pause=0.01)
    with Viewer(site, run) as first:
        first.watch_until(40)
    with Viewer(site, run, after=first.numbers[-1]) as second:
        second.watch()
    site.ended(run)
    assert first.events + second.events == events_of(run.id)


def test_a_second_tab_that_joins_late_sees_exactly_the_same(site: Site) -> None:
    run = site.submit("test.count", events=200, pause=0.01)
    with Viewer(site, run) as first:
        first.watch_until(50)
        with Viewer(site, run) as second:
            second.watch()
        first.watch()
    assert first.events == second.events == events_of(run.id)


def test_an_ended_run_is_replayed_and_closed(site: Site) -> None:
    run = site.run("test.count", events=3)
    with Viewer(site, run) as viewer:
        viewer.watch()
    assert viewer.events == events_of(run.id)
    assert viewer.states[-1]["outcome"] == "passed"


def test_after_a_snapshot_the_socket_brings_only_what_is_new(site: Site) -> None:
    run = site.submit("test.count", events=100, pause=0.01)
    site.running(run, events=20)
    snapshot = api.snapshot(run.id, run.owner)
    with Viewer(site, run, after=snapshot.events[-1]["seq"]) as viewer:
        viewer.watch()
    assert snapshot.events + viewer.events == events_of(run.id)


def test_states_go_from_queued_with_a_position_to_ended(site: Site) -> None:
    blocking = site.submit("test.count", events=150, pause=0.01)
    site.running(blocking)
    waiting = site.submit("test.count", events=5)
    with Viewer(site, waiting) as viewer:
        viewer.watch()
    states = [state["state"] for state in viewer.states]
    assert states[0] == "queued"
    assert viewer.states[0]["queue_position"] == 1
    low, high = viewer.states[0]["wait"]
    assert 0 <= low <= high
    assert viewer.states[-1]["state"] == "ended"
    assert viewer.states[-1]["outcome"] == "passed"


def test_strangers_and_anonymous_people_are_refused(site: Site) -> None:
    run = site.run("test.count")
    for cookie in (site.cookie(site.person()), ""):
        with pytest.raises(InvalidStatus) as refused, Viewer(site, run, cookie=cookie):
            pass
        assert refused.value.response.status_code == 403


def test_a_page_of_another_site_is_refused(site: Site) -> None:
    run = site.run("test.count")
    viewer = Viewer(site, run)
    viewer._origin = "https://elsewhere.example"
    with pytest.raises(InvalidStatus), viewer:
        pass


def test_everybody_may_watch_a_recording(site: Site) -> None:
    run = site.run("test.count")
    Run.objects.filter(id=run.id).update(is_recording=True)
    with Viewer(site, run, cookie="") as viewer:
        viewer.watch()
    assert viewer.events == events_of(run.id)


def test_the_first_event_says_where_the_run_was_made(site: Site) -> None:
    run = site.run("test.count")
    first = events_of(run.id)[0]
    assert first["data"]["note"]["code"] == "made"
    assert run.made == first["data"]["note"]["params"]
    assert run.made["device"] == "cpu"
    assert run.made["interpreter"] == 1
    assert run.made["sandbox"] in ("bubblewrap", "none")
    assert run.made["sandbox"] == api.devices()[1].sandbox


def test_a_run_erased_while_watched_closes_the_socket_and_ends_the_child(site: Site) -> None:
    run = site.submit("test.sleep")
    site.running(run)
    child = site.child_of(run)
    with Viewer(site, run) as viewer:
        viewer.watch_until(2)
        api.erase_person(run.owner)
        viewer.watch()
    wait_for(lambda: not child.is_running())
