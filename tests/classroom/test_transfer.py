"""The gradebook taken away, and adjustments brought back."""

import csv
import io
from decimal import Decimal
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import translation
from openpyxl import Workbook, load_workbook

from accounts.models import Person
from classroom import adjusting
from classroom.models import Adjustment, AuditEntry, Membership, Role
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


# Export


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


# Import


def upload(room: Room, content: str | bytes, person: Person | None = None, name: str = "a.csv",
           language: str = "en") -> Any:  # fmt: skip
    data = content.encode() if isinstance(content, str) else content
    with translation.override(language):
        address = reverse("classroom:import", args=[room.cohort.pk])
    file = SimpleUploadedFile(name, data)
    return client_of(person or room.instructor).post(address, {"file": file})


def confirm(room: Room, token: str, person: Person | None = None) -> str:
    address = reverse("classroom:import-apply", args=[room.cohort.pk])
    client = client_of(person or room.instructor)
    return client.post(address, {"token": token}, follow=True).content.decode()


def lines(room: Room, *rows: tuple[Person, str, str, str]) -> str:
    head = "Learner key,Lesson,Points,Reason\n"
    return head + "".join(f"{room.ref(p)},{le},{n},{why}\n" for p, le, n, why in rows)


def test_nothing_is_written_before_the_preview_is_confirmed(room: Room) -> None:
    answer = upload(room, lines(room, (room.learner, LESSON, "1.5", "A talk")))
    shown = answer.context["lines"]
    assert [(line["number"], line["before"], line["after"]) for line in shown] == [(2, "0", "+1.5")]
    assert not Adjustment.objects.exists()
    assert "1 adjustment is written" in confirm(room, answer.context["token"])
    assert Adjustment.objects.get().points == Decimal("1.5")
    entry = AuditEntry.objects.get(action="imported")
    row = {"ref": room.ref(room.learner), "lesson": LESSON, "before": "0", "after": "1.5"}
    assert entry.data == {"rows": [row]}


def test_what_was_exported_comes_back_and_changes_nothing(room: Room) -> None:
    for person, points in zip(room.learners, ("-0.5", "2"), strict=True):
        Adjustment.objects.create(
            cohort=room.cohort, person=person, lesson=LESSON, points=points
        )  # fmt: skip
    for language in ("en", "fr", "tr"):
        for format_, name in (("csv", "a.csv"), ("xlsx", "a.xlsx")):
            data = export(room, language, what="adjustments", format=format_)
            plan = upload(room, data, name=name, language=language).context["plan"]
            assert (plan.refused, plan.changes, plan.same) == ([], [], 2), (language, format_)


@pytest.mark.parametrize("lesson", ["forward", "FORWARD"])
def test_a_learner_is_found_by_address_and_a_lesson_by_id_or_title(room: Room, lesson: str) -> None:
    text = f"email;lesson;points\n{str(room.learner.email).upper()};{lesson};1,25\n"
    (line,) = upload(room, text).context["lines"]
    assert line["after"] == "+1.25"


REFUSED = [
    ("nobody", LESSON, "1", "No learner"),
    ("", LESSON, "1", "No learner"),
    ("REF", "no-such", "1", "no lesson"),
    ("REF", LESSON, "", "missing"),
    ("REF", LESSON, "NaN", "no number"),
    ("REF", LESSON, "1e999", "no number"),
    ("REF", LESSON, "inf", "no number"),
    ("REF", LESSON, "0x10", "no number"),
    ("REF", LESSON, "1.234", "no number"),
    ("REF", LESSON, "99999", "no number"),
    ("REF", LESSON, "=1+1", "no number"),
    ("REF", LESSON, "１", "no number"),
    ("REF", LESSON, "−１", "no number"),
    ("REF", LESSON, "<script>", "no number"),
]


@pytest.mark.parametrize(("key", "lesson", "points", "words"), REFUSED)
def test_one_bad_line_is_named_by_its_number_and_stops_the_whole_import(
    room: Room, key: str, lesson: str, points: str, words: str
) -> None:
    key = room.ref(room.learner) if key == "REF" else key
    good = lines(room, (room.learners[1], LESSON, "1", ""))
    answer = upload(room, f"{good}{key},{lesson},{points},\n")
    (refused,) = answer.context["plan"].refused
    assert refused.line == 3 and words in refused.why
    assert answer.context["token"] == ""
    assert "<script>" not in answer.content.decode().split("<main")[1]


def test_a_reason_that_is_too_long_and_a_line_said_twice_are_refused(room: Room) -> None:
    row = (room.learner, LESSON, "1", "")
    plan = upload(room, lines(room, row, row, (room.learners[1], LESSON, "1", "x" * 301)))
    whys = [refused.why for refused in plan.context["plan"].refused]
    assert "Line 2" in whys[0] and "300" in whys[1]


def test_a_key_and_an_address_of_two_people_are_refused(room: Room) -> None:
    text = (
        f"key,email,lesson,points\n{room.ref(room.learner)},{room.learners[1].email},{LESSON},1\n"
    )
    assert "two different people" in upload(room, text).context["plan"].refused[0].why


def test_a_formula_in_a_workbook_is_refused(room: Room) -> None:
    book = Workbook()
    for row in (["key", "lesson", "points"], [room.ref(room.learner), LESSON, "=1+1"]):
        book.worksheets[0].append(row)
    file = io.BytesIO()
    book.save(file)
    plan = upload(room, file.getvalue(), name="a.xlsx").context["plan"]
    assert plan.refused[0].line == 2 and "formula" in plan.refused[0].why


@pytest.mark.parametrize(
    "text", ["a,b,c\n1,2,3\n", "key,lesson\n", "key,lesson,points,points\n", "\xef,\xbb\n"]
)
def test_a_head_that_names_no_such_table_is_refused(room: Room, text: str) -> None:
    answer = upload(room, text)
    assert answer.status_code == 422 and answer.context["error"]


def test_no_file_is_said_to_be_none(room: Room) -> None:
    address = reverse("classroom:import", args=[room.cohort.pk])
    answer = client_of(room.instructor).post(address, {})
    assert answer.status_code == 422 and "Choose a file" in answer.content.decode()


def test_what_changed_since_the_preview_is_not_overwritten(room: Room) -> None:
    rows = [(person, LESSON, "1", "") for person in room.learners]
    token = upload(room, lines(room, *rows)).context["token"]
    Adjustment.objects.create(cohort=room.cohort, person=room.learners[1], lesson=LESSON, points=5)
    text = confirm(room, token)
    assert "Nothing was written" in text and room.ref(room.learners[1]) in text
    assert [row.points for row in Adjustment.objects.all()] == [5]


def test_a_confirmation_sent_twice_writes_once(room: Room) -> None:
    token = upload(room, lines(room, (room.learner, LESSON, "1", ""))).context["token"]
    confirm(room, token)
    assert "Nothing was written" in confirm(room, token)
    assert AuditEntry.objects.filter(action="imported").count() == 1


def test_a_learner_who_left_since_stops_it(room: Room) -> None:
    token = upload(room, lines(room, (room.learner, LESSON, "1", ""))).context["token"]
    Membership.objects.filter(person=room.learner).delete()
    assert "or they left" in confirm(room, token)
    assert not Adjustment.objects.exists()


def test_a_token_is_for_its_cohort_its_person_and_an_hour(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = upload(room, lines(room, (room.learner, LESSON, "1", ""))).context["token"]
    other, colleague = a_room(is_anonymous=False), a_person()
    join(other, room.instructor, Role.INSTRUCTOR)
    join(room, colleague, Role.INSTRUCTOR)
    for where, who, sent in (
        (other, room.instructor, token),
        (room, colleague, token),
        (room, room.instructor, token[:-1]),
        (room, room.instructor, ""),
    ):
        assert "older than an hour" in confirm(where, sent, who)
    monkeypatch.setattr(adjusting, "_TOKEN_SECONDS", -1)
    assert "older than an hour" in confirm(room, token)
    assert not Adjustment.objects.exists()


def test_an_import_is_undone_to_what_stood_before(room: Room) -> None:
    Adjustment.objects.create(cohort=room.cohort, person=room.learner, lesson=LESSON, points=2)
    rows = [(person, LESSON, "7", "") for person in room.learners]
    confirm(room, upload(room, lines(room, *rows)).context["token"])
    entry = AuditEntry.objects.get(action="imported")
    address = reverse("classroom:import-undo", args=[room.cohort.pk, entry.pk])
    client = client_of(room.instructor)
    assert (
        str(address)
        in client.get(reverse("classroom:import", args=[room.cohort.pk])).content.decode()
    )
    client.post(address)
    assert [(row.person, row.points) for row in Adjustment.objects.all()] == [(room.learner, 2)]
    again = client.post(address, follow=True).content.decode()
    assert "Nothing was taken back" in again and address not in again


def test_only_instructors_import_and_only_their_cohort_s_imports_are_undone(room: Room) -> None:
    text = lines(room, (room.learner, LESSON, "1", ""))
    for person in (room.assistant, room.learner, a_person()):
        assert upload(room, text, person).status_code == 404
    confirm(room, upload(room, text).context["token"])
    other = a_room()
    entry = AuditEntry.objects.get(action="imported")
    address = reverse("classroom:import-undo", args=[other.cohort.pk, entry.pk])
    assert client_of(other.instructor).post(address).status_code == 404


def test_an_import_too_large_to_be_confirmed_says_so(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adjusting, "LONGEST_TOKEN", 50)
    answer = upload(room, lines(room, (room.learner, LESSON, "1", "")))
    assert answer.status_code == 422 and "at once" in answer.context["error"]
