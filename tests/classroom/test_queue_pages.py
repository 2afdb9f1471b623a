"""The queue over HTTP: what waits, one answer at the desk, and what cannot be taken."""

import json
import re

import pytest

from classroom.models import AuditEntry, Grade, SecondLook, Share
from lessons.models import Revision
from tests.classroom import factories
from tests.classroom.desk import address, desk, form, points_of
from tests.classroom.desk import room as room
from tests.classroom.desk import text as text
from tests.classroom.factories import Room, a_room, client_of

pytestmark = pytest.mark.django_db


def test_the_queue_counts_what_waits(room: Room, text: str) -> None:
    for learner in room.learners[:3]:
        factories.submit(learner, text)
    client = client_of(room.assistant)
    page = client.get(address(room, "queue")).content.decode()
    assert "<strong>3</strong> answers wait" in page
    first = client.get(address(room, "next", text))
    assert first.status_code == 302
    ref = first["Location"].rstrip("/").rsplit("/", 1)[1]
    assert ref in {room.ref(learner) for learner in room.learners}


def test_an_empty_queue_says_so_kindly(room: Room, text: str) -> None:
    client = client_of(room.instructor)
    assert "No answer has been sent in yet" in client.get(address(room, "queue")).content.decode()
    question = client.get(address(room, "question", text)).content.decode()
    assert "Nothing waits here" in question and "has been sent in yet" in question
    assert client.get(address(room, "next", text))["Location"] == address(room, "question", text)


def test_no_page_of_the_queue_names_a_learner(room: Room, text: str) -> None:
    learner = room.learner
    run = factories.a_run(learner)
    factories.submit(learner, text, run=run)
    factories.submit(room.learners[1], text)
    client, where, page = desk(room, learner, text)
    pages = [page, client.get(f"{where}run/?revision=1").content.decode()]
    pages += [client.get(address(room, n)).content.decode() for n in ("queue",)]
    pages += [client.get(address(room, n, text)).content.decode() for n in ("question", "rubric")]
    for shown in pages:
        for person in room.learners:
            assert person.name not in shown and str(person.email) not in shown
            assert str(person.pk) not in shown


def test_grading_leads_to_the_next_and_to_the_empty_queue_at_last(room: Room, text: str) -> None:
    for learner in room.learners:
        factories.submit(learner, text)
    client = client_of(room.instructor)
    where = client.get(address(room, "next", text))["Location"]
    for _ in room.learners:
        sent = form(client.get(where).content.decode())
        point = points_of(room, text)[0]
        where = client.post(where, sent | {"point": [point.pk], "comment": "**Good**"})["Location"]
    assert where == address(room, "question", text)
    assert "has been graded" in client.get(where).content.decode()
    assert Grade.objects.filter(cohort=room.cohort, published_at__isnull=False).count() == 4
    entry = AuditEntry.objects.filter(action="graded").first()
    assert entry and re.fullmatch(rf"{text}/[0-9a-f]{{12}}#1", entry.subject)
    assert entry.data["points"] == [point.pk] and "Good" not in json.dumps(entry.data)


def test_an_earlier_revision_is_opened_with_its_own_grade(room: Room, text: str) -> None:
    first = factories.submit(room.learner, text)
    factories.grade(room, first, comment="old words")
    factories.submit(room.learner, text, wrong=True)
    client, where, _page = desk(room, room.learner, text)
    old = client.get(f"{where}?revision=1").content.decode()
    assert "Its learner has sent answer 2 since" in old and ">old words</textarea>" in old
    assert client.get(f"{where}?revision=7").status_code == 404


def test_could_not_be_graded_is_not_zero(room: Room, text: str) -> None:
    factories.submit(room.learner, text)
    client, where, page = desk(room, room.learner, text)
    client.post(where, form(page) | {"ungradable": "1"})
    part = client.get(address(room, "question", text) + "?part=ungradable").content.decode()
    assert room.ref(room.learner) in part and "could not be graded" in part


def test_a_second_look_is_shown_and_answered(room: Room, text: str) -> None:
    grade = factories.grade(room, factories.submit(room.learner, text))
    SecondLook.objects.create(grade=grade, reason="I did name <b>the mask</b>.")
    client = client_of(room.assistant)
    assert "1 second look" in client.get(address(room, "queue")).content.decode()
    where = client.get(address(room, "next", text) + "?part=looks")["Location"]
    page = client.get(where).content.decode()
    assert "I did name &lt;b&gt;the mask&lt;/b&gt;." in page
    sent = form(page) | {"reply": "You did: a point more.", "adjustment": "1"}
    assert client.post(where, sent)["Location"] == address(room, "question", text) + "?part=looks"
    look = SecondLook.objects.get()
    assert look.reply == "You did: a point more." and look.answered_by == room.assistant
    assert AuditEntry.objects.filter(action="second-look-answered").count() == 1


def test_answers_are_split_among_graders_and_each_sees_theirs(room: Room, text: str) -> None:
    for learner in room.learners:
        factories.submit(learner, text)
    client = client_of(room.instructor)
    graders = [str(person.pk) for person in room.assistants]
    client.post(address(room, "split"), {"activity": text, "grader": graders})
    seen = []
    for assistant in room.assistants:
        page = client_of(assistant).get(address(room, "question", text) + "?mine=1&part=all")
        seen.append({room.ref(p) for p in room.learners if room.ref(p) in page.content.decode()})
    assert len(seen[0]) == len(seen[1]) == 2 and not seen[0] & seen[1]
    assert client_of(room.assistant).post(address(room, "split"), {}).status_code == 404
    client.post(address(room, "split"), {"activity": text})
    assert not Share.objects.exists()


def test_a_passage_is_stored_with_its_place_and_shown_in_the_text(room: Room, text: str) -> None:
    revision = factories.submit(room.learner, text, text="The mean runs over N elements. " * 4)
    name = next(k for k, v in revision.content.items() if str(v["raw"]).startswith("The mean"))
    client, where, page = desk(room, room.learner, text)
    passage = {
        "passage-field": [name], "passage-start": ["4"], "passage-end": ["8"],
        "passage-quote": ["mean"], "passage-text": ["Say of what."],
    }  # fmt: skip
    assert client.post(where, form(page) | passage).status_code == 302
    shown = client.get(where).content.decode()
    assert ">mean</mark>" in shown and "Say of what." in shown
    wrong = passage | {"passage-quote": ["median"]}
    answer = client.post(where, form(shown) | wrong)
    assert answer.status_code == 422 and "do not stand in this answer" in answer.content.decode()
    assert "Say of what." in answer.content.decode()


def test_a_preview_is_rendered_for_teachers_only(room: Room) -> None:
    where = address(room, "preview")
    sent = {"comment": "**x** <script>"}
    shown = client_of(room.assistant).post(where, sent).content.decode()
    assert shown.strip() == "<p><strong>x</strong> &lt;script&gt;</p>"
    assert client_of(room.learner).post(where, sent).status_code == 404


def test_a_run_that_is_gone_is_said(room: Room, text: str) -> None:
    run = factories.a_run(room.learner)
    factories.submit(room.learner, text, run=run)
    client, where, page = desk(room, room.learner, text)
    assert "The Run it rests on" in page
    assert client.get(f"{where}run/?revision=1").status_code == 200
    run.delete()
    assert "This Run is gone" in client.get(f"{where}run/?revision=1").content.decode()
    assert client.get(f"{where}run/?revision=2").status_code == 404


def test_held_grades_wait_for_their_release(text: str) -> None:
    room = a_room(learners=1, release="held")
    factories.submit(room.learner, text)
    client, where, page = desk(room, room.learner, text)
    client.post(where, form(page) | {"comment": "held"})
    assert Grade.objects.get().published_at is None
    assert "Held back" in client.get(where).content.decode()


def test_hostile_words_are_shown_as_words(room: Room, text: str) -> None:
    factories.submit(room.learner, text, text="<img src=x onerror=alert(1)> " * 5)
    client, where, page = desk(room, room.learner, text)
    assert "<img" not in page and "&lt;img src=x" in page
    assert Revision.objects.count() == 1
