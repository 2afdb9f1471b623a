"""Whether somebody may submit in a lesson now: asked of who keeps deadlines, further up.

Each name of settings.SUBMISSION_GATES is a function (person, course, lesson) -> Closed | None.
"""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.functional import Promise
from django.utils.module_loading import import_string


@dataclass(frozen=True)
class Closed:
    """Answers to the lesson are no longer taken; `sentence` says since when, in both zones."""

    sentence: str | Promise


def closed(person: Any, course: str, lesson: str) -> Closed | None:
    """The first gate that is closed for this person; nobody's deadline binds who is not known."""
    if not person.is_authenticated:
        return None
    for name in settings.SUBMISSION_GATES:
        if refusal := import_string(name)(person, course, lesson):
            return refusal
    return None
