"""What the lessons ask of the classroom, by the names in settings."""

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from classroom.deadlines import ends_of
from classroom.wording import said
from lessons.gates import Closed


def gate(person: Any, course: str, lesson: str) -> Closed | None:
    """Closed when the lesson is over in every cohort in which this person learns the course."""
    ends = ends_of(person, course, lesson)
    if not ends or None in ends:
        return None
    last = max((end for end in ends if end), key=lambda end: end.at)
    if timezone.now() < last.at:
        return None
    return Closed(
        _(
            "This lesson closed on %(when)s: answers are no longer taken. "
            "What you wrote is kept as a draft."
        )
        % {"when": said(last)}
    )
