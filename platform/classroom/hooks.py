"""What the lessons and every page's menu ask of the classroom, by the names in settings."""

from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from classroom import feedback
from classroom.access import TEACHING
from classroom.deadlines import last_end, last_ends
from classroom.models import Deadline, Extension, Membership
from classroom.standing import standing
from classroom.wording import said
from lessons.beside import Beside
from lessons.content.structure import Course, Lesson, Step
from lessons.gates import Closed
from lessons.views.found import reading_language


def gate(person: Any, course: str, lesson: str) -> Closed | None:
    """Closed when the lesson is over in every cohort in which this person learns the course."""
    last = last_end(person, course, lesson)
    if last is None or timezone.now() < last.at:
        return None
    return Closed(
        _(
            "This lesson closed on %(when)s: answers are no longer taken. "
            "What you wrote is kept as a draft."
        )
        % {"when": said(last)}
    )


def step_part(request: HttpRequest, course: Course, lesson: Lesson, step: Step) -> Beside | None:
    """The lesson's deadline above the question, and below it what came back to its answers."""
    mine = standing(request)
    if step.activity is None or not (mine.is_member or mine.has_feedback):
        return None
    shown = []
    if mine.has_feedback:
        shown = feedback.of_step(request.user, course.id, step.activity.id, reading_language())
    below = SafeString("")
    if shown:
        context = {"feedback": shown, "older_is_new": any(item.is_new for item in shown[1:])}
        below = render_to_string("classroom/feedback/_step.html", context, request)
        feedback.mark_seen(shown)
    end = last_end(request.user, course.id, lesson.id) if mine.is_member else None
    return Beside(
        above=closing(request, end) if end else SafeString(""),
        below=below,
        closed=end is not None and end.at <= timezone.now(),
        graded=feedback.graded(shown),
    )


def lesson_notes(request: HttpRequest, course: Course) -> dict[str, SafeString]:
    """Until when each lesson of the course is open for this learner."""
    if not standing(request).is_member:
        return {}
    now = timezone.now()
    return {
        lesson: render_to_string(
            "classroom/feedback/_note.html",
            {
                "end": end,
                "said": said(end),
                "is_over": end.at <= now,
                "is_extended": isinstance(end, Extension),
            },
        )
        for lesson, end in last_ends(request.user, course.id).items()
    }


def menu(request: HttpRequest) -> dict[str, Any]:
    """Context of every page: whether this person is in a cohort, and how much came back."""
    return {"classroom": SimpleLazyObject(lambda: standing(request))}


def landing(person: Any) -> str:
    """The classroom, for who teaches in a cohort that is not archived."""
    if not person.is_authenticated:
        return ""
    teaches = Membership.objects.filter(
        person=person, role__in=TEACHING, cohort__archived_at=None
    ).exists()
    return reverse("classroom:home") if teaches else ""


def closing(request: HttpRequest, end: Deadline | Extension) -> SafeString:
    """Until when the lesson is open, as it stands above a question."""
    context = {
        "end": end,
        "said": said(end),
        "is_over": end.at <= timezone.now(),
        "is_extended": isinstance(end, Extension),
    }
    return render_to_string("classroom/feedback/_closing.html", context, request)
