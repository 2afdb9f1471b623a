"""Signing up and in: nothing a guest did is lost, whatever happens."""

import pytest
from django.contrib.auth import SESSION_KEY
from django.db import IntegrityError, transaction
from django.test import Client

from accounts.models import Person
from tests.accounts import holding
from tests.accounts.conftest import PASSWORD

Held = dict[str, list[str]]
SIGN_UP, SIGN_IN = "/en/account/sign-up/", "/en/account/sign-in/"


def form(email: str = "ada@example.org", password: str = PASSWORD, **more: str) -> dict[str, str]:
    return {"email": email, "password": password, **more}


def test_signing_up_turns_the_guest_s_own_row_into_an_account(
    client: Client, guest: Person, held: Held
) -> None:
    held[str(guest.pk)] = ["answer"]
    before = client.session.session_key
    answer = client.post(SIGN_UP, form(name="  Ada   Lovelace "))
    assert answer.status_code == 302
    person = Person.objects.get()
    assert person.pk == guest.pk and not person.is_guest
    assert (person.email, person.name) == ("ada@example.org", "Ada Lovelace")
    assert person.check_password(PASSWORD)
    assert held == {str(guest.pk): ["answer"]}
    assert client.session[SESSION_KEY] == str(guest.pk)
    assert client.session.session_key != before


@pytest.mark.django_db
def test_somebody_who_has_done_nothing_yet_can_sign_up(client: Client) -> None:
    client.post("/tr/account/sign-up/", form())
    person = Person.objects.get()
    assert not person.is_guest and person.language == "tr"
    assert client.session[SESSION_KEY] == str(person.pk)


def test_an_address_is_one_account_whatever_its_case(client: Client, account: Person) -> None:
    answer = client.post(SIGN_UP, form(" ADA@Example.ORG", "another sentence 7"))
    assert answer.status_code == 422
    assert "already has an account" in answer.content.decode()
    with pytest.raises(IntegrityError), transaction.atomic():
        Person.objects.create(email="Ada@example.org")


def test_signing_up_again_with_the_right_password_signs_in(
    client: Client, account: Person, guest: Person, held: Held
) -> None:
    held[str(guest.pk)] = ["answer"]
    assert client.post(SIGN_UP, form()).status_code == 302
    assert client.session[SESSION_KEY] == str(account.pk)
    assert held == {str(account.pk): ["answer"]}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (form(password="short"), "at least 10"),
        (form(password="1234567890"), "too common"),
        (form(password="ada@example.org"), "too similar"),
        (form(password="x" * 300), "at most 256"),
        (form(email="ada"), "Write the whole address"),
        (form(email="a" * 250 + "@example.org"), "254"),
        (form(name="a" * 81), "80"),
        (form(name="a\u202eb"), "cannot be shown"),
        ({}, "required"),
    ],
)
@pytest.mark.django_db
def test_a_mistake_in_signing_up_is_named_and_makes_nobody(
    client: Client, fields: dict[str, str], sentence: str
) -> None:
    answer = client.post(SIGN_UP, fields)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert not Person.objects.exists()


def test_signing_in_brings_the_guest_s_work_along_and_the_guest_is_gone(
    client: Client, account: Person, guest: Person, held: Held
) -> None:
    held.update({str(guest.pk): ["new"], str(account.pk): ["old"]})
    before = client.session.session_key
    answer = client.post(SIGN_IN, form("ADA@example.org"))
    assert answer.status_code == 302
    assert held == {str(account.pk): ["old", "new"]}
    assert list(Person.objects.all()) == [account]
    assert client.session[SESSION_KEY] == str(account.pk)
    assert client.session.session_key != before


def test_a_merge_that_fails_half_way_changes_nothing(
    client: Client, account: Person, guest: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    def adopt(guest: Person, person: Person) -> None:
        Person.objects.filter(pk=person.pk).update(name="changed")
        raise RuntimeError

    monkeypatch.setattr(holding, "adopt", adopt)
    with pytest.raises(RuntimeError):
        client.post(SIGN_IN, form())
    account.refresh_from_db()
    assert account.name == "Ada"
    assert Person.objects.filter(pk=guest.pk, is_guest=True).exists()
    assert client.session[SESSION_KEY] == str(guest.pk)


@pytest.mark.parametrize("email", ["ada@example.org", "nobody@example.org"])
def test_a_wrong_password_and_an_unknown_address_read_the_same(
    client: Client, account: Person, email: str
) -> None:
    answer = client.post(SIGN_IN, form(email, "wrong"))
    assert answer.status_code == 422
    assert "do not belong together" in answer.content.decode()


@pytest.mark.parametrize("email", ["ada@example.org", "nobody@example.org"])
def test_sign_in_is_locked_after_eight_failures_whether_or_not_there_is_an_account(
    client: Client, account: Person, email: str
) -> None:
    codes = [client.post(SIGN_IN, form(email, "wrong")).status_code for _ in range(9)]
    assert codes == [422] * 7 + [429] * 2
    page = client.post("/fr/account/sign-in/", form(email))
    assert page.status_code == 429  # the right password does not help now
    assert page["Retry-After"] == "900"
    assert 'lang="fr"' in page.content.decode()
    elsewhere = client.post(SIGN_IN, form(), REMOTE_ADDR="192.0.2.9")
    assert elsewhere.status_code == 302  # and a stranger cannot lock the owner out


def test_an_account_that_is_switched_off_cannot_sign_in(client: Client, account: Person) -> None:
    Person.objects.update(is_active=False)
    assert client.post(SIGN_IN, form()).status_code == 422


def test_signing_in_goes_on_in_the_account_s_language(client: Client, account: Person) -> None:
    answer = client.post(SIGN_IN, form(next="/en/"))
    assert answer["Location"] == "/fr/"
    assert answer.cookies["django_language"].value == "fr"


def test_a_language_chosen_in_this_browser_wins_and_is_kept_for_the_account(
    client: Client, account: Person
) -> None:
    client.post("/language/", {"language": "tr", "next": "/en/"})
    answer = client.post(SIGN_IN, form(next="/en/"))
    assert answer["Location"] == "/tr/"
    account.refresh_from_db()
    assert account.language == "tr"


def test_an_account_signs_out_at_one_click(client: Client, account: Person, held: Held) -> None:
    held[str(account.pk)] = ["answer"]
    client.force_login(account)
    assert client.post("/en/account/sign-out/").status_code == 302
    assert SESSION_KEY not in client.session
    assert held == {str(account.pk): ["answer"]}


def test_a_guest_is_warned_before_signing_out_and_then_leaves_nothing(
    client: Client, guest: Person, held: Held
) -> None:
    held[str(guest.pk)] = ["answer"]
    warning = client.post("/en/account/sign-out/")
    assert "nobody, not even you" in warning.content.decode()
    assert client.session[SESSION_KEY] == str(guest.pk)
    client.post("/en/account/sign-out/", {"confirm": "yes"})
    assert SESSION_KEY not in client.session
    assert not held and not Person.objects.exists()


@pytest.mark.parametrize(
    ("wanted", "target"),
    [
        ("/en/rmsnorm/?q=1#top", "/en/rmsnorm/?q=1#top"),
        ("https://evil.example/en/", "/en/"),
        ("//evil.example/en/", "/en/"),
        ("/\\evil.example/en/", "/en/"),
        ("javascript:alert(1)", "/en/"),
        ("/en/account/sign-out/", "/en/"),
        ("/static/x.js", "/en/"),
        ("", "/en/"),
    ],
)
@pytest.mark.django_db
def test_next_leads_only_to_pages_of_the_site(client: Client, wanted: str, target: str) -> None:
    answer = client.post(SIGN_UP, form(next=wanted))
    assert answer["Location"] == target
