"""Deadlines: wall times in a zone, the hours that are skipped or come twice, and what closes."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from classroom.deadlines import (
    BadWall,
    BadZone,
    SkippedHour,
    closes_at,
    closings,
    last_ends,
    moment,
)
from classroom.models import AuditEntry, Cohort, Deadline, Extension, Role
from lessons.models import Revision, State
from tests.classroom import factories as f
from tests.classroom.factories import Room, client_of

pytestmark = pytest.mark.django_db

ACTIVITY = "what-drift"
PAST, FUTURE = timedelta(days=-1), timedelta(days=1)


@pytest.mark.parametrize(
    ("wall", "zone", "at"),
    [
        ("2026-12-01T23:59", "Europe/Istanbul", datetime(2026, 12, 1, 20, 59, tzinfo=UTC)),
        ("2026-07-01T12:00", "Europe/Paris", datetime(2026, 7, 1, 10, 0, tzinfo=UTC)),
        ("2026-01-01T12:00", "Europe/Paris", datetime(2026, 1, 1, 11, 0, tzinfo=UTC)),
        ("2026-03-29T01:59", "Europe/Paris", datetime(2026, 3, 29, 0, 59, tzinfo=UTC)),
        ("2026-03-29T03:00", "Europe/Paris", datetime(2026, 3, 29, 1, 0, tzinfo=UTC)),
        ("2026-12-01T00:00", "Asia/Kathmandu", datetime(2026, 11, 30, 18, 15, tzinfo=UTC)),
        ("2026-12-01T00:00", "UTC", datetime(2026, 12, 1, tzinfo=UTC)),
    ],
)
def test_a_wall_time_is_an_instant(wall: str, zone: str, at: datetime) -> None:
    found = moment(wall, zone)
    assert (found.at, found.is_doubled) == (at, False)


@pytest.mark.parametrize(
    ("wall", "zone", "earlier", "later"),
    [
        ("2026-03-29T02:30", "Europe/Paris", "2026-03-29T01:59", "2026-03-29T03:00"),
        ("2026-03-29T02:00", "Europe/Paris", "2026-03-29T01:59", "2026-03-29T03:00"),
        ("2026-03-08T02:59", "America/New_York", "2026-03-08T01:59", "2026-03-08T03:00"),
        ("2026-10-04T02:15", "Australia/Lord_Howe", "2026-10-04T01:59", "2026-10-04T02:30"),
        ("2011-12-30T12:00", "Pacific/Apia", "2011-12-29T23:59", "2011-12-31T00:00"),
    ],
)
def test_a_skipped_time_offers_its_neighbours(
    wall: str, zone: str, earlier: str, later: str
) -> None:
    with pytest.raises(SkippedHour) as skipped:
        moment(wall, zone)
    assert (skipped.value.earlier, skipped.value.later) == (earlier, later)
    moment(earlier, zone), moment(later, zone)


def test_of_an_hour_that_comes_twice_the_first_is_taken() -> None:
    found = moment("2026-10-25T02:30", "Europe/Paris")
    assert found.is_doubled
    assert found.at == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "wall",
    ["", "tomorrow", "2026-02-30T10:00", "2026-12-01", "0001-01-01T00:00", "9999-12-31T23:59"],
)
def test_no_date_is_no_deadline(wall: str) -> None:
    with pytest.raises(BadWall):
        moment(wall, "Europe/Paris")


@pytest.mark.parametrize("zone", ["", "Paris", "EST5EDT", "../UTC", "Etc/GMT+3"])
def test_a_zone_is_a_place(zone: str) -> None:
    with pytest.raises(BadZone):
        moment("2026-12-01T10:00", zone)


# What closes ------------------------------------------------------------------------------------


@pytest.fixture
def room() -> Room:
    return f.a_room(learners=2, zone="Europe/Paris")


@pytest.fixture
def lesson() -> str:
    return f.place_of(ACTIVITY)[0].id


def close(room: Room, lesson: str, after: timedelta) -> Deadline:
    at = timezone.now() + after
    wall = at.strftime("%Y-%m-%dT%H:%M")
    made: Deadline = Deadline.objects.create(
        cohort=room.cohort, lesson=lesson, wall=wall, zone="UTC", at=at
    )
    return made


def extend(room: Room, lesson: str, after: timedelta) -> None:
    Extension.objects.create(
        cohort=room.cohort, person=room.learner, lesson=lesson, wall="", zone="UTC",
        at=timezone.now() + after, reason="was ill",
    )  # fmt: skip


def test_the_later_of_deadline_and_extension_holds(room: Room, lesson: str) -> None:
    assert closes_at(room.learner, room.cohort, lesson) is None
    deadline = close(room, lesson, FUTURE)
    extend(room, lesson, PAST)
    assert closes_at(room.learner, room.cohort, lesson) == deadline.at
    Extension.objects.update(at=deadline.at + FUTURE)
    assert closes_at(room.learner, room.cohort, lesson) == deadline.at + FUTURE
    assert closes_at(room.learners[1], room.cohort, lesson) == deadline.at
    ends = closings(room.cohort)
    assert ends.at(room.learner.pk, lesson) == deadline.at + FUTURE
    assert ends.at(room.learners[1].pk, lesson) == deadline.at


def answer_at() -> str:
    lesson, step = f.place_of(ACTIVITY)
    return reverse("lessons:answer", args=[f.COURSE, lesson.id, step.id])


def send(client: Client, do: str = "submit", **more: Any) -> Any:
    typed = f.filling.right(f.an_activity(ACTIVITY), "en", f.filling.TEXT)
    data = {name: item.raw for name, item in typed.items()} | {"do": do, "key": str(uuid4())}
    return client.post(answer_at(), data | more, headers={"accept": "application/json"})


def test_of_several_cohorts_the_last_end_holds_in_as_few_queries_as_of_one(
    room: Room, lesson: str, django_assert_num_queries: Any
) -> None:
    close(room, lesson, PAST)
    later = f.a_room(learners=0)
    f.join(later, room.learner)
    with django_assert_num_queries(3):
        assert last_ends(room.learner, f.COURSE) == {}  # the other leaves it open
    end = close(later, lesson, FUTURE)
    with django_assert_num_queries(3):
        assert last_ends(room.learner, f.COURSE) == {lesson: end}


def test_after_the_deadline_nothing_is_sent_and_nothing_is_lost(room: Room, lesson: str) -> None:
    close(room, lesson, PAST)
    client = client_of(room.learner)
    answer = send(client)
    assert answer.status_code == 403
    assert "closed on" in answer.json()["error"] and "kept as a draft" in answer.json()["error"]
    row = Revision.objects.get(answer__person=room.learner)
    assert row.state == State.DRAFT
    again = send(client, base=str(answer.json()["base"]), do="draft")
    assert again.status_code == 200


def test_without_a_script_the_sentence_stands_on_the_page(room: Room, lesson: str) -> None:
    close(room, lesson, PAST)
    client = client_of(room.learner)
    typed = f.filling.right(f.an_activity(ACTIVITY), "en", f.filling.TEXT)
    data = {name: item.raw for name, item in typed.items()} | {"do": "submit"}
    page = client.post(answer_at(), data, follow=True).content.decode()
    assert "This lesson closed on" in page and "Closed since" in page
    assert "Draft saved" in page


def test_after_the_deadline_no_button_offers_to_send(room: Room, lesson: str) -> None:
    lesson_of, step = f.place_of(ACTIVITY)
    address = f"/en/{f.COURSE}/{lesson_of.id}/{step.id}/"
    for after, said in ((FUTURE, 'value="submit">'), (PAST, 'value="submit" disabled>')):
        Deadline.objects.all().delete()
        close(room, lesson, after)
        assert said in client_of(room.learner).get(address).content.decode()


def test_until_then_it_is_sent(room: Room, lesson: str) -> None:
    close(room, lesson, FUTURE)
    assert send(client_of(room.learner)).status_code == 200


def test_what_came_in_time_may_be_sent_again_after_it(room: Room, lesson: str) -> None:
    deadline = close(room, lesson, FUTURE)
    client = client_of(room.learner)
    base = send(client).json()["base"]
    Deadline.objects.filter(pk=deadline.pk).update(at=timezone.now())
    assert send(client, base=str(base)).status_code == 200  # the answer to the first was lost


@pytest.mark.parametrize("who", ["extended", "open-elsewhere", "teacher", "stranger", "archived"])
def test_a_deadline_binds_nobody_else(room: Room, lesson: str, who: str) -> None:
    close(room, lesson, PAST)
    person = room.learner
    if who == "extended":
        extend(room, lesson, FUTURE)
    elif who == "open-elsewhere":
        f.join(f.a_room(learners=0), person, Role.LEARNER)
    elif who == "archived":
        Cohort.objects.update(archived_at=timezone.now())
    else:
        person = room.instructor if who == "teacher" else f.a_person()
    assert send(client_of(person)).status_code == 200


# The pages --------------------------------------------------------------------------------------


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
    assert "23:59 (Europe/Paris)" in page
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


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "December 1, 2026, 23:59"),
        ("fr", "1 décembre 2026, 23:59"),
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
