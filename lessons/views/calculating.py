"""The calculators of a step: filled in from the address, or from what was asked of them last."""

import dataclasses
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from lessons.calculators.shown import Shown, key, shown
from lessons.content.parts import CalculatorPart, Part
from lessons.views.found import find

KEPT_IN_ADDRESS = ("version",)  # what else the address of a step may say


@require_safe
def calculate(request: HttpRequest, course: str, lesson: str, step: str) -> HttpResponse:
    """One calculator of the step, computed anew: what htmx swaps in as somebody types."""
    found = find(course)
    named = found.lesson(lesson)
    page = found.page(named, found.step(named, step))
    asked = request.GET.get("calc", "")
    part = next((p for p in calculators(page.parts) if p.name == asked), None)
    if part is None:
        raise Http404(asked)
    (part,) = calculators(filled_in((part,), request, found.language))
    context = {"part": part, **calculator_context(request, course, lesson, step)}
    response = render(request, "lessons/parts/calculator.html", context)
    assert part.shown is not None
    # The address of the page follows, so that it can be sent to somebody as it stands.
    state = [part.shown.state(whole=False), urlencode(others(request, part.shown))]
    response["HX-Replace-Url"] = f"{context['step_address']}?{'&'.join(filter(None, state))}"
    remember(response, (part,), course, lesson)
    return response


def calculator_context(
    request: HttpRequest, course: str, lesson: str, step: str
) -> dict[str, object]:
    return {
        "step_address": reverse("lessons:step", args=[course, lesson, step]),
        "calculate_address": reverse("lessons:calculate", args=[course, lesson, step]),
    }


def calculators(parts: tuple[Part, ...]) -> tuple[CalculatorPart, ...]:
    return tuple(part for part in parts if isinstance(part, CalculatorPart))


def filled_in(parts: tuple[Part, ...], request: HttpRequest, language: str) -> tuple[Part, ...]:
    """The parts, each calculator with what this reader asked of it and its answer."""
    return tuple(
        _filled(part, request, language) if isinstance(part, CalculatorPart) else part
        for part in parts
    )


def _filled(part: CalculatorPart, request: HttpRequest, language: str) -> CalculatorPart:
    kept = request.COOKIES.get(cookie_name(part.name), "")
    answer = shown(part.name, part.starts, request.GET.dict(), kept, language)
    return dataclasses.replace(part, shown=answer, kept=others(request, answer))


def others(request: HttpRequest, answer: Shown) -> tuple[tuple[str, str], ...]:
    """What the address says beside this calculator: the form sends it along."""
    own = key(answer.name, "")
    return tuple(
        (name, value[:100])
        for name, value in request.GET.dict().items()
        if name in KEPT_IN_ADDRESS or (name.startswith("calc.") and not name.startswith(own))
    )[:40]


def remember(
    response: HttpResponse, parts: tuple[CalculatorPart, ...], course: str, lesson: str
) -> None:
    """Keep what was asked, for the other pages of the lesson: its print view above all."""
    for part in parts:
        if part.shown:
            response.set_cookie(
                cookie_name(part.name),
                part.shown.state(whole=True),
                path=reverse("lessons:lesson", args=[course, lesson]),
                secure=settings.SESSION_COOKIE_SECURE,
                httponly=True,
                samesite="Lax",
            )


def cookie_name(calculator: str) -> str:
    return f"calc.{calculator}"
