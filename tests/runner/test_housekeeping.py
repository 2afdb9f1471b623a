"""Once a day the reaper runs the commands that other apps name in the settings."""

import threading
from typing import Any

import pytest
from django.db import DatabaseError

from runner.management.commands import reaper


@pytest.fixture(autouse=True)
def _database_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaper.connections, "close_all", lambda: None)


def test_every_command_of_the_settings_is_run_also_after_one_that_breaks(
    settings: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[str] = []

    def call(name: str, **_: Any) -> None:
        done.append(name)
        if name == "one":
            raise RuntimeError("the storage is away")

    monkeypatch.setattr(reaper, "call_command", call)
    settings.HOUSEKEEPING = ["one", "two"]
    reaper.keep_house()
    assert done == ["one", "two"]
    assert "The daily one broke off" in caplog.text


def test_the_house_is_kept_soon_after_the_start_and_then_daily(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []

    class Over(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            pauses.append(timeout or 0)
            return len(pauses) > 3

    monkeypatch.setattr(reaper, "keep_house", lambda: None)
    reaper.keep_house_daily(Over())
    assert pauses == [60, 86_400, 86_400, 86_400]


def test_slow_housekeeping_delays_no_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    cleaning, enough = threading.Event(), threading.Event()
    sweeps: list[int] = []

    def clean(over: threading.Event) -> None:
        cleaning.set()
        enough.wait(60)

    def sweep(turn: int) -> None:
        assert cleaning.wait(60)
        sweeps.append(turn)
        if turn == 3:
            handlers[reaper.signal.SIGTERM]()

    handlers: dict[int, Any] = {}
    monkeypatch.setattr(reaper.signal, "signal", handlers.__setitem__)
    monkeypatch.setattr(reaper, "keep_house_daily", clean)
    monkeypatch.setattr(reaper, "sweep_once", sweep)
    reaper.Command().handle(every=0.001)
    enough.set()
    assert sweeps == [0, 1, 2, 3]


@pytest.mark.parametrize("error", [DatabaseError("away"), ValueError("unexpected")])
def test_no_error_ends_the_sweeping(
    error: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise error

    monkeypatch.setattr(reaper, "close_old_connections", lambda: None)
    monkeypatch.setattr(reaper, "sweep", broken)
    reaper.sweep_once(0)
    assert len(caplog.records) == 1


class Turns(threading.Event):
    """Over after so many turns; notes the pauses between them."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most
        self.pauses: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.pauses.append(timeout or 0)
        return len(self.pauses) > self.most


def test_what_is_to_be_done_in_the_background_is_done_a_slice_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []

    def two_slices() -> bool:
        done.append("slice")
        return len(done) < 2

    over = Turns(3)
    monkeypatch.setattr(reaper, "close_old_connections", lambda: None)
    reaper.work_in_the_background(over, two_slices)
    assert done == ["slice", "slice", "slice"]
    assert over.pauses == [0.5, 0.02, 0.5, 0.5]


def test_a_slice_that_breaks_off_comes_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def breaks() -> bool:
        raise RuntimeError("the storage is away")

    over = Turns(2)
    monkeypatch.setattr(reaper, "close_old_connections", lambda: None)
    reaper.work_in_the_background(over, breaks)
    assert over.pauses == [0.5, 0.5, 0.5]
    assert caplog.text.count("broke off; it comes again") == 2


def test_what_waits_for_another_machine_holds_up_nothing_else(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered, done = threading.Event(), threading.Event()

    def waits() -> bool:
        return not answered.wait(10)

    def works() -> bool:
        done.set()
        return False

    tasks = {"waits": waits, "works": works}
    monkeypatch.setattr(reaper, "import_string", tasks.__getitem__)
    monkeypatch.setattr(reaper, "close_old_connections", lambda: None)
    monkeypatch.setattr(reaper, "keep_house_daily", lambda over: None)
    monkeypatch.setattr(reaper, "sweep_once", lambda turn: handlers[reaper.signal.SIGTERM]())
    handlers: dict[int, Any] = {}
    monkeypatch.setattr(reaper.signal, "signal", handlers.__setitem__)
    monkeypatch.setattr(reaper, "_BACKGROUND_PAUSE", 0.001)
    settings.BACKGROUND = list(tasks)
    reaper.Command().handle(every=1)
    assert done.is_set()
    answered.set()
