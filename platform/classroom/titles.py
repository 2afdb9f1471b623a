"""What a course, its lessons and its questions are called in the reader's language, as text."""

from dataclasses import dataclass

from lessons.content.library import Shelf, library
from lessons.content.prose import plain
from lessons.content.structure import Lesson, Step
from lessons.views.found import reading_language


@dataclass(frozen=True)
class Named:
    """A lesson (or a course) with its title."""

    id: str
    title: str


@dataclass(frozen=True)
class Titles:
    shelf: Shelf
    language: str

    def course(self) -> str:
        return plain(self.shelf.texts.get("title", self.language).markdown)

    def lesson(self, lesson: Lesson) -> str:
        return self._text(lesson, "title") or lesson.id

    def step(self, lesson: Lesson, step: Step) -> str:
        return self._text(lesson, f"{step.id}/title") or step.id

    def question(self, lesson: Lesson, step: Step) -> str:
        """By the question's own title, or else its step's."""
        return self._text(lesson, f"{step.id}/ask.title") or self.step(lesson, step)

    def _text(self, lesson: Lesson, block: str) -> str:
        return plain(self.shelf.lesson_texts[lesson.id].get(block, self.language).markdown)


def titles_of(course: str) -> Titles | None:
    """None: the folder of the course is gone."""
    shelf = library().shelves.get(course)
    return Titles(shelf, reading_language()) if shelf else None


def courses() -> list[Named]:
    """All that this site has."""
    return [Named(name, course_title(name)) for name in library().shelves]


def course_title(course: str) -> str:
    """Its title; its name where the course is gone from this site."""
    titles = titles_of(course)
    return titles.course() if titles else course


def lessons(course: str) -> list[Named]:
    titles = titles_of(course)
    found = titles.shelf.course.lessons if titles else ()
    return [Named(lesson.id, titles.lesson(lesson)) for lesson in found if titles]


def place_of(course: str, activity: str) -> tuple[Lesson, Step] | None:
    """The lesson and the step in which the Activity is asked; None: it is asked no more."""
    shelf = library().shelves.get(course)
    for lesson, step in shelf.course.steps() if shelf else ():
        if step.activity and step.activity.id == activity:
            return lesson, step
    return None
