"""What others put beside a step's question (feedback, deadlines, a word about a re-check) and
beside a lesson in the course's list.

Each name of settings.STEP_PARTS is a function (request, course, lesson, step) -> Beside | None,
each of settings.LESSON_NOTES one (request, course) -> {lesson: HTML}.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.utils.module_loading import import_string
from django.utils.safestring import SafeString, mark_safe

from lessons.content.structure import Course, Lesson, Step


@dataclass(frozen=True)
class Beside:
    """HTML above the question's form and below it, and what the form itself must know."""

    above: SafeString = SafeString("")
    below: SafeString = SafeString("")
    closed: bool = False  # nothing can be submitted any more
    graded: int = 0  # the newest revision that somebody has judged; 0: none


def beside(request: HttpRequest, course: Course, lesson: Lesson, step: Step) -> Beside:
    """All of it, in the order of the setting; nothing for somebody who is not known."""
    if not request.user.is_authenticated:
        return Beside()
    parts: list[Beside] = [
        part
        for name in settings.STEP_PARTS
        if (part := import_string(name)(request, course, lesson, step))
    ]
    return Beside(
        _joined(part.above for part in parts),
        _joined(part.below for part in parts),
        any(part.closed for part in parts),
        max((part.graded for part in parts), default=0),
    )


def lesson_notes(request: HttpRequest, course: Course) -> dict[str, SafeString]:
    """By lesson, what stands beside it; where two have something to say, the first."""
    found: dict[str, SafeString] = {}
    if request.user.is_authenticated:
        for name in settings.LESSON_NOTES:
            found = import_string(name)(request, course) | found
    return found


def _joined(parts: Iterable[SafeString]) -> SafeString:
    return mark_safe("".join(parts))
