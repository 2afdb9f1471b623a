"""A small course in three languages, in a folder of its own, that tests may break at will."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connections
from django.test import Client
from pytest_django import DjangoDbBlocker, Settings

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
def database_file(tmp_path: Path, django_db_blocker: DjangoDbBlocker) -> Iterator[Path]:
    """A database in a file, which several threads really write to at once."""
    kept = connections["default"], connections.settings["default"]["NAME"]
    path = tmp_path / "race.sqlite3"
    with django_db_blocker.unblock():
        del connections["default"]
        connections.settings["default"]["NAME"] = str(path)
        call_command("migrate", verbosity=0, interactive=False)
        yield path
        connections["default"].close()
        connections["default"], connections.settings["default"]["NAME"] = kept
