"""A rubric point that is retired while it is being given: either it is given no more, or the one
who retires it is told of every grade that holds it."""

import threading
from collections.abc import Callable, Collection
from typing import Any

import pytest
from django.db import connection

from classroom import grading, groups, queue, rubrics
from classroom.grading import Judgement
from classroom.models import Cohort, Grade, RubricPoint
from classroom.queue import Question
from tests.classroom import factories
from tests.classroom.factories import Room, a_room

Give = Callable[[Room, Question, Judgement], Any]


def one(room: Room, asked: Question, judgement: Judgement) -> Any:
    (entry, *_others) = queue.entries(room.cohort, asked)
    return grading.write(room.cohort, room.instructor, entry.revision, judgement, 0)


def a_group(room: Room, asked: Question, judgement: Judgement) -> Any:
    (group,) = groups.groups(asked, queue.entries(room.cohort, asked))
    return groups.decide(room.cohort, room.instructor, asked, group.likeness, judgement)


def answered(room: Room) -> tuple[Question, RubricPoint]:
    asked = next(q for q in queue.questions(room.cohort) if q.has_text)
    for learner in room.learners:
        factories.submit(learner, asked.activity.id)
    return asked, rubrics.rubric_of(room.cohort, asked.activity)[0]


@pytest.mark.parametrize(("give", "grades"), [(one, 1), (a_group, 3)])
def test_who_retires_a_point_while_it_is_given_waits_and_is_told_who_holds_it(
    racing: None, give: Give, grades: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = a_room(learners=3)
    asked, point = answered(room)
    told: list[int] = []

    def retire() -> None:
        try:
            told.append(rubrics.retire(point, room.instructor, point.version))
        finally:
            connection.close()

    meanwhile = threading.Thread(target=retire)
    real = grading.require_offered

    def looked_at(cohort: Cohort, activity: str, points: Collection[int]) -> None:
        """The points are still offered; the grade is not written yet."""
        real(cohort, activity, points)
        meanwhile.start()
        meanwhile.join(0.5)

    monkeypatch.setattr(grading, "require_offered", looked_at)
    give(room, asked, Judgement(points=frozenset({point.pk})))
    meanwhile.join()
    assert Grade.objects.filter(points=point).count() == grades
    assert told == [grades]


@pytest.mark.django_db
@pytest.mark.parametrize("give", [one, a_group])
def test_a_point_retired_before_is_not_given_and_nothing_is_written(give: Give) -> None:
    room = a_room(learners=3)
    asked, point = answered(room)
    rubrics.retire(point, room.instructor, point.version)
    with pytest.raises(grading.PointsGone):
        give(room, asked, Judgement(points=frozenset({point.pk})))
    assert not Grade.objects.exists()
