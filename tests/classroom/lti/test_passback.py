"""Marks that change go to the platform, whatever changed them, once, and when it can be reached."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from lti_tool.models import LtiLineItem, LtiRegistration
from pytest_django import DjangoAssertNumQueries

from accounts.models import Person
from classroom import audit
from classroom.lti import counting, passback, platforms
from classroom.models import (
    Adjustment,
    AuditEntry,
    Cohort,
    Column,
    ContextLink,
    Membership,
    Release,
    Score,
    SendState,
)
from tests.classroom import factories
from tests.classroom.factories import place_of, submit
from tests.classroom.lti.conftest import Browser, as_somebody
from tests.classroom.lti.platform import Simulated
from tests.classroom.lti.test_linking import linked

pytestmark = pytest.mark.django_db
ASKED = "what-drift"  # checked by machine


class Desk:
    """A linked cohort with one learner, whose lesson has a column on the platform."""

    def __init__(self, platform: Simulated) -> None:
        self.platform = platform
        self.instructor, self.cohort = linked(platform)
        self.lesson, _step = place_of(ASKED)
        self.browser = Browser()
        self.browser.launch(platform, **self.opening())
        self.ada = Person.objects.get(pk=self.browser.person)

    def opening(self) -> dict[str, Any]:
        custom = "https://purl.imsglobal.org/spec/lti/claim/custom"
        return {custom: {"lesson": self.lesson.id}}

    @property
    def told(self) -> list[dict[str, Any]]:
        return [score.told for score in self.platform.scores]


@pytest.fixture
def desk(platform: Simulated) -> Desk:
    return Desk(platform)


def work(times: int = 6) -> None:
    """The reaper's turns, without its waiting."""
    ContextLink.objects.update(looked_at=None)
    for _ in range(times):
        passback.work()


def test_an_answer_s_marks_arrive(desk: Desk) -> None:
    submit(desk.ada, ASKED)
    work()
    (score,) = desk.platform.scores
    assert score.column == "/columns/1"
    assert score.told["userId"] == "ada"
    assert score.told["scoreGiven"] > 0
    assert score.told["scoreMaximum"] >= score.told["scoreGiven"]
    assert score.told["gradingProgress"] in ("FullyGraded", "PendingManual")
    assert score.told["timestamp"].endswith("+00:00") and "." in score.told["timestamp"]
    assert "comment" not in score.told
    row = Score.objects.get()
    assert (row.state, row.tries, row.trouble) == (SendState.SENT, 0, "")
    assert row.sent_at is not None


def test_who_has_answered_nothing_is_told_nothing_of(desk: Desk) -> None:
    work()
    assert not desk.told and not Score.objects.exists()


def test_what_has_arrived_is_not_sent_again(desk: Desk) -> None:
    submit(desk.ada, ASKED)
    work()
    work()
    assert len(desk.told) == 1


def adjusted(desk: Desk) -> None:
    Adjustment.objects.create(
        cohort=desk.cohort, person=desk.ada, lesson=desk.lesson.id, points=Decimal("1.5")
    )
    audit.record(desk.cohort, None, "adjusted", f"{desk.lesson.id}/x")


def corrected(desk: Desk) -> None:
    submit(desk.ada, ASKED, wrong=True)


@pytest.mark.parametrize("change", [adjusted, corrected])
def test_a_change_is_told(desk: Desk, change: Callable[[Desk], None]) -> None:
    submit(desk.ada, ASKED)
    work()
    change(desk)
    work()
    first, second = desk.told
    assert second["scoreGiven"] != first["scoreGiven"]
    assert second["timestamp"] > first["timestamp"]


def test_a_grade_that_is_held_back_is_not_told_before_its_learner(platform: Simulated) -> None:
    desk = Desk(platform)
    Cohort.objects.update(release=Release.HELD)
    text = next(
        item.id for item in factories.activities()
        if any(type(field).__name__ == "TextField" for field in item.fields)
    )  # fmt: skip
    lesson, _step = place_of(text)
    Column.objects.update(lesson=lesson.id)
    revision = submit(desk.ada, text)
    room = factories.Room(desk.cohort, [Person.objects.get(pk=desk.instructor.person)])
    given = factories.grade(room, revision, is_published=False, adjustment=Decimal(1))
    audit.record(desk.cohort, None, "graded", "x")
    work()
    assert desk.told[-1]["gradingProgress"] == "PendingManual"
    before = len(desk.told)
    type(given).objects.update(published_at=timezone.now())
    audit.record(desk.cohort, None, "released", "x")
    work()
    assert len(desk.told) == before + 1


def test_where_nothing_counts_yet_no_points_are_told(desk: Desk) -> None:
    score = Score(
        column=Column.objects.get(), user=desk.ada.lti_users.get(), earned=None,
        possible=Decimal(2), is_waiting=True,
    )  # fmt: skip
    score.save()
    passback.send_due()
    assert "scoreGiven" not in desk.told[0]
    assert desk.told[0]["gradingProgress"] == "PendingManual"


def test_one_access_token_is_enough_for_many(desk: Desk) -> None:
    for name in ("eve", "bob", "dan"):
        other = Browser()
        other.launch(desk.platform, **as_somebody(name), **desk.opening())
        submit(Person.objects.get(pk=other.person), ASKED)
    work()
    assert {told["userId"] for told in desk.told} == {"eve", "bob", "dan"}
    assert desk.platform.asked.count("POST /token") == 1


def test_one_learner_s_answer_lets_nobody_else_be_read(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    ContextLink.objects.update(counted_at=timezone.now() + timedelta(minutes=1))
    counted: list[Any] = []
    monkeypatch.setattr(counting, "count", lambda link, people: counted.append(people))
    work()
    assert counted == []
    ContextLink.objects.update(counted_at=timezone.now() + timedelta(minutes=1))
    revision = submit(desk.ada, ASKED)
    type(revision).objects.update(submitted_at=timezone.now() + timedelta(minutes=5))
    work()
    assert counted == [{desk.ada.pk}]


# A platform that is away, slow, or says no ------------------------------------------------------
def test_a_platform_that_is_out_of_order_is_asked_again_later_and_once_for_all(
    desk: Desk,
) -> None:
    for name in ("eve", "bob"):
        other = Browser()
        other.launch(desk.platform, **as_somebody(name), **desk.opening())
        submit(Person.objects.get(pk=other.person), ASKED)
    desk.platform.status = 503
    work()
    assert sum(asked.endswith("/scores") for asked in desk.platform.asked) == 1
    rows = list(Score.objects.all())
    assert {row.state for row in rows} == {SendState.WAITING}
    assert all(row.next_at > timezone.now() + timedelta(seconds=20) for row in rows)
    desk.platform.status = 200
    Score.objects.update(next_at=timezone.now())
    work()
    assert len(desk.told) == 2
    assert {row.state for row in Score.objects.all()} == {SendState.SENT}


def test_the_pauses_grow_and_end(desk: Desk) -> None:
    submit(desk.ada, ASKED)
    desk.platform.token_status = 500
    pauses = []
    for _ in range(passback.MOST_TRIES):
        work()
        row = Score.objects.get()
        pauses.append((row.next_at - timezone.now()).total_seconds())
        Score.objects.update(next_at=timezone.now())
    assert pauses[:4] == pytest.approx([30, 60, 120, 240], abs=10)
    assert max(pauses) <= 6 * 3600
    row = Score.objects.get()
    assert (row.state, row.trouble) == (SendState.FAILED, "token")
    assert not desk.told


@pytest.mark.parametrize(
    ("status", "state"),
    [(400, "failed"), (403, "failed"), (404, "failed"), (422, "failed"), (401, "waiting"),
     (429, "waiting"), (500, "waiting")],
)  # fmt: skip
def test_what_a_platform_refuses_for_good_is_not_tried_again(
    desk: Desk, status: int, state: str
) -> None:
    submit(desk.ada, ASKED)
    desk.platform.status = status
    work()
    row = Score.objects.get()
    assert (row.state, row.trouble) == (state, str(status))


def test_refused_marks_are_sent_again_when_an_instructor_asks(desk: Desk) -> None:
    submit(desk.ada, ASKED)
    desk.platform.status = 404
    work()
    page = desk.instructor.get(f"/en/classroom/{desk.cohort.pk}/gradebook/").content.decode()
    assert "does not know the column any more" in page
    desk.platform.status = 200
    address = f"/en/classroom/{desk.cohort.pk}/platform/send-again/"
    assert desk.instructor.post(address).status_code == 302
    assert AuditEntry.objects.filter(action="marks-sent-again").exists()
    work()
    assert len(desk.told) == 1
    assert desk.instructor.post(address, follow=True).status_code == 200


def test_marks_that_change_while_they_are_sent_are_sent_once_more(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(desk.ada, ASKED)
    post = passback._post

    def meanwhile(connector: Any, score: Score) -> None:
        post(connector, score)
        if score.version == 1:
            Score.objects.update(version=2, earned=0, next_at=timezone.now())

    monkeypatch.setattr(passback, "_post", meanwhile)
    counting.look()
    passback.send_due()
    assert Score.objects.get().state == SendState.WAITING
    passback.send_due()
    assert [told["scoreGiven"] for told in desk.told][-1] == 0
    assert Score.objects.get().state == SendState.SENT


def test_a_process_that_is_killed_leaves_what_is_due_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(desk.ada, ASKED)

    def killed(connector: Any, score: Score) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(passback, "_post", killed)
        with pytest.raises(KeyboardInterrupt):
            work()
    assert not desk.told
    work()
    assert not desk.told  # somebody may still hold it
    Score.objects.update(next_at=timezone.now())
    work()
    assert len(desk.told) == 1


def test_a_detour_is_not_followed(desk: Desk) -> None:
    submit(desk.ada, ASKED)
    desk.platform.detour = f"{desk.platform.url}/elsewhere"
    work()
    assert "POST /elsewhere" not in desk.platform.asked
    assert "GET /elsewhere" not in desk.platform.asked
    assert Score.objects.get().trouble == "token"


def test_an_answer_beyond_all_measure_is_not_read(desk: Desk) -> None:
    submit(desk.ada, ASKED)
    desk.platform.huge = True
    work()
    assert Score.objects.get().trouble == "token"


def test_a_column_that_is_no_longer_the_platform_s_is_not_asked(desk: Desk) -> None:
    submit(desk.ada, ASKED)
    LtiLineItem.objects.update(url="https://evil.example/columns/1")
    work()
    row = Score.objects.get()
    assert (row.state, row.trouble) == (SendState.FAILED, "address")


def test_a_key_that_the_platform_does_not_know_gives_no_access(desk: Desk) -> None:
    submit(desk.ada, ASKED)
    desk.platform.tool_keys = lambda: {"keys": []}
    work()
    assert Score.objects.get().trouble == "token"


# Whose marks go where --------------------------------------------------------------------------
def test_a_platform_that_is_shut_gets_nothing(desk: Desk) -> None:
    submit(desk.ada, ASKED)
    counting.look()
    platforms.shut(LtiRegistration.objects.get())
    work()
    assert not desk.told


def test_an_unlinked_course_gets_nothing(desk: Desk) -> None:
    submit(desk.ada, ASKED)
    counting.look()
    ContextLink.objects.all().delete()
    work()
    assert not desk.told


def test_who_is_not_a_learner_of_the_cohort_is_told_nothing_of(desk: Desk) -> None:
    submit(desk.ada, ASKED)
    Membership.objects.filter(person=desk.ada).delete()
    work()
    assert not desk.told


def test_a_column_of_another_course_s_lesson_stays_empty(desk: Desk) -> None:
    Column.objects.update(course="another")
    submit(desk.ada, ASKED)
    work()
    assert not desk.told


def test_a_learner_who_is_erased_takes_their_unsent_marks_along(desk: Desk) -> None:
    submit(desk.ada, ASKED)
    counting.look()
    assert Score.objects.exists()
    desk.browser.post("/en/account/erase/", {"word": "erase"})
    work()
    assert not Score.objects.exists() and not desk.told


def test_no_page_waits_for_the_platform(desk: Desk) -> None:
    before = list(desk.platform.asked)
    submit(desk.ada, ASKED)
    desk.instructor.get(f"/en/classroom/{desk.cohort.pk}/gradebook/")
    desk.instructor.get(f"/en/classroom/{desk.cohort.pk}/platform/")
    assert desk.platform.asked == before


def test_idle_it_asks_three_questions_and_writes_nothing(
    desk: Desk, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    work()
    with django_assert_num_queries(3):
        assert passback.work() is False


def test_a_gradebook_without_a_platform_says_nothing_of_one() -> None:
    room = factories.a_room()
    client: Client = factories.client_of(room.instructor)
    page = client.get(f"/en/classroom/{room.cohort.pk}/gradebook/").content.decode()
    assert "Marks sent" not in page
    page = client.get(f"/en/classroom/{room.cohort.pk}/platform/").content.decode()
    assert "No course is linked" in page
