"""The audit taken away: harmless in a spreadsheet, and sent while it is read."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import translation

from classroom import audit, auditing
from classroom.models import AuditEntry, Membership, Role
from tests.classroom import factories
from tests.classroom.factories import Room, client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def room() -> Room:
    return factories.a_room(learners=2)


async def parts(answer: Any, meanwhile: Callable[[], None]) -> list[bytes]:
    """What is sent, part by part; `meanwhile` happens after each."""
    found = []
    async for part in answer:
        found.append(part)
        await sync_to_async(meanwhile)()
    return found


def whole(answer: Any) -> bytes:
    assert answer.streaming
    return b"".join(async_to_sync(parts)(answer, lambda: None))


def take(room: Room, language: str = "en", **wanted: str) -> Any:
    with translation.override(language):
        address = reverse("classroom:audit-export", args=[room.cohort.pk])
    answer = client_of(room.instructor).post(address, wanted)
    assert answer.status_code == 200
    return answer


def table(answer: Any, separator: str = ",") -> list[list[str]]:
    text = whole(answer).decode()
    assert text.startswith("\ufeff")
    return list(csv.reader(io.StringIO(text[1:], newline=""), delimiter=separator))


def test_the_table_taken_away_is_harmless_and_itself_recorded(room: Room) -> None:
    Membership.objects.filter(person=room.learner).update(role=Role.ASSISTANT)
    room.learner.name = '=HYPERLINK("https://evil.example")'
    room.learner.save()
    audit.record(room.cohort, room.learner, "graded", "@SUM(A1)", note="+cmd|' /C calc'!A0")
    answer = take(room, action="graded")
    assert answer.headers["Content-Type"].startswith("text/csv")
    rows = table(answer)
    assert len(rows) == 2
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@"))]
    last = AuditEntry.objects.first()
    assert last is not None
    assert (last.action, last.subject, last.data) == (
        "exported",
        "audit",
        {"filter": {"action": "graded"}},
    )


def test_entries_are_read_while_they_are_sent_a_few_at_a_time(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auditing, "PART", 100)
    AuditEntry.objects.bulk_create(
        AuditEntry(cohort=room.cohort, actor=room.assistant, action="graded", subject="x" * 190)
        for _ in range(2000)
    )
    asked = []

    def meanwhile() -> None:
        asked.append(len(captured))
        audit.record(room.cohort, room.instructor, "split")  # not of this table

    answer = take(room)
    with CaptureQueriesContext(connection) as captured:
        sent = async_to_sync(parts)(answer, meanwhile)
    assert max(map(len, sent)) < 200_000 and len(sent) > 5
    assert asked[0] < 10 < 20 < asked[-1]
    rows = list(csv.reader(io.StringIO(b"".join(sent).decode())))
    assert [row[2] for row in rows[1:]] == ["exported"] + ["graded"] * 2000


@pytest.mark.parametrize(
    ("language", "separator", "said"),
    [("en", ",", "2 points of the rubric"), ("fr", ";", "2 critères de la grille"),
     ("tr", ";", "2 ölçüt")],
)  # fmt: skip
def test_every_part_is_in_the_reader_s_language(
    room: Room, language: str, separator: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auditing, "PART", 2)
    for _ in range(5):
        audit.record(room.cohort, room.assistant, "graded", "x", points=[1, 2])
    rows = table(take(room, language), separator)
    assert len(rows) == 7 and all(said in row[4] for row in rows[2:])


def test_the_file_s_name_is_plain(room: Room) -> None:
    room.cohort.name = "Çekirdekler; güz"
    room.cohort.save()
    name = take(room, "tr").headers["Content-Disposition"]
    assert "-audit-" in name and name.isascii()
