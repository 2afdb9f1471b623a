"""All courses, kept in memory and read again when a file of theirs changes.

`library()` is the door. It looks at the files' times at most once a second, so an author's
edit shows on reload and a reader pays nothing.
"""

import dataclasses
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings

from lessons.content.blocks import Block, read_blocks
from lessons.content.faults import Fault
from lessons.content.lesson_file import read_course, read_lesson
from lessons.content.structure import Course, Lesson

LOOK_EVERY_SECONDS = 1.0
_COURSE_FILES = ("*/*.yaml", "*/*.md", "*/*/*.yaml", "*/*/*.md", "*/*/figures/*.svg")
T = TypeVar("T")


class State(StrEnum):
    FRESH = "fresh"
    STALE = "stale"  # translated from an older source block
    MISSING = "missing"  # not translated: this is the source text
    ABSENT = "absent"  # not even in the source


@dataclass(frozen=True)
class Text:
    """A block as a reader of some language gets it; `language` is the one it is written in."""

    markdown: str
    language: str
    state: State

    def __bool__(self) -> bool:
        return self.state is not State.ABSENT


@dataclass(frozen=True)
class Texts:
    """The blocks of one folder in every language of its course; the first is the source."""

    languages: tuple[str, ...]
    blocks: Mapping[str, Mapping[str, Block]]

    def get(self, block_id: str, language: str) -> Text:
        source = self.blocks[self.languages[0]].get(block_id)
        if source is None:
            return Text("", self.languages[0], State.ABSENT)
        if language == self.languages[0]:
            return Text(source.text, language, State.FRESH)
        translated = self.blocks.get(language, {}).get(block_id)
        if translated is None:
            return Text(source.text, self.languages[0], State.MISSING)
        stale = translated.of is not None and translated.of != source.hash
        return Text(translated.text, language, State.STALE if stale else State.FRESH)


@dataclass(frozen=True)
class Shelf:
    """One course with its texts, and the faults met while reading its files."""

    folder: Path
    course: Course
    texts: Texts  # of the course itself: title, lede, audience, term.<id>
    lesson_texts: Mapping[str, Texts]  # by lesson id
    broken: Mapping[str, tuple[Fault, ...]]  # lesson id -> why it cannot be shown
    faults: tuple[Fault, ...]


@dataclass
class Library:
    shelves: Mapping[str, Shelf]
    kept: dict[Any, Any] = field(default_factory=dict)  # what was made from these files

    def keep(self, key: Any, make: Callable[[], T]) -> T:
        """`make()`, remembered until a file changes. Made twice at worst, never half."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]


def library() -> Library:
    return _keeper.current(Path(settings.COURSES_DIR), Path(settings.BASE_DIR) / "kernels")


def read_shelf(folder: Path) -> Shelf:
    """Read one course from disk, collecting every fault on the way."""
    faults: list[Fault] = []
    course, folders = read_course(folder, faults)
    texts = _texts(folder, folder.name, course.languages, faults)
    lessons: list[Lesson] = []
    lesson_texts: dict[str, Texts] = {}
    broken: dict[str, tuple[Fault, ...]] = {}
    for name in folders:
        found: list[Fault] = []
        lesson = read_lesson(folder / name, found)
        lesson_texts[lesson.id] = _texts(
            folder / name, f"{folder.name}/{name}", course.languages, faults
        )
        if found:
            broken[lesson.id] = tuple(found)
            faults += found
        lessons.append(lesson)
    return Shelf(
        folder,
        dataclasses.replace(course, lessons=tuple(lessons)),
        texts,
        lesson_texts,
        broken,
        tuple(faults),
    )


def _texts(folder: Path, name: str, languages: tuple[str, ...], faults: list[Fault]) -> Texts:
    blocks = {
        language: read_blocks(folder / f"{language}.md", f"{name}/{language}.md", faults)
        for language in languages
    }
    return Texts(languages, blocks)


Fingerprint = tuple[tuple[str, int, int], ...]


class _Keeper:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.root: Path | None = None
        self.looked_at = 0.0
        self.fingerprint: Fingerprint = ()
        self.library = Library({})

    def current(self, root: Path, sources: Path) -> Library:
        now = time.monotonic()
        if root == self.root and now - self.looked_at < LOOK_EVERY_SECONDS:
            return self.library
        with self.lock:
            fingerprint = _fingerprint(root, sources)
            if root != self.root or fingerprint != self.fingerprint:
                folders = sorted(path.parent for path in root.glob("*/course.yaml"))
                self.library = Library({folder.name: read_shelf(folder) for folder in folders})
            self.root, self.fingerprint, self.looked_at = root, fingerprint, now
            return self.library


def _fingerprint(root: Path, sources: Path) -> Fingerprint:
    files = [path for pattern in _COURSE_FILES for path in root.glob(pattern)]
    files += sources.glob("**/*.py")
    found = []
    for path in files:
        try:
            stat = path.stat()
        except OSError:  # an editor is replacing it: the next look sees the new one
            continue
        found.append((str(path), stat.st_mtime_ns, stat.st_size))
    return tuple(sorted(found))


_keeper = _Keeper()
