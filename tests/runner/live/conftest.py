"""Real processes for the tests in this folder: started once, taken down after the last."""

from collections.abc import Iterator

import pytest
from pytest_django.plugin import DjangoDbBlocker

from tests.runner.site import Site


@pytest.fixture(scope="package")
def site(
    tmp_path_factory: pytest.TempPathFactory, django_db_blocker: DjangoDbBlocker
) -> Iterator[Site]:
    with django_db_blocker.unblock():
        running = Site(tmp_path_factory.mktemp("site"))
        try:
            running.open()
            yield running
        finally:
            running.close()
