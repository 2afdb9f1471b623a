"""What an address names, or a 404 in the reader's language."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest
from django.utils.translation import get_language

from lessons.content.library import Library, Shelf, library
from lessons.content.page import step_page
from lessons.content.parts import StepPage
from lessons.content.prose import plain
from lessons.content.structure import Activity, Course, Lesson, RunSpec, Step


@dataclass(frozen=True)
class Found:
    """A course, and the lesson and step of it that the address named, as this reader sees them."""

    library: Library
    shelf: Shelf
    language: str

    @property
    def course(self) -> Course:
        return self.shelf.course

    @property
    def title(self) -> str:
        return plain(self.shelf.texts.get("title", self.language).markdown)

    def lesson_title(self, lesson: Lesson) -> str:
        return self.lesson_text(lesson, "title")

    def step_title(self, lesson: Lesson, step: Step) -> str:
        return self.lesson_text(lesson, f"{step.id}/title")

    def lesson_text(self, lesson: Lesson, block: str) -> str:
        return plain(self.shelf.lesson_texts[lesson.id].get(block, self.language).markdown)

    def lesson(self, lesson_id: str) -> Lesson:
        lesson = self.course.lesson(lesson_id)
        if lesson is None or not lesson.steps:
            raise Http404(lesson_id)
        return lesson

    def step(self, lesson: Lesson, step_id: str) -> Step:
        step = lesson.step(step_id)
        if step is None:
            raise Http404(step_id)
        return step

    def activity(self, step: Step) -> Activity:
        if step.activity is None:
            raise Http404("this step asks nothing")
        return step.activity

    def run(self, step: Step) -> RunSpec:
        if step.run is None:
            raise Http404("this step runs nothing")
        return step.run

    def page(self, lesson: Lesson, step: Step) -> StepPage:
        return step_page(self.library, self.shelf, lesson, step, self.language)


def find(course: str) -> Found:
    current = library()
    shelf = current.shelves.get(course)
    if shelf is None:
        raise Http404(course)
    return Found(current, shelf, reading_language())


def reading_language() -> str:
    return (get_language() or "en").split("-")[0]


def person_of(request: HttpRequest) -> Any:
    """The person, or None for somebody who has not written anything yet."""
    return request.user if request.user.is_authenticated else None


def write_as(request: HttpRequest) -> Any:
    """The person, made a guest now if they were nobody: this is their first write."""
    ensure: Callable[[], Any] = request.ensure_person  # type: ignore[attr-defined]
    return ensure()


def wants_json(request: HttpRequest) -> bool:
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"
