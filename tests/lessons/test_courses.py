"""The courses that the site ships are without a fault."""

from pathlib import Path

import pytest
from django.conf import settings

from lessons.content.check import check
from lessons.content.library import read_shelf

FOLDERS = sorted(path.parent for path in Path(settings.COURSES_DIR).glob("*/course.yaml"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_course_has_no_fault(folder: Path) -> None:
    assert [str(fault) for fault in check(read_shelf(folder))] == []
