"""A cohort with answers, grades and Runs, put into a running system's database:
`python -m tests.browser.booked`.

Prints the instructor's session, the cohort, and a learner's ref as JSON.
"""

import json
from datetime import timedelta

from django.utils import timezone

from tests.browser.made import session  # sets Django up
from tests.classroom.factories import a_room, a_run, fill, grade, submit

SPECIAL = "two-sizes"


def main() -> None:
    room = a_room(learners=6, is_anonymous=False)
    fill(room, share_wrong=0.5, at=timezone.now() - timedelta(hours=1))
    grade(room, submit(room.learner, SPECIAL), is_published=False)
    for _ in range(5):
        a_run(room.learner, outcome="failed")
    made = {
        "session": session(room.instructor),
        "cohort": str(room.cohort.pk),
        "ref": room.ref(room.learner),
        "name": room.learner.name,
    }
    print(json.dumps(made))


if __name__ == "__main__":
    main()
