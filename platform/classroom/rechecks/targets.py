"""What a re-check is about: an Activity with its key, or a step with its Run, as they are now."""

import hashlib
from dataclasses import dataclass

from classroom.models import Cohort, Recheck, RecheckKind
from lessons.checking import key_hash
from lessons.content.library import library
from lessons.content.structure import Activity, Lesson, Step


@dataclass(frozen=True)
class Target:
    lesson: Lesson
    step: Step
    kind: RecheckKind
    key: str  # names the key, or the Run that the step asks for

    @property
    def name(self) -> str:
        return self.activity.id if self.kind == RecheckKind.ANSWERS else self.step.id

    @property
    def activity(self) -> Activity:
        assert self.step.activity is not None
        return self.step.activity


def find(cohort: Cohort, kind: str, lesson: str, name: str) -> Target | None:
    """None: the course has it no longer, or its lesson cannot be read now."""
    return next(
        (
            target
            for target in targets(cohort)
            if (target.kind, target.lesson.id, target.name) == (kind, lesson, name)
        ),
        None,
    )


def of(recheck: Recheck) -> Target | None:
    return find(recheck.cohort, recheck.kind, recheck.lesson, recheck.activity)


def targets(cohort: Cohort) -> list[Target]:
    """Everything in the cohort's course that can be checked or run again, in its order."""
    shelf = library().shelves.get(cohort.course)
    if shelf is None:
        return []
    found = []
    for lesson, step in shelf.course.steps():
        if lesson.id in shelf.broken:
            continue
        if step.activity:
            found.append(Target(lesson, step, RecheckKind.ANSWERS, key_hash(step.activity)))
        if step.run:
            digest = hashlib.sha256(repr(step.run).encode()).hexdigest()[:16]
            found.append(Target(lesson, step, RecheckKind.RUNS, digest))
    return found
