"""Launches: what holds leads in, and nothing else does."""

from typing import Any

import pytest
from lti_tool.models import LtiLineItem, LtiUser
from pytest_django import Settings

from accounts.models import Person
from classroom.lti import launching
from tests.classroom.lti.conftest import Browser, registered
from tests.classroom.lti.platform import AGS, CLIENT, CORE, NRPS, SCORE, Simulated

pytestmark = pytest.mark.django_db
Claims = dict[str, Any]


def test_a_launch_signs_somebody_in_and_opens_the_lesson(
    platform: Simulated, browser: Browser
) -> None:
    answer = browser.launch(platform)
    assert answer.status_code == 302
    assert answer["Location"] == "/en/rmsnorm/forward/"
    person = Person.objects.get(pk=browser.person)
    assert (person.name, person.email, person.is_guest) == ("Ada Lovelace", None, False)
    assert person.lti_users.get().sub == "ada"


def test_coming_again_is_the_same_person_whatever_they_are_called_now(
    platform: Simulated, browser: Browser
) -> None:
    browser.launch(platform)
    again = Browser()
    again.launch(platform, name="Ada King", email="king@school.example")
    assert again.person == browser.person
    assert Person.objects.count() == 1


def test_an_address_that_the_platform_tells_opens_nobody_s_account(
    platform: Simulated, browser: Browser
) -> None:
    victim = Person.objects.create_user("ada@school.example", "a long sentence 42")
    browser.launch(platform, email=victim.email)
    assert browser.person != str(victim.pk)
    assert not LtiUser.objects.exclude(email="").exists()  # it is not even kept


def test_we_ask_the_platform_s_login_for_what_the_specification_says(
    platform: Simulated, browser: Browser
) -> None:
    asked = browser.announced(platform)
    assert asked["redirect_uri"] == "http://testserver/lti/launch/"
    assert asked["client_id"] == CLIENT
    assert (asked["response_type"], asked["response_mode"]) == ("id_token", "form_post")
    assert (asked["scope"], asked["prompt"]) == ("openid", "none")
    assert (asked["login_hint"], asked["lti_message_hint"]) == ("hint-1", "message-1")


def test_a_platform_may_begin_by_post_and_without_its_client_id(
    platform: Simulated, browser: Browser
) -> None:
    given = platform.announce()
    del given["client_id"]
    assert browser.post("/lti/login/", given).status_code == 302


@pytest.mark.parametrize(
    "changed",
    [{"iss": ""}, {"login_hint": ""}, {"iss": "https://evil.example"}, {"client_id": "other"}],
    ids=str,
)
def test_a_login_that_no_registered_platform_begins_is_refused(
    platform: Simulated, browser: Browser, changed: dict[str, str]
) -> None:
    answer = browser.get("/lti/login/", platform.announce(**changed))
    assert answer.status_code == 400
    assert "could not be accepted" in answer.content.decode()


def test_without_a_client_id_an_issuer_with_two_is_not_guessed(
    platform: Simulated, browser: Browser
) -> None:
    registered(platform, client_id="second")
    given = platform.announce()
    del given["client_id"]
    assert browser.get("/lti/login/", given).status_code == 400


# What is believed of a launch ------------------------------------------------------------------
@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/columns/1",
        "http://127.0.0.1:1/columns/1",  # this machine, another port
        "http://localhost/columns/1",
        "https://127.0.0.1:{port}/columns/1",  # asked over TLS it is another place
        "http://user@127.0.0.1:{port}/columns/1",
        "http://127.0.0.1:{port}\\@evil.example/columns/1",
        "http://evil.example#@127.0.0.1:{port}/",
        "file:///etc/passwd",
        "//127.0.0.1:{port}/columns/1",
        "http://127.0.0.1:{port}/" + "x" * 300,
        "http://[/columns",
    ],
)
def test_a_column_on_a_foreign_host_is_not_believed(
    platform: Simulated, browser: Browser, address: str
) -> None:
    address = address.replace("{port}", platform.url.rpartition(":")[2])
    browser.launch(
        platform,
        **{
            AGS: {"scope": [SCORE], "lineitem": address},
            NRPS: {"context_memberships_url": address},
        },
    )
    if "https://127" not in address:  # the port is registered, whichever scheme
        assert not LtiLineItem.objects.exists()


def test_a_column_of_one_course_does_not_become_another_course_s(
    platform: Simulated, browser: Browser
) -> None:
    browser.launch(platform)
    other = {f"{CORE}context": {"id": "course-2", "title": "Other"}}
    browser.launch(platform, sub="eve", **other)
    item = LtiLineItem.objects.get()
    assert item.context.id_on_platform == "course-1"


def test_without_leave_to_send_marks_no_column_is_kept(
    platform: Simulated, browser: Browser
) -> None:
    browser.launch(platform, **{AGS: {"scope": [], "lineitem": f"{platform.url}/columns/1"}})
    assert not LtiLineItem.objects.exists()


@pytest.mark.parametrize(
    ("custom", "target", "place"),
    [
        ({"lesson": "forward"}, "", "/en/rmsnorm/forward/"),
        ({"lesson": "forward", "step": "two-sizes"}, "", "/en/rmsnorm/forward/two-sizes/"),
        ({"course": "rmsnorm", "lesson": "dx"}, "", "/en/rmsnorm/dx/"),
        ({}, "https://testserver/fr/rmsnorm/dx/", "/en/rmsnorm/dx/"),
        ({}, "https://testserver/tr/rmsnorm/", "/en/rmsnorm/"),
        ({"lesson": "no-such"}, "", "/en/"),
        ({"lesson": "no-such", "course": "rmsnorm"}, "", "/en/rmsnorm/"),
        ({"lesson": "../../account/erase"}, "", "/en/"),
        ({}, "https://evil.example/phish/", "/en/"),
        ({}, "javascript:alert(1)", "/en/"),
        ({}, "https://testserver/en/account/erase/", "/en/"),
        ({}, "https://[", "/en/"),
        ({"lesson": 5}, "", "/en/"),
    ],
)
def test_a_launch_leads_to_a_lesson_by_name_and_nowhere_else(
    platform: Simulated, browser: Browser, custom: Claims, target: str, place: str
) -> None:
    answer = browser.launch(
        platform, **{f"{CORE}custom": custom, f"{CORE}target_link_uri": target or "https://x.y/"}
    )
    assert answer["Location"] == place


def test_the_platform_s_language_is_a_newcomer_s(platform: Simulated, browser: Browser) -> None:
    presentation = {f"{CORE}launch_presentation": {"locale": "fr-CA"}}
    answer = browser.launch(platform, **presentation)
    assert answer["Location"] == "/fr/rmsnorm/forward/"
    assert Person.objects.get().language == "fr"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"name": "  Ada\u202e \n Love\x00lace "}, "Ada Lovelace"),
        ({"name": "x" * 500}, "x" * 80),
        ({"name": None, "given_name": "Ada", "family_name": "King"}, "Ada King"),
        ({"name": None}, ""),
        ({"name": "<script>alert(1)</script>"}, "<script>alert(1)</script>"),
    ],
)
def test_a_name_is_kept_as_it_can_be_shown(
    platform: Simulated, browser: Browser, said: Claims, kept: str
) -> None:
    browser.launch(platform, **said)
    assert Person.objects.get().name == kept


def test_a_launch_without_a_course_opens_the_lesson(platform: Simulated, browser: Browser) -> None:
    answer = browser.launch(platform, **{f"{CORE}context": None})
    assert answer["Location"] == "/en/rmsnorm/forward/"


# Frames ----------------------------------------------------------------------------------------
def test_in_a_frame_the_platform_sees_a_page_with_a_link_that_opens_a_window(
    platform: Simulated, browser: Browser
) -> None:
    framed = {"Sec-Fetch-Dest": "iframe"}
    answer = browser.get("/lti/login/", platform.announce(), headers=framed)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert 'target="_blank"' in page and "login_hint=hint-1" in page
    assert "X-Frame-Options" not in answer
    policy = answer["Content-Security-Policy"]
    assert f"frame-ancestors {platform.url}" in policy and "frame-ancestors 'none'" not in policy
    assert not answer.cookies


def test_the_frame_of_somebody_unknown_sees_nothing(platform: Simulated, browser: Browser) -> None:
    framed = {"Sec-Fetch-Dest": "iframe"}
    given = platform.announce(iss="https://evil.example")
    answer = browser.get("/lti/login/", given, headers=framed)
    assert answer.status_code == 400
    assert answer["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


def test_over_https_the_cookies_are_secure_and_the_ticket_is_sent_to_no_other_site(
    platform: Simulated, settings: Settings
) -> None:
    settings.SESSION_COOKIE_SECURE = True
    browser = Browser()
    asked_at = browser.get("/lti/login/", platform.announce(), secure=True)
    (state,) = asked_at.cookies.values()
    assert state["secure"] and state["httponly"] and state["samesite"] == "None"
    query = dict(pair.split("=") for pair in asked_at["Location"].partition("?")[2].split("&"))
    token = platform.sign(platform.claims(query["nonce"]))
    sent = {"state": query["state"], "id_token": token}
    answer = browser.post("/lti/launch/", sent, secure=True)
    ticket = answer.cookies["lti-ticket"]
    assert ticket["secure"] and ticket["httponly"] and ticket["samesite"] == "Lax"
    assert ticket["path"] == "/lti/"
    assert launching.LOGIN_LASTS == 600
