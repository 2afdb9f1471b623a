"""The small course, whose keys tests may mend; a database for races."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils.translation import override
from pytest_django import Settings

from lessons.content import library
from tests.lessons.conftest import racing as racing
from tests.lessons.small_course import SmallCourse


class Mending(SmallCourse):
    """A course whose changed files are seen at once."""

    def write(self, file: str, text: str) -> None:
        super().write(file, text)
        library._keeper.looked_at = 0


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    """Whatever language the page asked for last was in."""
    with override("en"):
        yield


@pytest.fixture
def small(tmp_path: Path, settings: Settings) -> Mending:
    course = Mending(tmp_path / "courses")
    settings.COURSES_DIR = course.root
    return course
