"""kill -9 and an absent broker, a few times each; `python -m tests.bench.chaos` strikes more."""

import pytest

from tests.runner import chaos
from tests.runner.site import Site

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(240)]


@pytest.mark.parametrize("again", range(3))
def test_a_killed_child_loses_no_event(site: Site, again: int) -> None:
    chaos.strike_child(site)
    chaos.require_nothing_stuck()


@pytest.mark.parametrize("again", range(3))
def test_a_killed_web_process_loses_no_event(site: Site, again: int) -> None:
    chaos.strike_web(site)
    chaos.require_nothing_stuck()


@pytest.mark.parametrize("strike", [chaos.strike_worker, chaos.strike_slot, chaos.strike_worker])
def test_a_killed_worker_loses_no_event_and_is_noticed(site: Site, strike: object) -> None:
    strike(site)  # type: ignore[operator]
    chaos.require_nothing_stuck()


@pytest.mark.parametrize("strike", [chaos.strike_valkey, chaos.freeze_valkey, chaos.strike_valkey])
def test_a_broker_away_loses_no_event(site: Site, strike: object) -> None:
    strike(site, away=4)  # type: ignore[operator]
    chaos.require_nothing_stuck()
