"""Adjustments brought back from a file: shown line by line, and only then written."""

import io
from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import translation
from openpyxl import Workbook

from accounts.models import Person
from classroom import adjusting
from classroom.models import Adjustment, AuditEntry, Membership, Role
from tests.classroom.factories import Room, a_person, a_room, client_of, join
from tests.classroom.test_export import export
from tests.classroom.test_export import room as room

pytestmark = pytest.mark.django_db
LESSON = "forward"


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
    ("", LESSON, "1", "learner is missing"),
    ("REF", "no-such", "1", "no lesson"),
    ("REF", "", "1", "lesson is missing"),
    ("REF", "  ", "1", "lesson is missing"),
    ("REF", LESSON, "", "points are missing"),
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


def test_an_import_too_large_to_be_confirmed_says_so(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adjusting, "LONGEST_TOKEN", 50)
    answer = upload(room, lines(room, (room.learner, LESSON, "1", "")))
    assert answer.status_code == 422 and "at once" in answer.context["error"]
