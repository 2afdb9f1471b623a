"""The rubric in a cohort: the lesson's points first, edits that re-mark, none overwritten."""

from decimal import Decimal
from html import unescape

import pytest
from django.urls import reverse

from classroom import queue, rubrics
from classroom.models import AuditEntry, RubricPoint
from classroom.queue import Question
from tests.classroom import factories
from tests.classroom.factories import Room, a_room, client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def room() -> Room:
    return a_room(learners=2)


@pytest.fixture
def asked(room: Room) -> Question:
    return next(q for q in queue.questions(room.cohort) if q.has_text)


def address(room: Room, asked: Question, point: RubricPoint | None = None) -> str:
    args = [room.cohort.id, asked.activity.id]
    if point is None:
        return reverse("classroom:rubric", args=args)
    return reverse("classroom:rubric-point", args=[*args, point.pk])


def test_the_lesson_s_points_become_rows_once(room: Room, asked: Question) -> None:
    first = rubrics.rubric_of(room.cohort, asked.activity)
    assert [(p.field, p.key) for p in first] == rubrics.declared(asked.activity)
    assert rubrics.rubric_of(room.cohort, asked.activity) == first
    every = rubrics.rubrics_of(room.cohort, factories.activities())
    assert every[asked.activity.id] == first


@pytest.mark.parametrize(
    ("language", "said"), [("en", "masked"), ("fr", "masqu"), ("tr", "maskelen")]
)
def test_the_lesson_s_words_are_shown_in_the_reader_s_language(
    room: Room, language: str, said: str
) -> None:
    found = next(
        q for q in queue.questions(room.cohort)
        if any("no-masked-lane" in getattr(f, "rubric", ()) for f in q.activity.fields)
    )  # fmt: skip
    where = address(room, found).replace("/en/", f"/{language}/")
    assert said in client_of(room.assistant).get(where).content.decode()


def test_an_edit_says_first_how_many_it_re_marks_and_then_does(room: Room, asked: Question) -> None:
    point = rubrics.rubric_of(room.cohort, asked.activity)[0]
    for learner in room.learners:
        factories.grade(room, factories.submit(learner, asked.activity.id), [point])
    client = client_of(room.assistant)
    assert "Saving re-marks 2 graded answers." in client.get(address(room, asked)).content.decode()
    sent = {"do": "edit", "version": 1, "text": "Names the masked lanes", "points": "2,5"}
    said = client.post(address(room, asked, point), sent, follow=True).content.decode()
    assert "2 grades with it" in said
    point.refresh_from_db()
    assert (point.points, point.version, point.text) == (
        Decimal("2.5"),
        2,
        "Names the masked lanes",
    )
    entry = AuditEntry.objects.filter(action="rubric-edited").first()
    assert entry and entry.data["remarked"] == 2


def test_saving_the_lesson_s_own_words_leaves_them_the_lesson_s(
    room: Room, asked: Question
) -> None:
    point = rubrics.rubric_of(room.cohort, asked.activity)[0]
    client = client_of(room.instructor)
    page = client.get(address(room, asked)).content.decode()
    field = page.split(f'id="text-{point.pk}"', 1)[1].split('value="', 1)[1].split('"', 1)[0]
    sent = {"do": "edit", "version": 1, "text": unescape(field), "points": "3"}
    client.post(address(room, asked, point), sent)
    point.refresh_from_db()
    assert (point.text, point.points) == ("", Decimal(3))


def test_two_edits_of_one_point_overwrite_nothing(room: Room, asked: Question) -> None:
    point = rubrics.rubric_of(room.cohort, asked.activity)[0]
    client = client_of(room.assistant)
    first = {"do": "edit", "version": 1, "text": "first words", "points": "1"}
    client.post(address(room, asked, point), first)
    answer = client.post(address(room, asked, point), first | {"text": "second words"})
    said = answer.content.decode()
    assert answer.status_code == 409 and "first words" in said and "second words" in said
    point.refresh_from_db()
    assert point.text == "first words"


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"text": "", "points": "1"}, "Say in a few words"),
        ({"text": "x" * 401, "points": "1"}, "at most 400 characters"),
        ({"text": "Kept words", "points": "one"}, "no number of points"),
        ({"text": "Kept words", "points": "101"}, "at most 100"),
        ({"text": "Kept words", "points": "inf"}, "no number of points"),
    ],
)
def test_a_point_that_is_none_is_refused_and_kept(
    room: Room, asked: Question, sent: dict[str, str], said: str
) -> None:
    answer = client_of(room.assistant).post(address(room, asked), sent)
    shown = answer.content.decode()
    assert answer.status_code == 422 and said in shown and sent["text"][:400] in shown


def test_a_point_is_added_retired_and_offered_again(room: Room, asked: Question) -> None:
    client = client_of(room.assistant)
    client.post(address(room, asked), {"text": "Names <i>both</i> sizes", "points": "−0,5"})
    point = RubricPoint.objects.get(key__startswith="own-")
    assert point.points == Decimal("-0.5")
    assert (
        "Names &lt;i&gt;both&lt;/i&gt; sizes" in client.get(address(room, asked)).content.decode()
    )
    for version, do in enumerate(("retire", "restore"), start=1):
        client.post(address(room, asked, point), {"do": do, "version": version})
        point.refresh_from_db()
        assert point.is_retired == (do == "retire")
    assert client_of(room.learner).get(address(room, asked)).status_code == 404
