"""Who was here before in this browser is asked, and never overwritten or taken over."""

from typing import Any

import pytest

from accounts import holdings
from accounts.exporting import pieces
from accounts.models import Person
from classroom.models import Membership
from lessons.models import Answer
from tests.classroom import factories
from tests.classroom.lti.conftest import Browser, as_somebody
from tests.classroom.lti.platform import Simulated

pytestmark = pytest.mark.django_db
PASSWORD = "a long sentence 42"


def signed_in(person: Person) -> Browser:
    browser = Browser()
    browser.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return browser


@pytest.fixture
def guest() -> Person:
    """With an answer."""
    guest = factories.a_guest()
    factories.submit(guest, "what-drift")
    return guest


@pytest.fixture
def account() -> Person:
    return Person.objects.create_user("me@example.org", PASSWORD, name="Me")


def enter(browser: Browser, **data: str) -> Any:
    return browser.post("/lti/enter/", data)


def test_a_guest_s_work_comes_along_when_they_say_that_it_is_theirs(
    platform: Simulated, guest: Person
) -> None:
    browser = signed_in(guest)
    asked = browser.launch(platform)
    assert asked.status_code == 200
    assert "as a guest" in asked.content.decode() and "Ada Lovelace" in asked.content.decode()
    assert browser.person == str(guest.pk)  # nothing has happened yet
    answer = enter(browser, do="bring")
    assert answer["Location"] == "/en/rmsnorm/forward/"
    ada = Person.objects.get(pk=browser.person)
    assert Answer.objects.get().person == ada
    assert not Person.objects.filter(pk=guest.pk).exists()


def test_a_guest_s_work_stays_behind_where_it_is_somebody_else_s(
    platform: Simulated, guest: Person
) -> None:
    browser = signed_in(guest)
    browser.launch(platform)
    enter(browser, do="leave")
    assert Answer.objects.get().person == guest
    assert browser.person != str(guest.pk)


def test_neither_is_done_without_an_answer(platform: Simulated, guest: Person) -> None:
    browser = signed_in(guest)
    browser.launch(platform)
    for data in ({}, {"do": "whatever"}):
        assert enter(browser, **data).status_code == 200
    assert browser.person == str(guest.pk)


def test_a_guest_who_has_done_nothing_is_not_asked(platform: Simulated) -> None:
    browser = signed_in(factories.a_guest())
    assert browser.launch(platform).status_code == 302


def test_an_account_is_connected_by_its_password(platform: Simulated, account: Person) -> None:
    browser = signed_in(account)
    page = browser.launch(platform)
    assert page.status_code == 200 and "signed in as Me" in page.content.decode()
    wrong = enter(browser, do="connect", password="something else")
    assert wrong.status_code == 422
    assert not account.lti_users.exists()
    answer = enter(browser, do="connect", password=PASSWORD)
    assert answer["Location"] == "/en/rmsnorm/forward/"
    assert account.lti_users.get().sub == "ada"
    elsewhere = Browser()
    elsewhere.launch(platform)
    assert elsewhere.person == str(account.pk)
    assert Person.objects.count() == 1


def test_an_account_that_is_not_theirs_is_left_alone(platform: Simulated, account: Person) -> None:
    browser = signed_in(account)
    browser.launch(platform)
    assert enter(browser, do="other").status_code == 302
    assert browser.person != str(account.pk)
    assert not account.lti_users.exists()


def test_somebody_known_is_not_connected_with_another_account(
    platform: Simulated, account: Person
) -> None:
    Browser().launch(platform)
    browser = signed_in(account)
    page = browser.launch(platform)
    assert 'name="password"' not in page.content.decode()
    enter(browser, do="connect", password=PASSWORD)
    assert not account.lti_users.exists()
    assert browser.person == str(account.pk)


def test_two_people_of_the_platform_at_one_computer_stay_two(platform: Simulated) -> None:
    browser = Browser()
    browser.launch(platform)
    ada = browser.person
    page = browser.launch(platform, **as_somebody("eve"))
    assert page.status_code == 200 and 'name="password"' not in page.content.decode()
    enter(browser, do="other")
    assert browser.person != ada
    assert Person.objects.count() == 2


def test_the_questions_are_asked_with_the_token_of_the_page(
    platform: Simulated, account: Person
) -> None:
    browser = Browser(enforce_csrf_checks=True)
    browser.force_login(account, backend="django.contrib.auth.backends.ModelBackend")
    browser.launch(platform)
    assert enter(browser, do="other").status_code == 403
    assert browser.person == str(account.pk)


def test_a_ticket_is_good_once_and_in_its_own_browser(platform: Simulated) -> None:
    browser = Browser()
    browser.posted(platform)
    assert Browser().get("/lti/enter/").status_code == 400  # an attacker's link carries no ticket
    ticket = browser.cookies["lti-ticket"].value
    assert browser.get("/lti/enter/").status_code == 302
    browser.cookies["lti-ticket"] = ticket
    again = browser.get("/lti/enter/")
    assert again.status_code == 400
    assert "Open the lesson again" in again.content.decode()


def test_who_was_shut_out_stays_out(platform: Simulated) -> None:
    browser = Browser()
    browser.launch(platform)
    Person.objects.update(is_active=False)
    again = Browser()
    assert again.launch(platform).status_code == 400
    assert again.person is None


def test_who_comes_from_a_platform_may_erase_everything_without_a_password(
    platform: Simulated,
) -> None:
    browser = Browser()
    browser.launch(platform)
    factories.submit(Person.objects.get(), "what-drift")
    page = browser.get("/en/account/").content.decode()
    assert "learning platform" in page and "/en/account/password/" not in page
    assert browser.get("/en/account/password/").status_code == 302
    assert browser.post("/en/account/erase/", {"word": "erase"}).status_code == 302
    assert not Person.objects.exists()
    browser = Browser()
    browser.launch(platform)
    assert not Answer.objects.filter(person=browser.person).exists()


def test_an_export_says_who_they_are_on_the_platform(platform: Simulated) -> None:
    browser = Browser()
    browser.launch(platform)
    held = "".join(pieces(holdings.export(Person.objects.get())))
    assert '"id_there": "ada"' in held and '"platform": "School"' in held
    assert "ada@school.example" not in held
    assert not Membership.objects.exists()
