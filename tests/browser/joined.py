"""A cohort to join, put into a running system's database: `python -m tests.browser.joined`.

Prints as JSON its code and id, sessions, and the step on which feedback waits.
"""

import json
import os
import sys
from datetime import timedelta
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chainrule.settings")
django.setup()

from django.contrib.auth.models import Permission  # noqa: E402
from django.utils import timezone  # noqa: E402

from classroom.models import Deadline, PassageComment  # noqa: E402
from classroom.rubrics import rubric_of  # noqa: E402
from tests.browser import made  # noqa: E402
from tests.classroom import factories  # noqa: E402

ACTIVITY = "contract-upstream"


def main() -> None:
    room = factories.a_room(name="Kernels, winter", learners=3, zone="Europe/Paris")
    lesson, step = factories.place_of(ACTIVITY)
    asked = factories.an_activity(ACTIVITY)
    revision = factories.submit(room.learner, ACTIVITY)
    rubric = rubric_of(room.cohort, asked)
    grade = factories.grade(
        room, revision, rubric[:2], comment="Say **where** the copy is made.\n\n- once\n- twice"
    )
    field = rubric[0].field
    quote = revision.content[field]["raw"][:20]
    PassageComment.objects.create(
        grade=grade, field=field, start=0, end=20, quote=quote, text="This is the point."
    )
    Deadline.objects.create(
        cohort=room.cohort, lesson=lesson.id, wall="2026-01-01T12:00", zone="Europe/Paris",
        at=timezone.now() - timedelta(days=1),
    )  # fmt: skip
    said: dict[str, Any] = {
        "code": room.cohort.code,
        "cohort": str(room.cohort.pk),
        "ref": room.ref(room.learner),
        "instructor": made.session(room.instructor),
        "learner": made.session(room.learner),
        "newcomer": made.session(a_newcomer()),
        "step": f"/en/{factories.COURSE}/{lesson.id}/{step.id}/",
        "grade": grade.pk,
    }
    json.dump(said, sys.stdout)


def a_newcomer() -> factories.Person:
    """May make cohorts, and has made none."""
    person = factories.a_person("Nora")
    person.user_permissions.add(Permission.objects.get(codename="add_cohort"))
    return person


if __name__ == "__main__":
    main()
