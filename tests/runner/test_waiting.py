"""Position in the queue, and a range that comes from what was measured."""

from datetime import timedelta

import pytest
from django.utils import timezone

from runner import api, limits
from tests.runner import rows

pytestmark = pytest.mark.django_db


def test_the_next_one_has_position_1_and_others_count_from_there() -> None:
    rows.a_worker()
    rows.a_running_run(created_at=timezone.now() - timedelta(seconds=9))
    first, second = rows.a_run(), rows.a_run()
    rows.a_run(device="gpu")
    assert api.snapshot(first.id, first.owner).queue_position == 1
    assert api.snapshot(second.id, second.owner).queue_position == 2


def test_the_range_goes_from_the_median_to_the_slow_ones_of_all_before_it() -> None:
    rows.a_worker()
    for seconds in (10, 10, 10, 10, 10, 10, 10, 10, 10, 40):
        rows.an_ended_run(seconds=seconds)
    rows.a_run()
    last = rows.a_run()
    low, high = api.snapshot(last.id, last.owner).wait_range or (0, 0)
    assert low == 10
    assert 40 <= high <= 42


def test_two_slots_halve_it() -> None:
    rows.a_worker()
    rows.a_worker()
    for _ in range(5):
        rows.an_ended_run(seconds=20)
    rows.a_run()
    last = rows.a_run()
    assert (api.snapshot(last.id, last.owner).wait_range or (0, 0))[0] == 10


def test_what_a_running_one_has_done_is_not_waited_for_again() -> None:
    rows.a_worker()
    for _ in range(5):
        rows.an_ended_run(seconds=20)
    started = timezone.now() - timedelta(seconds=15)
    rows.a_running_run(created_at=started, started_at=started)
    waiting = rows.a_run()
    assert (api.snapshot(waiting.id, waiting.owner).wait_range or (99, 0))[0] <= 5


def test_without_a_worker_nobody_pretends_to_know() -> None:
    run = rows.a_run()
    assert api.snapshot(run.id, run.owner).wait_range is None


def test_a_run_that_does_not_wait_has_neither() -> None:
    run = rows.a_running_run()
    snapshot = api.snapshot(run.id, run.owner)
    assert (snapshot.queue_position, snapshot.wait_range) == (None, None)


def test_a_device_is_offline_ten_seconds_after_its_last_heartbeat() -> None:
    rows.a_worker("cpu", seconds_ago=9, device_name="Some CPU", sandbox="bubblewrap")
    rows.a_worker("gpu", seconds_ago=11, device_name="NVIDIA H200")
    gpu, cpu = api.devices()
    assert (gpu.device, gpu.online, gpu.name) == ("gpu", False, "")
    assert (cpu.device, cpu.online, cpu.name, cpu.sandbox) == (
        "cpu",
        True,
        "Some CPU",
        "bubblewrap",
    )


def test_a_page_is_drawn_from_a_bounded_number_of_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PAGE_EVENTS", 3)
    run = rows.an_ended_run()
    told = rows.tell(run, *range(1, 8))
    snapshot = api.snapshot(run.id, run.owner)
    assert snapshot.events == told[:3]
    assert api.events_after(run.id, run.owner, snapshot.events[-1]["seq"]) == told[3:]
