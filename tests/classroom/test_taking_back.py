"""The last grade of a session is taken back, once, and never over what came after it."""

import pytest

from classroom.models import AuditEntry, Grade, SecondLook
from tests.classroom import factories
from tests.classroom.desk import address, desk, form
from tests.classroom.desk import room as room
from tests.classroom.desk import text as text
from tests.classroom.factories import Room

pytestmark = pytest.mark.django_db


def test_undo_brings_back_what_was_there(room: Room, text: str) -> None:
    factories.submit(room.learner, text)
    client, where, page = desk(room, room.learner, text)
    client.post(where, form(page) | {"comment": "one", "adjustment": "1"})
    page = client.get(where).content.decode()
    client.post(where, form(page) | {"comment": "two", "adjustment": "2"})
    assert client.post(address(room, "undo"))["Location"] == where
    grade = Grade.objects.get()
    assert (grade.comment, grade.adjustment, grade.version) == ("one", 1, 3)
    client.post(address(room, "undo"))
    assert Grade.objects.get().version == 3  # only once


def test_undo_takes_back_a_first_grade_and_nothing_that_was_changed_since(
    room: Room, text: str
) -> None:
    factories.submit(room.learner, text)
    client, where, page = desk(room, room.learner, text)
    client.post(where, form(page) | {"comment": "one"})
    Grade.objects.update(version=5)
    client.post(address(room, "undo"))
    assert Grade.objects.count() == 1
    Grade.objects.all().delete()
    client.post(where, form(page) | {"comment": "one"})
    client.post(address(room, "undo"))
    assert not Grade.objects.exists()
    assert AuditEntry.objects.filter(action="ungraded").count() == 1


def test_undo_leaves_a_grade_that_its_learner_asked_about(room: Room, text: str) -> None:
    factories.submit(room.learner, text)
    client, where, page = desk(room, room.learner, text)
    client.post(where, form(page) | {"comment": "one"})
    SecondLook.objects.create(grade=Grade.objects.get(), reason="Why?")
    said = client.post(address(room, "undo"), follow=True).content.decode()
    assert "not taken back" in said
    assert SecondLook.objects.get().reason == "Why?"
