"""The courses in memory follow their files."""

import os
from pathlib import Path

import pytest

from lessons.content import library as module
from lessons.content.library import library
from tests.lessons.small_course import SmallCourse


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_EVERY_SECONDS", 0.0)


def test_an_edit_shows_without_a_restart(small: SmallCourse, impatient: None) -> None:
    assert library().shelves["small"].texts.get("title", "en").markdown == "A small course"
    small.change("small/en.md", "A small course", "A changed course, longer")
    assert library().shelves["small"].texts.get("title", "en").markdown.startswith("A changed")


def test_what_was_rendered_is_kept_until_a_file_changes(
    small: SmallCourse, impatient: None
) -> None:
    made: list[int] = []

    def make() -> int:
        made.append(1)
        return len(made)

    assert library().keep("x", make) == library().keep("x", make) == 1
    os.utime(small.root / "small" / "en.md", (1, 1))
    assert library().keep("x", make) == 2


def test_files_are_looked_at_once_a_second_at_most(
    small: SmallCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    library()
    looks: list[int] = []
    real = module._fingerprint

    def counted(root: Path, sources: Path) -> module.Fingerprint:
        looks.append(1)
        return real(root, sources)

    monkeypatch.setattr(module, "_fingerprint", counted)
    for _ in range(50):
        library()
    assert len(looks) <= 1


def test_a_lesson_with_faults_is_told_apart_and_the_others_stay(small: SmallCourse) -> None:
    small.change("small/01-first/lesson.yaml", "minutes: 20", "minutes: soon")
    shelf = small.shelf()
    assert list(shelf.broken) == ["first"]
    assert shelf.course.lesson("second") is not None
