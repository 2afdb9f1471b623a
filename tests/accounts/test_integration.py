"""Signing up, in and out with what the site really holds: Runs and answers."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as conf
from django.test import Client
from django.utils import timezone

from accounts.guests import RENEW_AFTER, forget_guests
from accounts.models import Person
from lessons.models import Answer, Visit
from runner.models import Run
from tests.accounts.conftest import PASSWORD

STEP = "/en/rmsnorm/forward/two-sizes/"
ADA = {"email": "ada@example.org", "password": PASSWORD}
MODULES = list(conf.PERSONAL_DATA)


@pytest.fixture(autouse=True)
def real_holdings(held: Any, settings: Any) -> None:
    settings.PERSONAL_DATA = MODULES


@pytest.fixture
def at_work(client: Client, db: None) -> Person:
    """Somebody who wrote into a form, and so became a guest, and ran something."""
    client.post(f"{STEP}answer/", {"do": "draft", "mean-n": "1"})
    guest = Person.objects.get(is_guest=True)
    client.get(STEP)
    Run.objects.create(owner=guest, procedure="rmsnorm.check-forward", device="cpu", state="ended")
    return guest


def held_by(person: Person) -> tuple[int, int, int]:
    return (
        Answer.objects.filter(person=person).count(),
        Visit.objects.filter(person=person).count(),
        Run.objects.filter(owner=person).count(),
    )


def test_signing_up_keeps_it_all(client: Client, at_work: Person) -> None:
    client.post("/en/account/sign-up/", ADA)
    person = Person.objects.get(email=ADA["email"])
    assert person.pk == at_work.pk and held_by(person) == (1, 1, 1)


def test_signing_in_brings_it_all_along(client: Client, account: Person, at_work: Person) -> None:
    client.post("/en/account/sign-in/", ADA)
    assert held_by(account) == (1, 1, 1)
    assert not Person.objects.filter(pk=at_work.pk).exists()


def test_a_guest_whose_work_nobody_adopts_is_not_deleted(
    client: Client, account: Person, at_work: Person, settings: Any
) -> None:
    settings.PERSONAL_DATA = ["lessons.api"]
    with pytest.raises(RuntimeError, match=r"runner\.Run"):
        client.post("/en/account/sign-in/", ADA)
    assert held_by(at_work) == (1, 1, 1)


def test_the_export_holds_it_all(client: Client, at_work: Person) -> None:
    data = json.loads(b"".join(client.get("/en/account/export/")))
    assert len(data["runner"]["runs"]) == len(data["lessons"]["answers"]) == 1


def test_erasing_leaves_nothing(client: Client, at_work: Person) -> None:
    client.post("/en/account/erase/", {"word": "erase"})
    counts = [model.objects.count() for model in (Person, Answer, Visit, Run)]
    assert counts == [0, 0, 0, 0]


def test_a_guest_at_work_is_not_forgotten(at_work: Person) -> None:
    assert forget_guests(idle_days=0).idle == 0
    assert held_by(at_work) == (1, 1, 1)


def test_work_that_nobody_can_come_back_to_is_erased(at_work: Person) -> None:
    longest = timedelta(seconds=conf.SESSION_COOKIE_AGE) + RENEW_AFTER
    Person.objects.update(last_login=timezone.now() - longest - timedelta(days=1))
    assert forget_guests().unreachable == 1
    counts = [model.objects.count() for model in (Person, Answer, Visit, Run)]
    assert counts == [0, 0, 0, 0]
