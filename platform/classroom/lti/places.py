"""Where a launch leads: a lesson, by its id, never an address as the platform wrote it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

from django.urls import Resolver404, resolve, reverse
from django.utils import translation

from classroom.lti.claims import Claims
from lessons.content.library import library


@dataclass(frozen=True)
class Place:
    """Empty: the catalogue; a course; a lesson; a step of it."""

    course: str = ""
    lesson: str = ""
    step: str = ""

    def to_json(self) -> dict[str, str]:
        return asdict(self)

    @classmethod
    def from_json(cls, kept: Mapping[str, str]) -> "Place":
        return cls(**kept)

    def address(self) -> str:
        """In the language that is active."""
        parts = [part for part in (self.course, self.lesson, self.step) if part]
        names = ("lessons:catalogue", "lessons:course", "lessons:lesson", "lessons:step")
        return reverse(names[len(parts)], args=parts)


def place_meant(said: Claims, course: str) -> Place:
    """By the custom parameters `course`, `lesson` and `step`, or by the address of a page of ours.

    `course` is the cohort's, which holds where nothing else is named. What is not on this site
    falls back to what is.
    """
    named: Mapping[str, Any] = said.custom if said.custom.get("lesson") else _of_page(said.target)
    wanted = str(named.get("course") or said.custom.get("course") or course)
    return known(Place(wanted, str(named.get("lesson") or ""), str(named.get("step") or "")))


def known(place: Place) -> Place:
    """As far as this site has it."""
    shelves = library().shelves
    course = place.course
    if not course and place.lesson:
        holding = (name for name, shelf in shelves.items() if shelf.course.lesson(place.lesson))
        course = next(holding, "")
    shelf = shelves.get(course)
    if shelf is None:
        return Place()
    lesson = shelf.course.lesson(place.lesson)
    if lesson is None or not lesson.steps:
        return Place(course)
    step = lesson.step(place.step) if place.step else None
    return Place(course, lesson.id, step.id if step else "")


def _of_page(address: str) -> Mapping[str, Any]:
    """What the address of a lesson, a step or a course names, whatever host stands before it."""
    try:
        path = urlsplit(address).path
    except ValueError:
        return {}
    spoken = translation.get_language_from_path(path)
    if not spoken:
        return {}
    with translation.override(spoken):
        try:
            found = resolve(path)
        except Resolver404:
            return {}
    pages = {"lessons:course", "lessons:lesson", "lessons:step"}
    return found.kwargs if found.view_name in pages else {}
