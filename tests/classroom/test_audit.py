"""The audit only grows: in Python, and in the database whoever writes to it."""

from collections.abc import Callable

import pytest
from django.db import DatabaseError, connection, transaction

from accounts import holdings
from classroom import audit
from classroom.models import AuditEntry, Cohort, Unchangeable
from tests.classroom import factories as f
from tests.classroom.factories import Room

pytestmark = pytest.mark.django_db


@pytest.fixture
def room() -> Room:
    return f.a_room(learners=1)


@pytest.fixture
def entry(room: Room) -> AuditEntry:
    return audit.record(room.cohort, room.instructor, "graded", "what-drift/abc#1", points=2)


def sql(statement: str, *values: object) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)


@pytest.mark.parametrize(
    "act",
    [
        lambda entry: entry.save(),
        lambda entry: entry.delete(),
        lambda entry: AuditEntry.objects.update(action="x"),
        lambda entry: AuditEntry.objects.all().delete(),
        lambda entry: AuditEntry.objects.bulk_update([entry], ["action"]),
    ],
)
def test_an_entry_is_neither_changed_nor_deleted(
    entry: AuditEntry, act: Callable[[AuditEntry], None]
) -> None:
    with pytest.raises(Unchangeable):
        act(entry)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM classroom_auditentry",
        "UPDATE classroom_auditentry SET action = 'joined'",
        "UPDATE classroom_auditentry SET subject = ''",
        "UPDATE classroom_auditentry SET at = '2020-01-01'",
        "UPDATE classroom_auditentry SET data = '{}'",
        "UPDATE classroom_auditentry SET actor_id = NULL, action = 'joined'",
    ],
)
def test_the_database_refuses_it_too(entry: AuditEntry, statement: str) -> None:
    with pytest.raises(DatabaseError):
        sql(statement)
    assert AuditEntry.objects.get().action == "graded"


def test_an_actor_cannot_be_exchanged(room: Room, entry: AuditEntry) -> None:
    with pytest.raises(DatabaseError), transaction.atomic():
        AuditEntry._base_manager.update(actor=room.assistant)


def test_an_erased_actor_leaves_what_was_done(room: Room, entry: AuditEntry) -> None:
    holdings.erase(room.instructor)
    kept = AuditEntry.objects.get(pk=entry.pk)
    assert (kept.actor, kept.action, kept.data) == (None, "graded", {"points": 2})
    with pytest.raises(DatabaseError), transaction.atomic():
        AuditEntry._base_manager.filter(pk=entry.pk).update(actor=room.assistant)


def test_what_a_guest_did_passes_to_their_account(room: Room) -> None:
    guest = f.a_guest()
    f.join(room, guest)
    made = audit.record(room.cohort, guest, "joined", room.ref(guest))
    person = f.a_person()
    holdings.merge(guest, person)
    assert AuditEntry.objects.get(pk=made.pk).actor == person


def test_a_cohort_cannot_be_deleted_with_its_audit(room: Room, entry: AuditEntry) -> None:
    with pytest.raises(DatabaseError), transaction.atomic():
        room.cohort.delete()


def test_a_demonstration_goes_whole(room: Room, entry: AuditEntry) -> None:
    Cohort.objects.update(is_demo=True)
    room.cohort.delete()
    assert not AuditEntry.objects.exists()
