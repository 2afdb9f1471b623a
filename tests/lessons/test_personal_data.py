"""What the lessons hold of a person: exported, erased, and adopted without loss."""

import json
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from lessons import api
from lessons.answers import history, save_draft, submit
from lessons.checking import Typed
from lessons.content import structure as s
from lessons.models import Answer, Revision, Visit

ACTIVITY = s.Activity("a", (s.TextField("why", rubric=("r",)),))


@pytest.fixture
def people(db: None) -> tuple[Any, Any]:
    create = get_user_model().objects.create_guest
    return create("en"), create("en")


def send(person: Any, text: str, key: int | None = None) -> None:
    base = history(person, "c", "a").version
    id_ = uuid.UUID(int=key) if key else uuid.uuid4()
    submit(person, "c", ACTIVITY, {"why": Typed(text)}, base, id_, "en")


def draft(person: Any, text: str) -> None:
    base = history(person, "c", "a").version
    save_draft(person, "c", ACTIVITY, {"why": Typed(text)}, base, "en")


def visit(person: Any, step: str, days_ago: int = 0) -> None:
    at = timezone.now() - timedelta(days=days_ago)
    Visit.objects.create(person=person, course="c", lesson="l", step=step, at=at)


def said(person: Any) -> list[str]:
    return [old.content["why"]["raw"] for old in history(person, "c", "a").submitted]


def test_an_export_holds_every_revision(people: tuple[Any, Any]) -> None:
    person, other = people
    send(person, "one")
    send(person, "two")
    draft(person, "three")
    send(other, "not mine")
    visit(person, "s")
    exported = json.dumps(api.export_person(person), cls=DjangoJSONEncoder)
    assert all(text in exported for text in ("one", "two", "three", '"step": "s"'))
    assert "not mine" not in exported


def test_erasing_leaves_nothing_of_the_person_and_all_of_others(people: tuple[Any, Any]) -> None:
    person, other = people
    for each in people:
        send(each, "text")
        visit(each, "s")
    api.erase_person(person)
    assert {answer.person for answer in Answer.objects.all()} == {other}
    assert {item.person for item in Visit.objects.all()} == {other}
    assert Revision.objects.count() == 1


def test_of_two_visits_to_a_step_the_first_and_the_last_time_are_kept(
    people: tuple[Any, Any],
) -> None:
    guest, account = people
    times = [timezone.now() - timedelta(hours=hours) for hours in (4, 3, 2, 1)]
    for person, first, last in ((guest, times[0], times[2]), (account, times[1], times[3])):
        row = {"course": "c", "lesson": "l", "step": "s", "first_at": first, "at": last}
        Visit.objects.create(person=person, **row)
    api.adopt(guest, account)
    kept = Visit.objects.get()
    assert (kept.first_at, kept.at) == (times[0], times[3])


def test_a_guests_answers_become_the_accounts(people: tuple[Any, Any]) -> None:
    guest, account = people
    send(guest, "as a guest")
    draft(guest, "and a draft")
    visit(guest, "s")
    api.adopt(guest, account)
    assert said(account) == ["as a guest"]
    found = history(account, "c", "a").draft
    assert found is not None
    assert found.content["why"]["raw"] == "and a draft"
    assert not Answer.objects.filter(person=guest).exists()
    assert Visit.objects.get().person == account


def test_where_both_answered_the_newer_one_is_the_latest(people: tuple[Any, Any]) -> None:
    guest, account = people
    send(guest, "guest, first")
    send(account, "account, second")
    send(guest, "guest, third")
    api.adopt(guest, account)
    assert said(account) == ["guest, first", "account, second", "guest, third"]
    numbers = Revision.objects.order_by("number").values_list("number", flat=True)
    assert list(numbers) == [1, 2, 3]


def test_of_two_drafts_the_newer_one_stays_and_the_other_is_kept(people: tuple[Any, Any]) -> None:
    guest, account = people
    draft(account, "older draft")
    draft(guest, "newer draft")
    api.adopt(guest, account)
    found = history(account, "c", "a").draft
    assert found is not None
    assert found.content["why"]["raw"] == "newer draft"
    (kept,) = history(account, "c", "a").earlier
    assert (kept.state, kept.content["why"]["raw"]) == ("aside", "older draft")
    send(account, "and on it goes")
    assert said(account) == ["and on it goes"]


def test_pages_with_the_same_key_do_not_collide(people: tuple[Any, Any]) -> None:
    guest, account = people
    send(guest, "one", key=7)
    send(account, "two", key=7)
    api.adopt(guest, account)
    assert said(account) == ["one", "two"]


def test_a_page_opened_before_the_merge_cannot_overwrite(people: tuple[Any, Any]) -> None:
    guest, account = people
    send(account, "account")
    seen = history(account, "c", "a").version
    send(guest, "guest")
    api.adopt(guest, account)
    assert history(account, "c", "a").version != seen


def test_the_later_visit_counts(people: tuple[Any, Any]) -> None:
    guest, account = people
    visit(account, "s", days_ago=3)
    visit(guest, "s", days_ago=1)
    visit(guest, "t", days_ago=2)
    api.adopt(guest, account)
    latest = Visit.objects.filter(person=account).order_by("-at").values_list("step", flat=True)
    assert list(latest) == ["s", "t"]
