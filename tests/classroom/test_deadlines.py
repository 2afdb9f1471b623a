"""Deadlines and extensions as instructors set them and learners read them."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from classroom.models import AuditEntry, Deadline, Extension
from tests.classroom import factories as f
from tests.classroom.factories import Room, client_of
from tests.classroom.test_closing import ACTIVITY, FUTURE, PAST, close, extend, send
from tests.classroom.test_closing import lesson as lesson
from tests.classroom.test_closing import room as room

pytestmark = pytest.mark.django_db


def form(lesson: str, wall: str, seen: str = "", **more: str) -> dict[str, str]:
    return {f"wall.{lesson}": wall, f"seen.{lesson}": seen, **more}


def at(room: Room) -> str:
    return reverse("classroom:deadlines", args=[room.cohort.pk])


def test_a_deadline_is_set_changed_and_taken_away(room: Room, lesson: str) -> None:
    client = client_of(room.instructor)
    client.post(at(room), form(lesson, "2026-12-01T23:59"))
    row = Deadline.objects.get()
    assert (row.zone, row.at) == ("Europe/Paris", datetime(2026, 12, 1, 22, 59, tzinfo=UTC))
    client.post(at(room), form(lesson, "2026-12-02T23:59", "2026-12-01T23:59"))
    assert Deadline.objects.get().wall == "2026-12-02T23:59"
    page = client.get(at(room)).content.decode()
    # Once, by the input; what else stands there is for a reader whose clock shows another time.
    assert 'value="2026-12-02T23:59"' in page and ">December 2, 2026" not in page
    assert 'data-also="December 2, 2026, 23:59"></time>' in page
    read = client_of(room.assistant).get(at(room)).content.decode()
    assert "data-also>December 2, 2026, 23:59</time>" in read  # its zone is named above
    client.post(at(room), form(lesson, "", "2026-12-02T23:59"))
    assert not Deadline.objects.exists()
    told = AuditEntry.objects.filter(action="deadline-set").order_by("pk")
    assert [entry.data["after"] for entry in told] == ["2026-12-01T23:59", "2026-12-02T23:59", ""]


def test_in_a_skipped_hour_nothing_is_stored_and_a_button_takes_the_next(
    room: Room, lesson: str
) -> None:
    client = client_of(room.instructor)
    other = next(le.id for le in f.library().shelves[f.COURSE].course.lessons if le.id != lesson)
    data = form(lesson, "2026-03-29T02:30") | form(other, "2026-05-01T10:00")
    answer = client.post(at(room), data)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "The clocks skip 02:30" in page and f'value="{lesson} 2026-03-29T03:00"' in page
    assert 'value="2026-05-01T10:00"' in page and not Deadline.objects.exists()
    client.post(at(room), data | {"take": f"{lesson} 2026-03-29T03:00"})
    assert set(Deadline.objects.values_list("lesson", "wall")) == {
        (lesson, "2026-03-29T03:00"),
        (other, "2026-05-01T10:00"),
    }


def test_in_a_doubled_hour_it_says_which_one_was_taken(room: Room, lesson: str) -> None:
    client = client_of(room.instructor)
    page = client.post(at(room), form(lesson, "2026-10-25T02:30"), follow=True).content.decode()
    assert "twice" in page and "00:30 UTC" in page


def test_a_deadline_somebody_else_set_meanwhile_is_not_overwritten(room: Room, lesson: str) -> None:
    client = client_of(room.instructor)
    client.post(at(room), form(lesson, "2026-12-01T23:59"))
    answer = client.post(at(room), form(lesson, "2026-12-05T12:00"))
    assert answer.status_code == 422
    assert "Somebody has changed this" in answer.content.decode()
    assert Deadline.objects.get().wall == "2026-12-01T23:59"


def test_what_nobody_touched_is_not_written(room: Room, lesson: str) -> None:
    client_of(room.instructor).post(at(room), form(lesson, "", ""))
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("wall", ["soon", "2026-13-01T10:00", "x" * 5000, "2026-12-01T10:00:00Z"])
def test_a_malformed_date_is_a_sentence(room: Room, lesson: str, wall: str) -> None:
    answer = client_of(room.instructor).post(at(room), form(lesson, wall))
    assert answer.status_code == 422 and "no date and time" in answer.content.decode()


@pytest.mark.parametrize("wall", ["9999-12-31T23:59", "1066-10-14T10:00", "20266-01-01T10:00"])
def test_a_year_too_far_away_is_said_to_be_that(room: Room, lesson: str, wall: str) -> None:
    answer = client_of(room.instructor).post(at(room), form(lesson, wall))
    said = answer.content.decode()
    assert answer.status_code == 422 and "year is too far away" in said and wall in said
    assert "no date and time" not in said and not Deadline.objects.exists()


def test_a_reason_without_a_time_is_kept_and_asked_about(room: Room, lesson: str) -> None:
    address = reverse("classroom:extensions", args=[room.cohort.pk, room.ref(room.learner)])
    data = form(lesson, "", **{f"reason.{lesson}": "was ill"})
    answer = client_of(room.instructor).post(address, data)
    said = answer.content.decode()
    assert answer.status_code == 422 and "Say until when" in said and 'value="was ill"' in said
    assert not AuditEntry.objects.exists()


def test_a_learner_gets_more_time_and_reads_why(room: Room, lesson: str) -> None:
    close(room, lesson, PAST)
    ref = room.ref(room.learner)
    address = reverse("classroom:extensions", args=[room.cohort.pk, ref])
    wall = (timezone.now() + timedelta(days=9)).strftime("%Y-%m-%dT%H:%M")
    client_of(room.instructor).post(address, form(lesson, wall, **{f"reason.{lesson}": "was ill"}))
    assert Extension.objects.get().reason == "was ill"
    assert send(client_of(room.learner)).status_code == 200
    assert send(client_of(room.learners[1])).status_code == 403
    page = client_of(room.learner).get(reverse("classroom:cohort", args=[room.cohort.pk]))
    assert "extended for you" in page.content.decode() and "was ill" in page.content.decode()
    entry = AuditEntry.objects.get(action="extended")
    assert entry.subject == f"{ref}/{lesson}" and "ill" not in str(entry.data)


@pytest.mark.parametrize("reason", ["was <b>ill</b>", ""])
@pytest.mark.parametrize("after", [FUTURE, PAST])
def test_a_reason_stands_wherever_the_learner_is_told_that_it_was_extended(
    room: Room, lesson: str, reason: str, after: timedelta
) -> None:
    close(room, lesson, 2 * PAST)
    extend(room, lesson, after)
    Extension.objects.update(reason=reason)
    of, step = f.place_of(ACTIVITY)
    ref = room.ref(room.learner)
    mine, theirs = client_of(room.learner), client_of(room.instructor)
    pages = [
        mine.get(f"/en/{f.COURSE}/{of.id}/{step.id}/"),
        mine.get(reverse("classroom:cohort", args=[room.cohort.pk])),
        theirs.get(reverse("classroom:view-as", args=[room.cohort.pk, ref, of.id, step.id])),
    ]
    for page in (answer.content.decode() for answer in pages):
        assert "extended for you" in page and "<b>ill" not in page
        assert ("was &lt;b&gt;ill&lt;/b&gt;" in page) == bool(reason)
        assert "extended for you:" not in page or reason
    other = client_of(room.learners[1]).get(f"/en/{f.COURSE}/{of.id}/{step.id}/")
    assert "extended for you" not in other.content.decode()
    assert "extended for you" in mine.get(f"/en/{f.COURSE}/").content.decode()


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "December 1, 2026, 23:59"),
        ("fr", "1er décembre 2026, 23:59"),
        ("tr", "1 Aralık 2026, 23:59"),
    ],
)
def test_a_deadline_is_said_in_the_reader_s_language(
    room: Room, lesson: str, language: str, said: str
) -> None:
    client_of(room.instructor).post(at(room), form(lesson, "2026-12-01T23:59"))
    page = client_of(room.learner).get(f"/{language}/classroom/{room.cohort.pk}/").content.decode()
    assert said in page and 'datetime="2026-12-01T22:59:00+00:00"' in page


def test_the_course_page_says_until_when_each_lesson_is_open(room: Room, lesson: str) -> None:
    client_of(room.instructor).post(at(room), form(lesson, "2126-12-01T23:59"))
    page = client_of(room.learner).get(f"/en/{f.COURSE}/").content.decode()
    assert page.count("Open until") == 1 and "December 1, 2126, 23:59 (Europe/Paris)" in page
    f.join(f.a_room(learners=0), room.learner)  # where nothing ever closes
    assert "Open until" not in client_of(room.learner).get(f"/en/{f.COURSE}/").content.decode()
    assert "Open until" not in client_of(None).get(f"/en/{f.COURSE}/").content.decode()


def test_a_reason_keeps_no_characters_that_cannot_be_shown(room: Room, lesson: str) -> None:
    address = reverse("classroom:extensions", args=[room.cohort.pk, room.ref(room.learner)])
    data = form(lesson, "2126-12-01T23:59", **{f"reason.{lesson}": "was\x00 \u202eill"})
    client_of(room.instructor).post(address, data)
    assert Extension.objects.get().reason == "was ill"


def more_time(room: Room, lesson: str, wall: str, **more: str) -> tuple[int, str]:
    address = reverse("classroom:extensions", args=[room.cohort.pk, room.ref(room.learner)])
    data = form(lesson, wall, **{f"reason.{lesson}": "was ill"}) | more
    answer = client_of(room.instructor).post(address, data, follow=True)
    return answer.status_code, answer.content.decode()


@pytest.mark.parametrize("wall", ["2126-11-30T12:00", "2126-12-01T23:58", "2126-12-01T23:59"])
def test_a_time_that_gives_no_more_of_it_is_refused_and_nothing_is_lost(
    room: Room, lesson: str, wall: str
) -> None:
    other = next(le.id for le in f.library().shelves[f.COURSE].course.lessons if le.id != lesson)
    client_of(room.instructor).post(at(room), form(lesson, "2126-12-01T23:59"))
    status, page = more_time(room, lesson, wall, **form(other, "2126-12-24T10:00"))
    assert status == 422 and not Extension.objects.exists()
    assert "everybody is December 1, 2126, 23:59 (Europe/Paris). Take a later time." in page
    for kept in (wall, "was ill", "2126-12-24T10:00"):
        assert f'value="{kept}"' in page
    status, page = more_time(room, lesson, "2126-12-02T00:00")
    assert status == 200 and Extension.objects.get().wall == "2126-12-02T00:00"


@pytest.mark.parametrize(
    ("language", "said"), [("fr", "1er décembre 2126"), ("tr", "1 Aralık 2126")]
)
def test_the_refusal_names_the_deadline_in_the_reader_s_language(
    room: Room, lesson: str, language: str, said: str
) -> None:
    client_of(room.instructor).post(at(room), form(lesson, "2126-12-01T23:59"))
    ref = room.ref(room.learner)
    address = f"/{language}/classroom/{room.cohort.pk}/members/{ref}/time/"
    page = client_of(room.instructor).post(address, form(lesson, "2126-11-01T10:00"))
    assert page.status_code == 422 and f"{said}, 23:59 (Europe/Paris)" in page.content.decode()
    assert "gives no more time" not in page.content.decode()


def test_more_time_where_nothing_closes_is_stored_and_said_not_to_count_yet(
    room: Room, lesson: str
) -> None:
    status, page = more_time(room, lesson, "2126-12-01T23:59")
    assert status == 200 and "stays open" in page and Extension.objects.exists()


def test_a_deadline_of_another_zone_than_the_page_s_names_it(room: Room, lesson: str) -> None:
    client = client_of(room.instructor)
    client.post(at(room), form(lesson, "2126-12-01T23:59"))
    type(room.cohort).objects.update(zone="Asia/Tokyo")
    assert "December 1, 2126, 23:59 (Europe/Paris)" in client.get(at(room)).content.decode()


SHORT = r"\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b|\b\d{1,2}:\d\d [AP]M\b|[ap]\.m\."


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
@pytest.mark.parametrize("place", ["members", "audit", "deadlines", "rechecks", "platform"])
def test_every_moment_of_a_cohort_s_pages_is_written_in_one_way(
    room: Room, lesson: str, place: str, language: str
) -> None:
    client = client_of(room.instructor)
    client.post(at(room), form(lesson, "2126-12-01T23:59"))
    client.post(reverse("classroom:members", args=[room.cohort.pk]), {"role": "assistant"})
    page = client.get(f"/{language}/classroom/{room.cohort.pk}/{place}/")
    assert page.status_code == 200
    shown = page.content.decode()
    assert not re.search(SHORT, shown) and "data-time>" not in shown
    if place in ("members", "audit"):
        assert shown.count("data-zone>") == 1 and "data-when>" in shown
