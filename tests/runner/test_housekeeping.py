"""Once a day the reaper runs the commands that other apps name in the settings."""

from typing import Any

from runner.management.commands import reaper


def test_every_command_of_the_settings_is_run(settings: Any, monkeypatch: Any) -> None:
    done: list[str] = []
    monkeypatch.setattr(reaper, "call_command", lambda name, **_: done.append(name))
    settings.HOUSEKEEPING = ["one", "two"]
    reaper.keep_house()
    assert done == ["one", "two"]


def test_a_day_of_sweeps_keeps_house_once() -> None:
    turns = range(reaper._HOUSEKEEPING_EVERY)
    due = [t for t in turns if t % reaper._HOUSEKEEPING_EVERY == reaper._HOUSEKEEPING_FIRST]
    assert due == [60]
