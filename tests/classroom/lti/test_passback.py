"""Marks that change go to the platform, whatever changed them, once, and to nobody else's."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from lti_tool.models import LtiMembership, LtiRegistration, LtiUser
from pytest_django import DjangoAssertNumQueries

from accounts.holdings import merge
from accounts.models import Person
from classroom import audit
from classroom.lti import counting, passback, platforms
from classroom.models import (
    Adjustment,
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
from tests.classroom.lti.desk import ASKED, Desk, work
from tests.classroom.lti.platform import Simulated

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(platform: Simulated) -> Desk:
    return Desk(platform)


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


def test_many_marks_are_counted_in_few_queries(
    desk: Desk, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    link = ContextLink.objects.select_related("cohort", "context").get()
    for number in range(12):
        person = factories.a_person()
        Membership.objects.create(cohort=desk.cohort, person=person)
        user = LtiUser.objects.create(
            registration=LtiRegistration.objects.get(), sub=f"sub-{number}", auth_user=person
        )
        LtiMembership.objects.create(context=link.context, user=user, is_learner=True)
        submit(person, ASKED)
    for wrong, written in ((False, 12), (True, 12)):
        with django_assert_max_num_queries(16):
            assert counting.count(link, None) == written
        for person in Person.objects.filter(lti_users__sub__startswith="sub-"):
            submit(person, ASKED, wrong=not wrong)
    assert set(Score.objects.values_list("version", "state")) == {(2, SendState.WAITING)}


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


def test_what_a_guest_had_answered_counts_once_it_is_theirs(desk: Desk) -> None:
    guest = factories.a_guest()
    submit(guest, ASKED, at=timezone.now() - timedelta(days=1))
    work()
    assert not desk.told
    an_hour_ago = timezone.now() - timedelta(hours=1)
    for model in (LtiUser, LtiMembership):
        model.objects.update(datetime_modified=an_hour_ago)
    ContextLink.objects.update(counted_at=timezone.now() + timedelta(seconds=29))
    merge(guest, desk.ada)
    work()
    assert [told["userId"] for told in desk.told] == ["ada"]


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
