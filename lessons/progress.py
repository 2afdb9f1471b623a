"""Where somebody stands in a course: what they opened, what they answered, where they left."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from lessons.content.structure import Course, Lesson, Step
from lessons.models import Revision, State, Visit


@dataclass(frozen=True)
class Place:
    """One person in one course. Nobody in particular has an empty Place."""

    visits: dict[tuple[str, str], datetime]  # (lesson, step) -> when last opened
    answered: frozenset[str]  # activities submitted at least once

    def done(self, lesson: Lesson, step: Step) -> bool:
        """A step is done once its question is answered, or, without one, once it was read."""
        if step.activity:
            return step.activity.id in self.answered
        return (lesson.id, step.id) in self.visits

    def done_in(self, lesson: Lesson) -> int:
        return sum(self.done(lesson, step) for step in lesson.steps)

    def last_in(self, lesson: Lesson) -> Step | None:
        """The step of the lesson opened last."""
        opened = [(at, step) for (le, step), at in self.visits.items() if le == lesson.id]
        return lesson.step(max(opened)[1]) if opened else None

    def last(self, course: Course) -> tuple[Lesson, Step] | None:
        """The step of the course opened last."""
        for (lesson_id, step_id), _ in sorted(
            self.visits.items(), key=lambda v: v[1], reverse=True
        ):
            lesson = course.lesson(lesson_id)
            step = lesson.step(step_id) if lesson else None
            if lesson and step:
                return lesson, step
        return None


NOWHERE = Place({}, frozenset())


def places(person: Any, courses: list[str]) -> dict[str, Place]:
    """The person's Place in each course, in two queries."""
    if person is None or not person.is_authenticated:
        return dict.fromkeys(courses, NOWHERE)
    visits = Visit.objects.filter(person=person, course__in=courses).values_list(
        "course", "lesson", "step", "at"
    )
    answered = Revision.objects.filter(
        answer__person=person, answer__course__in=courses, state=State.SUBMITTED
    ).values_list("answer__course", "answer__activity")
    found = {course: Place({}, frozenset()) for course in courses}
    for course, lesson, step, at in visits:
        found[course].visits[lesson, step] = at
    pairs = set(answered)
    return {
        course: Place(place.visits, frozenset(a for c, a in pairs if c == course))
        for course, place in found.items()
    }


def visit(person: Any, place: Place, course: Course, lesson: Lesson, step: Step) -> None:
    """Remember that the person is here; reading the same page again writes nothing."""
    if not person.is_authenticated:
        return
    key = (lesson.id, step.id)
    if key in place.visits and place.last(course) == (lesson, step):
        return
    now = timezone.now()
    names = {"course": course.id, "lesson": lesson.id, "step": step.id}
    if key in place.visits:
        Visit.objects.filter(person=person, **names).update(at=now)
    else:  # one statement; a second tab that was first has made the row
        new = Visit(person=person, at=now, first_at=now, **names)
        Visit.objects.bulk_create([new], ignore_conflicts=True)
    place.visits[key] = now
