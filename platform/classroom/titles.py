"""What a course, its lessons and its questions are called in the reader's language, as text."""

from dataclasses import dataclass

from classroom.amounts import language
from lessons.content.library import Shelf, library
from lessons.content.prose import plain
from lessons.content.structure import Lesson, Step


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
    return Titles(shelf, language()) if shelf else None
