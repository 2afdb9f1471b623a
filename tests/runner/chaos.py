"""One blow each: something is killed or taken away in the middle of a Run that is watched.

Each returns what it measured and asserts what must hold whatever is killed: every Event stored
and seen once, no Run stuck, and the next Run runs. Tests strike a few times, the bench 20.
"""

import signal
import time
from collections.abc import Callable

from runner.models import Run
from tests.runner.site import Site, events_of, require_whole, reread, wait_for
from tests.runner.sockets import Tab

NOTICED_SECONDS = 12.0  # promised of a machine with time to spare; `tests.bench.chaos` holds it
NOT_HUNG_SECONDS = 10.0  # well below the broker's own timeouts, well above a busy machine's delays


def strike_child(site: Site) -> float:
    """kill -9 of the child: a fault of ours, told at once."""
    run = site.submit("test.count", events=2000, pause=0.01)
    with Tab(site, run) as tab:
        site.running(run, events=20)
        struck = time.monotonic()
        site.child_of(run).kill()
        site.ended(run)
        took = time.monotonic() - struck
        tab.finish()
    assert run.outcome == "infrastructure_failure"
    require_seen_once(run, tab)
    return took


def strike_worker(site: Site) -> float:
    """kill -9 of the worker: noticed by its lease, and the Run starts again elsewhere."""
    assert site.worker.process is not None
    return strike_whoever_runs(site, lambda: site.restart(site.worker))


def strike_slot(site: Site) -> float:
    """kill -9 of the process below the worker that owns the device."""

    def kill_slot() -> None:
        assert site.worker.process is not None
        main = site.worker.process.pid
        for process in site.descendants(site.worker):
            if process.ppid() == main:
                process.kill()

    return strike_whoever_runs(site, kill_slot)


def strike_whoever_runs(site: Site, strike: Callable[[], None]) -> float:
    run = site.submit("test.count", events=500, pause=0.01)
    with Tab(site, run) as tab:
        site.running(run, events=20)
        child = site.child_of(run)
        struck = time.monotonic()
        strike()
        wait_for(lambda: not child.is_running())
        wait_for(lambda: reread(run).state == "queued" or run.attempt == 2)
        took = time.monotonic() - struck
        site.ended(run)
        tab.finish()
    assert run.outcome == "passed"
    require_seen_once(run, tab)
    return took


def strike_web(site: Site) -> float:
    """kill -9 of the web process: its viewers come back to the next one and miss nothing."""
    run = site.submit("test.count", events=500, pause=0.01)
    with Tab(site, run) as tab:
        site.running(run, events=20)
        wait_for(lambda: tab.events)
        struck = time.monotonic()
        site.restart(site.web)
        wait_for(lambda: tab.connections > 1)
        took = time.monotonic() - struck
        site.ended(run)
        tab.finish()
    assert run.outcome == "passed"
    require_seen_once(run, tab)
    return took


def strike_valkey(site: Site, away: float = 10) -> float:
    """kill -9 of Valkey, back after a while: Runs go on meanwhile, and what waits starts then."""
    run = site.submit("test.count", events=600, pause=0.01)
    with Tab(site, run) as tab:
        site.running(run, events=20)
        assert site.valkey.process is not None
        site.valkey.process.kill()
        site.valkey.process.wait()
        submitted = time.monotonic()
        waiting = site.submit("test.count")
        assert time.monotonic() - submitted < NOT_HUNG_SECONDS
        time.sleep(away)
        site.start(site.valkey)
        back = time.monotonic()
        site.ended(run)
        tab.finish()
        site.ended(waiting)
    assert run.outcome == waiting.outcome == "passed"
    require_seen_once(run, tab)
    require_whole(waiting)
    return time.monotonic() - back


def freeze_valkey(site: Site, away: float = 10) -> float:
    """SIGSTOP: a broker that neither answers nor hangs up."""
    run = site.submit("test.count", events=600, pause=0.01)
    with Tab(site, run) as tab:
        site.running(run, events=20)
        site.valkey.signal(signal.SIGSTOP)
        time.sleep(away)
        site.valkey.signal(signal.SIGCONT)
        back = time.monotonic()
        site.ended(run)
        tab.finish()
    assert run.outcome == "passed"
    require_seen_once(run, tab)
    assert site.run("test.count").outcome == "passed"
    return time.monotonic() - back


def require_seen_once(run: Run, tab: Tab) -> None:
    require_whole(run)
    assert tab.events == events_of(run.id)


def require_nothing_stuck() -> None:
    assert not Run.objects.active().exists()
