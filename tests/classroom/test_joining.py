"""Joining a cohort: by its code or its link, as a guest, once, and only where it is open."""

from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts import throttle
from accounts.models import Person
from classroom.models import Cohort, Membership, Role
from classroom.views import joining
from lessons.models import Answer
from tests.classroom import factories as f
from tests.classroom.factories import Room, client_of
from tests.classroom.test_cohorts import actions, at
from tests.classroom.test_cohorts import room as room

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("typed", ["{}", " {} ", "{lower}", "{first}-{second}"])
def test_a_code_is_read_however_it_is_typed(room: Room, typed: str) -> None:
    code = room.cohort.code
    said = typed.format(code, lower=code.lower(), first=code[:4], second=code[4:])
    answer = client_of(None).post(at("join-by-code"), {"code": said})
    assert answer["Location"] == at("join", code)


@pytest.mark.parametrize("code", ["WRONG234", "", "x" * 400, "' OR 1=1", "\x00"])
def test_a_wrong_code_is_a_sentence(room: Room, code: str) -> None:
    assert client_of(None).post(at("join-by-code"), {"code": code}).status_code == 422


def test_a_wrong_link_is_a_sentence_too(room: Room) -> None:
    answer = client_of(None).get(at("join", "WRONG234"))
    assert answer.status_code == 404
    assert "No cohort has this code" in answer.content.decode()


def test_codes_cannot_be_tried_without_end(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    few = throttle.Limit("few-codes", ((throttle.HOUR, 3),), "Too many.")
    monkeypatch.setattr(joining, "CODES", few)
    client = client_of(None)
    got = [client.post(at("join-by-code"), {"code": "WRONG234"}).status_code for _ in range(4)]
    assert got == [422, 422, 422, 429]
    assert client.get(at("join", room.cohort.code)).status_code == 429
    assert client.get(at("invitation", "nothing")).status_code == 429


def test_a_visitor_joins_as_a_guest_with_a_name(room: Room) -> None:
    client = client_of(None)
    answer = client.post(at("join", room.cohort.code), {"name": "Zoé"})
    assert answer["Location"] == at("cohort", room.cohort.pk)
    mine = Membership.objects.get(cohort=room.cohort, person__name="Zoé")
    assert mine.role == Role.LEARNER and mine.person.is_guest
    assert room.cohort.name in client.get(at("cohort", room.cohort.pk)).content.decode()


def test_looking_at_the_link_makes_nobody(room: Room) -> None:
    before = Person.objects.count()
    client_of(None).get(at("join", room.cohort.code))
    assert Person.objects.count() == before


def test_a_guest_joins_with_their_work_and_signs_up_with_both(room: Room) -> None:
    guest = f.a_guest()
    client = client_of(guest)
    f.submit(guest, "what-drift")
    client.post(at("join", room.cohort.code), {"name": ""})
    ref = Membership.objects.get(person=guest).ref
    data = {"email": "zoe@example.org", "password": "a long sentence 42", "name": "Zoé"}
    client.post(reverse("accounts:sign-up"), data)
    person = Person.objects.get(email="zoe@example.org")
    mine = Membership.objects.get(cohort=room.cohort, person=person)
    assert (mine.ref, mine.role) == (ref, Role.LEARNER)
    assert Answer.objects.get(person=person).activity == "what-drift"


def test_joining_twice_is_joining_once(room: Room) -> None:
    client = client_of(room.learner)
    client.post(at("join", room.cohort.code))
    assert Membership.objects.filter(person=room.learner).count() == 1
    assert "joined" not in actions(room.cohort)


def test_a_teacher_who_opens_the_link_stays_a_teacher(room: Room) -> None:
    client_of(room.instructor).post(at("join", room.cohort.code))
    assert room.membership(room.instructor).role == Role.INSTRUCTOR


@pytest.mark.parametrize("shut", [{"is_open": False}, {"archived_at": timezone.now()}])
def test_nobody_joins_a_cohort_that_is_shut(room: Room, shut: dict[str, Any]) -> None:
    Cohort.objects.filter(pk=room.cohort.pk).update(**shut)
    client = client_of(f.a_person())
    for answer in (
        client.get(at("join", room.cohort.code)),
        client.post(at("join", room.cohort.code)),
    ):
        assert answer.status_code == 409
    assert client_of(room.learner).get(at("join", room.cohort.code)).status_code == 302


def test_a_renewed_code_voids_the_old_link(room: Room) -> None:
    old = room.cohort.code
    client_of(room.instructor).post(at("renew-code", room.cohort.pk))
    assert client_of(None).get(at("join", old)).status_code == 404
    assert actions(room.cohort) == ["code-renewed"]


@pytest.mark.parametrize("path", ["join/%00/", "invitation/%00/", "invitation/ab%00/"])
def test_an_address_with_a_null_is_not_there(path: str, db: None) -> None:
    assert client_of(None).get(f"/en/classroom/{path}").status_code == 404
