"""What a course and its lessons are called, in the reader's language."""

from dataclasses import dataclass

from lessons.content.library import library
from lessons.content.prose import plain
from lessons.content.structure import Course, Lesson, Step
from lessons.views.found import reading_language


@dataclass(frozen=True)
class Named:
    """A lesson (or a course) with its title."""

    id: str
    title: str


def courses() -> list[Named]:
    return [Named(name, course_title(name)) for name in library().shelves]


def course_title(course: str) -> str:
    """Its title; its name where the course is gone from this site."""
    shelf = library().shelves.get(course)
    if shelf is None:
        return course
    return plain(shelf.texts.get("title", reading_language()).markdown)


def lessons(course: str) -> list[Named]:
    shelf = library().shelves.get(course)
    if shelf is None:
        return []
    return [Named(lesson.id, lesson_title(course, lesson.id)) for lesson in shelf.course.lessons]


def lesson_title(course: str, lesson: str) -> str:
    shelf = library().shelves.get(course)
    texts = shelf.lesson_texts.get(lesson) if shelf else None
    return plain(texts.get("title", reading_language()).markdown) if texts else lesson


def place_of(course: str, activity: str) -> tuple[Lesson, Step] | None:
    """The lesson and the step in which the Activity is asked; None: it is asked no more."""
    found = _course(course)
    for lesson, step in found.steps() if found else ():
        if step.activity and step.activity.id == activity:
            return lesson, step
    return None


def _course(course: str) -> Course | None:
    shelf = library().shelves.get(course)
    return shelf.course if shelf else None
