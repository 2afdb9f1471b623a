"""At the desk nothing is overwritten and nothing typed is lost, whatever happens meanwhile."""

import pytest

from classroom.models import AuditEntry, Grade, Membership
from tests.classroom import factories
from tests.classroom.desk import address, desk, form, points_of
from tests.classroom.desk import room as room
from tests.classroom.desk import text as text
from tests.classroom.factories import Room, client_of

pytestmark = pytest.mark.django_db


def test_two_graders_overwrite_nothing(room: Room, text: str) -> None:
    factories.submit(room.learner, text)
    first, where, page = desk(room, room.learner, text, room.assistants[0])
    second, _, _ = desk(room, room.learner, text, room.assistants[1])
    assert first.post(where, form(page) | {"comment": "Mine was first."}).status_code == 302
    answer = second.post(where, form(page) | {"comment": "Mine is later.", "adjustment": "-0,5"})
    said = answer.content.decode()
    assert answer.status_code == 409
    assert "Mine was first." in said and "Mine is later." in said and 'value="-0,5"' in said
    assert Grade.objects.get().comment == "Mine was first."
    assert second.post(where, form(said) | {"comment": "Mine is later."}).status_code == 302
    grade = Grade.objects.get()
    assert (grade.comment, grade.version, grade.grader) == ("Mine is later.", 2, room.assistants[1])
    assert AuditEntry.objects.filter(action="regraded").count() == 1


def test_a_conflict_reaches_a_script_as_a_page_of_its_own(room: Room, text: str) -> None:
    factories.submit(room.learner, text)
    client, where, page = desk(room, room.learner, text)
    client.post(where, form(page) | {"comment": "first"})
    answer = client.post(
        where, form(page) | {"comment": "other"}, headers={"Accept": "application/json"}
    )
    assert answer.status_code == 409
    assert "You have graded this answer already" in answer.json()["page"]


ANOTHER, OWN, GONE = (
    "Another grader was here first",
    "You have graded this answer already",
    "The grade was taken back",
)


@pytest.mark.parametrize("who", ["another", "the same", "nobody any more"])
def test_a_conflict_says_whose_grade_stands_there(room: Room, text: str, who: str) -> None:
    factories.submit(room.learner, text)
    mine, other = room.assistants
    _, where, before = desk(room, room.learner, text, mine)
    first = client_of(other if who == "another" else mine)
    first.post(where, form(before) | {"comment": "The earlier words."})
    if who == "nobody any more":
        before = first.get(where).content.decode()
        first.post(address(room, "undo"))
    answer = client_of(mine).post(where, form(before) | {"comment": "The later words."})
    said = answer.content.decode()
    assert answer.status_code == 409 and "The later words." in said
    found = [words for words in (ANOTHER, OWN, GONE) if words in said]
    assert found == [{"another": ANOTHER, "the same": OWN, "nobody any more": GONE}[who]]
    assert (f"{mine.name} has graded" in said, f"{other.name} has graded" in said) == (
        False,
        who == "another",
    )
    assert ("The earlier words." in said) == (who != "nobody any more")


def test_the_same_grade_twice_is_no_conflict(room: Room, text: str) -> None:
    factories.submit(room.learner, text)
    client, where, page = desk(room, room.learner, text)
    for _ in range(2):
        assert client.post(where, form(page) | {"comment": "ok"}).status_code == 302
    assert Grade.objects.get().version == 1


def test_a_grade_taken_back_elsewhere_is_said(room: Room, text: str) -> None:
    factories.submit(room.learner, text)
    client, where, page = desk(room, room.learner, text)
    client.post(where, form(page) | {"comment": "first"})
    again = client.get(where).content.decode()
    client.post(address(room, "undo"))
    answer = client.post(where, form(again) | {"comment": "changed"})
    assert answer.status_code == 409 and "was taken back" in answer.content.decode()
    assert not Grade.objects.exists()


def test_an_answer_sent_again_while_it_is_graded_keeps_its_grade_and_is_said(
    room: Room, text: str
) -> None:
    factories.submit(room.learner, text)
    client, where, page = desk(room, room.learner, text)
    factories.submit(room.learner, text, wrong=True)
    answer = client.post(where, form(page) | {"comment": "for the first"}, follow=True)
    said = answer.content.decode()
    assert "answer 2 now waits for a grade of its own" in said
    assert "for the first" in said.split("earlier", 1)[1]
    assert Grade.objects.get().revision.number == 1
    script = client.post(
        where, form(page) | {"comment": "for the first"}, headers={"Accept": "application/json"}
    )
    assert "answer 2" in script.json()["said"] and script.json()["url"] == where


def test_a_learner_who_is_gone_is_said(room: Room, text: str) -> None:
    factories.submit(room.learner, text)
    client, where, page = desk(room, room.learner, text)
    room.learner.delete()
    answer = client.post(where, form(page) | {"comment": "late"})
    assert answer.status_code == 404 and "This answer is gone" in answer.content.decode()
    assert client.get(where).status_code == 404


def test_one_who_left_is_graded_no_more(room: Room, text: str) -> None:
    factories.submit(room.learner, text)
    client, where, page = desk(room, room.learner, text)
    Membership.objects.filter(person=room.learner).delete()
    assert client.post(where, form(page) | {"comment": "late"}).status_code == 404
    assert not Grade.objects.exists()


def test_a_point_retired_while_in_use_is_said_and_the_rest_is_kept(room: Room, text: str) -> None:
    factories.submit(room.learner, text)
    client, where, page = desk(room, room.learner, text)
    point = points_of(room, text)[0]
    rubric = address(room, "rubric-point", text, point.pk)
    client.post(rubric, {"do": "retire", "version": 1})
    answer = client.post(where, form(page) | {"point": [point.pk], "comment": "kept words"})
    said = answer.content.decode()
    assert answer.status_code == 409 and "was retired while you graded" in said
    assert ">kept words</textarea>" in said and not Grade.objects.exists()
    assert client.post(where, form(said) | {"comment": "kept words"}).status_code == 302


def test_a_grade_that_holds_a_retired_point_keeps_it(room: Room, text: str) -> None:
    revision = factories.submit(room.learner, text)
    client, where, _page = desk(room, room.learner, text)
    point = points_of(room, text)[0]
    factories.grade(room, revision, [point])
    client.post(address(room, "rubric-point", text, point.pk), {"do": "retire", "version": 1})
    page = client.get(where).content.decode()
    assert "retired" in page
    assert client.post(where, form(page) | {"comment": "and words"}).status_code == 302
    assert Grade.objects.get().given.get().point == point


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("adjustment", "lots", "is no number of points"),
        ("adjustment", "1e999", "is no number of points"),
        ("adjustment", "NaN", "is no number of points"),
        ("adjustment", "0.001", "at most two decimals"),
        ("comment", "x" * 10_001, "too long by 1"),
    ],
)
def test_what_cannot_be_taken_is_said_and_kept(
    room: Room, text: str, field: str, typed: str, said: str
) -> None:
    factories.submit(room.learner, text)
    client, where, page = desk(room, room.learner, text)
    answer = client.post(where, form(page) | {field: typed})
    shown = answer.content.decode()
    assert answer.status_code == 422 and said in shown and typed in shown
    assert not Grade.objects.exists()
