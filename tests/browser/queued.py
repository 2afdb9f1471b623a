"""Cohorts whose queues are full, put into a running system's database:
`python -m tests.browser.queued [cohorts]`.

Prints a list as JSON: of each the sessions of its graders, the cohort and two of its questions.
"""

import json
import os
import sys
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chainrule.settings")
django.setup()

from classroom.models import SecondLook  # noqa: E402
from classroom.rubrics import rubric_of  # noqa: E402
from kernels.events import Outcome  # noqa: E402
from tests.browser import made  # noqa: E402
from tests.classroom import factories  # noqa: E402

TEXTS = (
    "At N = 256 the block is exactly as wide as the row, so no lane is masked.",
    "at n = 256 the block is exactly as wide as the row, so no lane is masked!",
    "Because both divisors are the same number there; 257 is the first size that tells them apart.",
    "À 256, le bloc est aussi large que la ligne : aucun élément n’est masqué, et rien ne se voit.",
    "256'da blok satır kadar geniştir; maskelenen şerit yoktur, bu yüzden iki bölen aynıdır.",
    "I am not sure. Perhaps the interpreter rounds differently at powers of two than elsewhere?",
)


def main() -> None:
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    json.dump([a_queue() for _ in range(many)], sys.stdout)


def a_queue() -> dict[str, Any]:
    room = factories.a_room(name="Kernels, autumn", learners=len(TEXTS), assistants=2)
    asked = next(a for a in factories.activities() if a.id == activity())
    languages = ("en", "en", "en", "fr", "tr", "en")
    for place, learner in enumerate(room.learners):
        run = made.ended(
            learner, Outcome.PASSED, made.told(), "rmsnorm.exercise", device="gpu",
            course="rmsnorm", lesson="exercise", step="hypothesis",
        )  # fmt: skip
        kind = place % len(TEXTS)
        language = languages[kind]
        if kind == 2:
            first = factories.submit(
                learner, asked.id, wrong=True, text=TEXTS[5], language=language, run=run
            )
            factories.grade(room, first, comment="Have a look at what is **masked**.")
        factories.submit(
            learner, asked.id, wrong=kind == 5, text=TEXTS[kind], language=language, run=run
        )
    other = next(a for a in factories.activities() if a.id != asked.id and _has_text(a))
    looked = factories.grade(
        room, factories.submit(room.learners[3], other.id), [rubric_of(room.cohort, other)[0]]
    )
    SecondLook.objects.create(grade=looked, reason="I also named the other cause, in line two.")
    for learner in room.learners[1:3]:
        factories.submit(learner, other.id)
    return {
        "graders": [made.session(person) for person in room.assistants],
        "instructor": made.session(room.instructor),
        "learner": made.session(room.learners[0]),
        "cohort": str(room.cohort.id),
        "asked": asked.id,
        "other": other.id,
    }


def activity() -> str:
    """The question of the exercise: numbers, choices and a text, with a Run."""
    lesson = next(
        lesson for lesson, step in factories.library().shelves["rmsnorm"].course.steps()
        if lesson.id == "exercise" and step.id == "hypothesis"
    )  # fmt: skip
    step = lesson.step("hypothesis")
    assert step and step.activity
    return step.activity.id


def _has_text(asked: factories.Activity) -> bool:
    return any(getattr(item, "rubric", ()) for item in asked.fields)


if __name__ == "__main__":
    main()
