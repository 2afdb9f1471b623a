"""A step, the address of a lesson (which leads to where the reader left), and its print view."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from lessons.asking import Attempt
from lessons.content.faults import Fault
from lessons.content.parts import KernelsPart, Part, SourcePart, StepPage
from lessons.content.structure import Lesson, Step
from lessons.progress import Place, places, visit
from lessons.views.calculating import calculator_context, calculators, filled_in, remember
from lessons.views.found import Found, find
from lessons.views.halves import halves

LAST_COOKIE = "left"  # where somebody without an account or a guest row left


@dataclass(frozen=True)
class Tick:
    """One segment of the progress in the bar."""

    number: int
    address: str
    title: str
    here: bool
    done: bool


@dataclass(frozen=True)
class Turn:
    address: str
    title: str


@require_safe
def lesson(request: HttpRequest, course: str, lesson: str) -> HttpResponse:
    found = find(course)
    named = found.lesson(lesson)
    place = places(request.user, [course])[course]
    step = place.last_in(named) or _left(request, course, named) or named.steps[0]
    return redirect("lessons:step", course, lesson, step.id)


@require_safe
def step(request: HttpRequest, course: str, lesson: str, step: str) -> HttpResponse:
    found = find(course)
    named = found.lesson(lesson)
    here = found.step(named, step)
    if faults := found.shelf.broken.get(lesson):
        return broken(request, faults)
    place = places(request.user, [course])[course]
    visit(request.user, place, found.course, named, here)
    context = step_context(request, found, named, here, place)
    response = render(request, "lessons/step.html", context)
    if any(name.startswith("calc.") for name in request.GET):
        remember(response, context["calculators"], course, lesson)
    if not request.user.is_authenticated:
        response.set_cookie(
            LAST_COOKIE,
            f"{course}/{lesson}/{step}",
            60 * 60 * 24 * 90,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
    return response


@require_safe
def printed(request: HttpRequest, course: str, lesson: str) -> HttpResponse:
    found = find(course)
    named = found.lesson(lesson)
    if faults := found.shelf.broken.get(lesson):
        return broken(request, faults)
    pages = [_printed(found.page(named, step), request, found.language) for step in named.steps]
    definitions = {item.id: item for page in pages for item in page.definitions}
    context = {
        "course_title": found.title,
        "lesson_title": found.lesson_title(named),
        "lesson_lede": found.lesson_text(named, "lede"),
        "lesson_address": reverse("lessons:lesson", args=[course, lesson]),
        "pages": pages,
        "definitions": list(definitions.values()),
    }
    return render(request, "lessons/print.html", context)


def _printed(page: StepPage, request: HttpRequest, language: str) -> StepPage:
    return dataclasses.replace(page, parts=filled_in(page.parts, request, language))


def step_context(
    request: HttpRequest,
    found: Found,
    lesson: Lesson,
    step: Step,
    place: Place,
    attempt: Attempt | None = None,
) -> dict[str, Any]:
    page = found.page(lesson, step)
    own = halves(request, found, lesson, step, page, attempt)
    index = lesson.steps.index(step)
    parts = _with_version(page.parts, request.GET.get("version", ""))
    parts = filled_in(parts, request, found.language)
    return {
        **calculator_context(request, found.course.id, lesson.id, step.id),
        "calculators": calculators(parts),
        "tables": any(isinstance(part, KernelsPart) for part in parts),
        "course": found.course,
        "course_title": found.title,
        "lesson": lesson,
        "lesson_title": found.lesson_title(lesson),
        "step": step,
        "step_title": found.step_title(lesson, step),
        "ask": own.ask,
        "panel": own.panel,
        "answer_address": reverse("lessons:answer", args=[found.course.id, lesson.id, step.id]),
        "page": dataclasses.replace(page, parts=parts),
        "ticks": _ticks(found, lesson, step, place),
        "number": index + 1,
        "previous": _neighbour(found, lesson, index, -1),
        "next": _neighbour(found, lesson, index, +1),
    }


def broken(request: HttpRequest, faults: tuple[Fault, ...]) -> HttpResponse:
    """An author's mistake, shown where the lesson would stand."""
    return render(request, "lessons/broken.html", {"faults": faults}, status=500)


def _left(request: HttpRequest, course: str, lesson: Lesson) -> Step | None:
    left = request.COOKIES.get(LAST_COOKIE, "").split("/")
    return lesson.step(left[2]) if left[:2] == [course, lesson.id] and len(left) == 3 else None


def _ticks(found: Found, lesson: Lesson, here: Step, place: Place) -> list[Tick]:
    return [
        Tick(
            number=number,
            address=reverse("lessons:step", args=[found.course.id, lesson.id, step.id]),
            title=found.step_title(lesson, step),
            here=step == here,
            done=place.done(lesson, step),
        )
        for number, step in enumerate(lesson.steps, start=1)
    ]


def _neighbour(found: Found, lesson: Lesson, index: int, offset: int) -> Turn | None:
    """The step before or after, across the borders of the lesson."""
    steps = [(le, st) for le, st in found.course.steps() if le.id not in found.shelf.broken]
    position = steps.index((lesson, lesson.steps[index])) + offset
    if not 0 <= position < len(steps):
        return None
    near, step = steps[position]
    title = found.step_title(near, step) if near == lesson else found.lesson_title(near)
    return Turn(reverse("lessons:step", args=[found.course.id, near.id, step.id]), title)


def _with_version(parts: tuple[Part, ...], asked: str) -> tuple[Part, ...]:
    """The parts, each source showing the version asked for where it has it."""
    return tuple(
        dataclasses.replace(part, current=int(asked))
        if isinstance(part, SourcePart) and asked in {str(v.number) for v in part.versions}
        else part
        for part in parts
    )
