"""What others put beside a step's question: feedback, deadlines, a word about a re-check.

Each name of settings.STEP_PARTS is a function (request, course, lesson, step) -> Beside | None.
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
    """HTML above the question's form and below it."""

    above: SafeString = SafeString("")
    below: SafeString = SafeString("")


def beside(request: HttpRequest, course: Course, lesson: Lesson, step: Step) -> Beside:
    """All of it, in the order of the setting; nothing for somebody who is not known."""
    if not request.user.is_authenticated:
        return Beside()
    parts: list[Beside] = [
        part
        for name in settings.STEP_PARTS
        if (part := import_string(name)(request, course, lesson, step))
    ]
    return Beside(_joined(part.above for part in parts), _joined(part.below for part in parts))


def _joined(parts: Iterable[SafeString]) -> SafeString:
    return mark_safe("".join(parts))
