"""The catalogue of courses and the page of one course."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from lessons.beside import lesson_notes
from lessons.content.library import library
from lessons.content.page import course_links
from lessons.content.prose import Prose
from lessons.content.structure import Lesson
from lessons.content.written import Written, written
from lessons.progress import Place, places
from lessons.views.found import Found, find, reading_language


@dataclass(frozen=True)
class LessonRow:
    """A lesson as the course page lists it."""

    number: int
    id: str
    address: str
    title: Written
    lede: Written
    minutes: int
    steps: int
    done: int
    here: bool  # where the reader left
    note: SafeString = SafeString("")  # what others put beside it: until when it is open

    @property
    def pips(self) -> list[bool]:
        """One mark a step, the done ones first."""
        return [number < self.done for number in range(self.steps)]


@dataclass(frozen=True)
class CourseCard:
    """A course as the catalogue shows it."""

    id: str
    title: Written
    lede: Written
    audience: Written
    lessons: int
    minutes: int
    done: int
    steps: int
    address: str  # of the first lesson
    resume: str | None  # address of the step where the reader left

    @property
    def hours(self) -> int:
        return max(1, round(self.minutes / 60))


@require_safe
def catalogue(request: HttpRequest) -> HttpResponse:
    current = library()
    language = reading_language()
    where = places(request.user, list(current.shelves))
    cards = [
        _card(Found(current, shelf, language), where[course_id])
        for course_id, shelf in current.shelves.items()
        if shelf.course.lessons
    ]
    return render(request, "lessons/catalogue.html", {"courses": cards})


@require_safe
def course(request: HttpRequest, course: str) -> HttpResponse:
    found = find(course)
    place = places(request.user, [course])[course]
    last = place.last(found.course)
    notes = lesson_notes(request, found.course)
    context = {
        "course": _card(found, place),
        "lessons": [
            dataclasses.replace(
                _row(found, lesson, number, place, here=bool(last and last[0] == lesson)),
                note=notes.get(lesson.id, SafeString("")),
            )
            for number, lesson in enumerate(found.course.lessons, start=1)
            if lesson.steps
        ],
    }
    return render(request, "lessons/course.html", context)


def _card(found: Found, place: Place) -> CourseCard:
    course = found.course
    last = place.last(course)
    texts = {name: _course_text(found, name) for name in ("title", "lede", "audience")}
    return CourseCard(
        id=course.id,
        lessons=sum(bool(lesson.steps) for lesson in course.lessons),
        minutes=sum(lesson.minutes for lesson in course.lessons),
        done=sum(place.done_in(lesson) for lesson in course.lessons),
        steps=sum(len(lesson.steps) for lesson in course.lessons),
        address=reverse("lessons:lesson", args=[course.id, course.lessons[0].id]),
        resume=_step_address(course.id, last[0], last[1].id) if last else None,
        **texts,
    )


def _row(found: Found, lesson: Lesson, number: int, place: Place, *, here: bool) -> LessonRow:
    texts: dict[str, Any] = {
        name: found.library.keep(
            ("lesson", found.course.id, lesson.id, name, found.language),
            lambda name=name: _render(found, lesson, name),  # type: ignore[misc]
        )
        for name in ("title", "lede")
    }
    return LessonRow(
        number=number,
        id=lesson.id,
        address=reverse("lessons:lesson", args=[found.course.id, lesson.id]),
        minutes=lesson.minutes,
        steps=len(lesson.steps),
        done=place.done_in(lesson),
        here=here,
        **texts,
    )


def _course_text(found: Found, name: str) -> Written:
    def make() -> Written:
        text = found.shelf.texts.get(name, found.language)
        prose = Prose(course_links(found.shelf, found.language), found.language)
        return written(prose.inline(text.markdown), text, found.language)

    return found.library.keep(("course", found.course.id, name, found.language), make)


def _render(found: Found, lesson: Lesson, name: str) -> Written:
    text = found.shelf.lesson_texts[lesson.id].get(name, found.language)
    prose = Prose(course_links(found.shelf, found.language), found.language)
    return written(prose.inline(text.markdown), text, found.language)


def _step_address(course: str, lesson: Lesson, step: str) -> str:
    return reverse("lessons:step", args=[course, lesson.id, step])
