"""A re-check whose process is killed leaves nothing half-written and goes on from what is open.

`tests.bench.recheck` does the same to a real process.
"""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from classroom.models import Recheck, RecheckState
from classroom.rechecks import answers, asking, targets, working
from lessons.models import Revision
from tests.classroom import factories
from tests.classroom.conftest import Mending

FIRST = "small/01-first/lesson.yaml"
OLD, NEW = "answer: 0.501953125, abs: 0.0005", "answer: 1, abs: 0.0005"
LEARNERS = 6


class Killed(BaseException):
    """No handler of ours sees it, as none sees kill -9."""


@pytest.mark.django_db
@pytest.mark.parametrize("slices", [0, 1, 2])
def test_killed_between_writing_and_marking_it_does_each_answer_once(
    slices: int, small: Mending, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "SLICE", 2)
    room = factories.a_room(learners=LEARNERS, course="small")
    for person in room.learners:
        factories.submit(person, "all-kinds", course="small")
    small.change(FIRST, OLD, NEW)
    target = targets.find(room.cohort, "answers", "first", "all-kinds")
    assert target is not None
    job = asking.start(room.cohort, room.instructor, target)
    while working.work():
        pass
    job.refresh_from_db()
    asking.apply(job, room.instructor)
    for _ in range(slices):
        working.work()
    with monkeypatch.context() as dying:
        dying.setattr(answers.timezone, "now", killed)
        with pytest.raises(Killed):
            answers.write(job, target)
    written = Revision.objects.filter(checked_as=target.key)
    assert written.count() == job.items.exclude(applied_at=None).count() == 2 * slices
    Recheck.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    while working.work():
        pass
    job.refresh_from_db()
    assert job.state == RecheckState.DONE and written.count() == LEARNERS
    kept = job.items.values_list("before__verdicts__mean__verdict", flat=True)
    assert list(kept) == ["right"] * LEARNERS


def killed() -> Any:
    raise Killed
