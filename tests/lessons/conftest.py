"""A small course in three languages, in a folder of its own, that tests may break at will."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connections
from django.test import Client
from pytest_django import Settings

from tests.lessons.small_course import SmallCourse


@pytest.fixture
def small(tmp_path: Path, settings: Settings) -> SmallCourse:
    course = SmallCourse(tmp_path / "courses")
    settings.COURSES_DIR = course.root
    return course


@pytest.fixture
def reader(small: SmallCourse, db: None) -> Client:
    """Somebody who has not written anything yet, in front of the small course."""
    return Client()


@pytest.fixture
def racing(transactional_db: None, tmp_path: Path) -> Iterator[None]:
    """A database that several threads really write to at once: on SQLite a file of its own."""
    if "sqlite" not in connections.settings["default"]["ENGINE"]:
        yield
        return
    kept = connections["default"], connections.settings["default"]["NAME"]
    del connections["default"]
    connections.settings["default"]["NAME"] = str(tmp_path / "race.sqlite3")
    call_command("migrate", verbosity=0, interactive=False)
    yield
    connections["default"].close()
    connections["default"], connections.settings["default"]["NAME"] = kept
