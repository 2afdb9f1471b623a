"""What every test may use: a real Valkey, and the whole system started as a user starts it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from chainrule.serving import plan
from tests.stack import Stack


def pytest_configure(config: pytest.Config) -> None:
    # Pages made in a unit test name static files as they are; `stack` serves the hashed ones.
    settings.STORAGES["staticfiles"] = {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
    }


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests last: Playwright keeps an event loop running in the thread of the tests, and
    asyncio refuses to run another one there."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(os.environ["DATA_DIR"], ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def valkey() -> Iterator[str]:
    """The address of a real Valkey server, which settings.REDIS_URL names too."""
    path = Path(settings.DATA_DIR) / "valkey.sock"
    server = plan.valkey(path)
    server.start()
    while not path.exists():
        assert server.tend() is None, "Valkey did not start"
    yield settings.REDIS_URL
    server.signal(15)
    server.ended_within(5)


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The whole system behind `.url`: web, a CPU worker, the reaper and its own Valkey."""
    # A learning platform of the tests stands on this machine, without HTTPS.
    with Stack(tmp_path_factory.mktemp("stack"), LTI_LOOPBACK="1") as running:
        yield running
