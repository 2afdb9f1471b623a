"""Settings, language, export and erasure."""

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from django.contrib.auth import SESSION_KEY
from django.test import Client

from accounts import exporting
from accounts.models import Person
from tests.accounts.conftest import PASSWORD

Held = dict[str, list[str]]


@pytest.mark.parametrize("page", ["", "password/", "export/", "erase/"])
@pytest.mark.django_db
def test_somebody_unknown_is_sent_to_sign_in_and_then_back(client: Client, page: str) -> None:
    answer = client.get(f"/en/account/{page}")
    assert answer["Location"] == f"/en/account/sign-in/?next=/en/account/{page}"


def test_name_and_language_are_saved_and_the_page_answers_in_the_new_language(
    client: Client, guest: Person
) -> None:
    answer = client.post("/en/account/", {"name": "Zoë", "language": "tr"})
    assert answer["Location"] == "/tr/account/"
    assert answer.cookies["django_language"].value == "tr"
    guest.refresh_from_db()
    assert (guest.name, guest.language) == ("Zoë", "tr")


def test_a_language_that_there_is_not_is_refused(client: Client, guest: Person) -> None:
    assert client.post("/en/account/", {"language": "xx"}).status_code == 422


def test_the_switch_keeps_the_page_and_the_person_follows(client: Client, guest: Person) -> None:
    answer = client.post("/language/", {"language": "fr", "next": "/en/account/?x=1"})
    assert answer["Location"] == "/fr/account/?x=1"
    again = client.post("/language/", {"language": "tr", "next": "/en/account/"})
    assert again["Location"] == "/tr/account/"  # whatever language the cookie speaks by now
    guest.refresh_from_db()
    assert guest.language == "tr"


@pytest.mark.django_db
def test_a_newcomer_is_met_in_the_browser_s_language(client: Client) -> None:
    answer = client.get("/account/sign-in/", headers={"accept-language": "tr,en;q=0.5"})
    assert answer["Location"] == "/tr/account/sign-in/"


def test_changing_the_password_asks_for_the_old_one_and_ends_every_other_session(
    client: Client, account: Person
) -> None:
    other = Client()
    client.force_login(account)
    other.force_login(account)
    new = {"new_password": "quite another one"}
    wrong = client.post("/en/account/password/", {"password": "wrong", **new})
    assert wrong.status_code == 422
    right = client.post("/en/account/password/", {"password": PASSWORD, **new})
    assert right.status_code == 302
    assert client.get("/en/account/").status_code == 200
    assert other.get("/en/account/").status_code == 302


def test_the_old_password_cannot_be_guessed_for_ever(client: Client, account: Person) -> None:
    client.force_login(account)
    tries = [
        client.post("/en/account/erase/", {"password": "wrong"}).status_code for _ in range(21)
    ]
    assert tries == [422] * 20 + [429]


def test_the_export_holds_the_person_and_what_every_app_holds(
    client: Client, account: Person, held: Held
) -> None:
    held[str(account.pk)] = ["ğüşı"]
    client.force_login(account)
    answer = client.get("/en/account/export/")
    assert answer["Content-Type"] == "application/json"
    assert answer["Content-Disposition"].startswith('attachment; filename="chainrule-')
    content = b"".join(answer).decode()
    data = json.loads(content)
    assert data["format"] == "chainrule-export/1"
    assert data["person"]["email"] == "ada@example.org"
    assert data["tests"] == {"words": ["ğüşı"]}
    assert "password" not in content


def test_an_export_is_zipped_for_who_takes_that_and_a_head_makes_none(
    client: Client, guest: Person
) -> None:
    zipped = client.get("/en/account/export/", headers={"accept-encoding": "gzip"})
    assert json.loads(gzip.decompress(b"".join(zipped)))["format"] == "chainrule-export/1"
    zipped.close()
    assert client.head("/en/account/export/").status_code == 200
    assert not exporting._running


def test_one_export_at_a_time_and_not_too_many_within_an_hour(
    client: Client, guest: Person, account: Person
) -> None:
    running = client.get("/en/account/export/")
    assert client.get("/en/account/export/").status_code == 429
    other = Client()
    other.force_login(account)
    assert other.get("/en/account/export/").status_code == 200
    running.close()
    for _ in range(19):
        again = client.get("/en/account/export/")
        assert again.status_code == 200
        again.close()
    assert client.get("/en/account/export/").status_code == 429


def test_an_export_larger_than_memory_is_made_piece_by_piece() -> None:
    made = 0

    def runs() -> Iterator[dict[str, object]]:
        nonlocal made
        for made in range(1, 1_000_001):
            yield {"number": made, "events": iter([{"data": {"é": "x" * 1000}}])}

    document = exporting.pieces({"runs": runs(), "at": datetime(2026, 11, 30, tzinfo=UTC)})
    for _ in range(1000):
        next(document)
    assert made < 1000
    small = {"runs": iter([{"events": iter([]), "n": 1}]), "none": iter([]), "text": "ğ"}
    assert json.loads("".join(exporting.pieces(small))) == {
        "runs": [{"events": [], "n": 1}],
        "none": [],
        "text": "ğ",
    }


def test_an_account_is_erased_by_its_password_and_leaves_nothing(
    client: Client, account: Person, held: Held
) -> None:
    held[str(account.pk)] = ["answer"]
    client.force_login(account)
    assert client.post("/en/account/erase/", {"password": "wrong"}).status_code == 422
    assert Person.objects.exists()
    assert client.post("/en/account/erase/", {"password": PASSWORD}).status_code == 302
    assert not Person.objects.exists() and not held
    assert SESSION_KEY not in client.session


@pytest.mark.parametrize("typed", ["erase", " Erase ", "ERASE", "ERAſE"])
def test_a_guest_is_erased_by_typing_the_word(client: Client, guest: Person, typed: str) -> None:
    assert client.post("/en/account/erase/", {"word": "delete"}).status_code == 422
    assert client.post("/en/account/erase/", {"word": typed}).status_code == 302
    assert not Person.objects.exists()
