"""The gradebook taken away: in the reader's language, harmless in a spreadsheet, written down."""

import csv
import io
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.urls import reverse
from django.utils import translation
from openpyxl import load_workbook

from classroom.models import Adjustment, AuditEntry
from tests.classroom.factories import Room, a_person, a_room, client_of, join, submit

pytestmark = pytest.mark.django_db
QUESTION, LESSON = "two-sizes", "forward"


@pytest.fixture
def room() -> Room:
    made = a_room(learners=0, is_anonymous=False)
    for name in ("Ada", '=HYPERLINK("http://evil.example")'):
        join(made, a_person(name))
    return made


def export(room: Room, language: str = "en", **query: str) -> Any:
    with translation.override(language):
        address = reverse("classroom:export", args=[room.cohort.pk])
    answer = client_of(room.instructor).post(address, query)
    assert answer.status_code == 200
    return async_to_sync(gathered)(answer) if answer.is_async else b"".join(answer)


async def gathered(answer: Any) -> bytes:
    return b"".join([part async for part in answer])


def table(room: Room, language: str = "en", **query: str) -> list[list[str]]:
    text = export(room, language, **query).decode()
    assert text.startswith("\ufeff")
    separator = "," if language == "en" or query["format"] == "plain" else ";"
    return list(csv.reader(io.StringIO(text[1:], newline=""), delimiter=separator))


@pytest.mark.parametrize(
    ("language", "heads", "points"),
    [
        ("en", ["Learner key", "Name", "E-mail"], "2.5"),
        ("fr", ["Clé de l’apprenant", "Nom", "Courriel"], "2,5"),
        ("tr", ["Öğrenci anahtarı", "Ad", "E-posta"], "2,5"),
    ],
)
def test_a_csv_speaks_the_reader_s_language(
    room: Room, language: str, heads: list[str], points: str
) -> None:
    submit(room.learner, QUESTION)
    Adjustment.objects.create(cohort=room.cohort, person=room.learner, lesson=LESSON, points="-0.5")
    found = table(room, language, what="lessons", format="csv")
    assert found[0][:3] == heads
    row = next(row for row in found if "Ada" in row)
    assert row[0] == room.ref(room.learner)
    assert points in row


def test_a_program_gets_commas_and_points_whatever_the_language(room: Room) -> None:
    submit(room.learner, QUESTION)
    row = next(r for r in table(room, "fr", what="questions", format="plain") if "Ada" in r)
    assert row.count("3") == 1


def test_names_that_are_formulas_are_harmless_in_both_formats(room: Room) -> None:
    assert any(row[1].startswith("'=") for row in table(room, what="lessons", format="csv"))
    data = export(room, what="lessons", format="xlsx")
    (page,) = load_workbook(io.BytesIO(data)).worksheets
    cells = [cell for row in page.iter_rows() for cell in row]
    assert not [cell for cell in cells if cell.data_type == "f" or cell.hyperlink]


def test_points_in_a_workbook_are_numbers(room: Room) -> None:
    submit(room.learner, QUESTION)
    (page,) = load_workbook(io.BytesIO(export(room, what="questions", format="xlsx"))).worksheets
    values = [cell.value for row in page.iter_rows(min_row=2, min_col=4) for cell in row]
    assert [value for value in values if value is not None] == [3]


def test_an_export_is_audited(room: Room) -> None:
    export(room, what="lessons", format="xlsx")
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.subject) == ("exported", "gradebook lessons")
    assert entry.data == {"format": "xlsx"}


def test_an_unknown_table_is_not_there(room: Room) -> None:
    address = reverse("classroom:export", args=[room.cohort.pk])
    for query in ({}, {"what": "lessons"}, {"what": "all", "format": "csv"}):
        assert client_of(room.instructor).post(address, query).status_code == 404


def test_the_file_s_name_names_nobody(room: Room) -> None:
    room.cohort.name = 'Zoë\r\n"; x="/../'
    room.cohort.save()
    address = reverse("classroom:export", args=[room.cohort.pk])
    answer = client_of(room.instructor).post(address, {"what": "lessons", "format": "csv"})
    assert answer["Content-Disposition"].startswith('attachment; filename="zoe-x-lessons-20')
