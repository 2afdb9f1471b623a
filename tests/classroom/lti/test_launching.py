"""Launches: what holds leads in, and nothing else does."""

import base64
import hmac
import json
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import jwt
import pytest
from django.test import Client
from django.utils import timezone
from jwcrypto.jwk import JWK
from lti_tool.models import Key, LtiDeployment, LtiLineItem, LtiRegistration, LtiUser
from pytest_django import Settings

from accounts.models import Person
from classroom.lti import launching, platforms, storage
from classroom.models import Kept
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


# Hostile tokens --------------------------------------------------------------------------------
def refused(browser: Client, state: str, token: str) -> None:
    answer = browser.post("/lti/launch/", {"state": state, "id_token": token})
    assert answer.status_code == 400
    assert "could not be accepted" in answer.content.decode()
    assert "Ada" not in answer.content.decode()
    assert not Person.objects.exists()
    assert not LtiUser.objects.exists()
    assert browser.get("/lti/enter/").status_code == 400


@pytest.mark.parametrize(
    "changed",
    [
        {"aud": "another-client"},
        {"aud": []},
        {"aud": [CLIENT, "another"]},  # and no azp
        {"aud": [CLIENT, "another"], "azp": "another"},
        {"aud": {"client": CLIENT}},
        {"iss": "https://evil.example"},
        {"iss": 5},
        {"iss": None},
        {f"{CORE}deployment_id": "deployment-2"},
        {f"{CORE}deployment_id": ""},
        {f"{CORE}deployment_id": "x" * 256},
        {"exp": int(time.time()) - 600},
        {"exp": None},
        {"exp": "never"},
        {"iat": int(time.time()) + 6000, "exp": int(time.time()) + 9000},
        {"iat": None},
        {"nbf": int(time.time()) + 6000},
        {"nonce": "another"},
        {"nonce": None},
        {"nonce": 7},
        {"sub": None},
        {"sub": "x" * 256},
        {"sub": "a\0b"},
        {f"{CORE}version": "1.1"},
        {f"{CORE}message_type": "LtiStartProctoring"},
        {f"{CORE}message_type": "LtiSubmissionReviewRequest"},
        {f"{CORE}resource_link": {}},
        {f"{CORE}resource_link": {"id": 5}},
        {f"{CORE}roles": None},
        {f"{CORE}roles": "Instructor"},
        {f"{CORE}roles": ["Learner"] * 101},
        {f"{CORE}context": {"id": ""}},
        {f"{CORE}context": ["course-1"]},
        {f"{CORE}context": {"id": "x" * 300}},
        {f"{CORE}custom": "lesson=forward"},
        {"name": {"first": "Ada"}},
    ],
    ids=str,
)
def test_a_token_whose_claims_do_not_hold_is_refused(
    platform: Simulated, browser: Browser, changed: Claims
) -> None:
    asked = browser.announced(platform)
    refused(browser, asked["state"], platform.sign(platform.claims(asked["nonce"], **changed)))


def unsigned(platform: Simulated, claims: Claims) -> str:
    return jwt.encode(claims, "", algorithm="none", headers={"kid": "first"})


def of_another_key(platform: Simulated, claims: Claims) -> str:
    return platform.sign(claims, key=JWK.generate(kty="RSA", size=2048))


def another_algorithm(platform: Simulated, claims: Claims) -> str:
    return platform.sign(claims, alg="RS512")


def public_key_as_secret(platform: Simulated, claims: Claims) -> str:
    """Signed with what everybody knows: the platform's public key, taken for an HMAC secret."""

    def part(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    header = {"alg": "HS256", "kid": "first", "typ": "JWT"}
    text = f"{part(json.dumps(header).encode())}.{part(json.dumps(claims).encode())}"
    signature = hmac.digest(platform.key.export_to_pem(), text.encode(), "sha256")
    return f"{text}.{part(signature)}"


def changed_body(platform: Simulated, claims: Claims) -> str:
    header, _body, signature = platform.sign(claims).split(".")
    body = base64.urlsafe_b64encode(json.dumps(claims | {"sub": "eve"}).encode()).rstrip(b"=")
    return f"{header}.{body.decode()}.{signature}"


def unknown_kid(platform: Simulated, claims: Claims) -> str:
    private = platform.key.export_to_pem(private_key=True, password=None)
    return jwt.encode(claims, private, algorithm="RS256", headers={"kid": "second"})


def without_kid(platform: Simulated, claims: Claims) -> str:
    private = platform.key.export_to_pem(private_key=True, password=None)
    return jwt.encode(claims, private, algorithm="RS256")


@pytest.mark.parametrize(
    "forge",
    [unsigned, of_another_key, another_algorithm, public_key_as_secret, changed_body, unknown_kid,
     without_kid],
)  # fmt: skip
def test_a_token_that_the_platform_did_not_sign_is_refused(
    platform: Simulated, browser: Browser, forge: Callable[[Simulated, Claims], str]
) -> None:
    asked = browser.announced(platform)
    refused(browser, asked["state"], forge(platform, platform.claims(asked["nonce"])))


@pytest.mark.parametrize(
    "token", ["", "x", "a.b", "a.b.c", "e30.e30.e30", "W10.W10.W10", "a.b.c.d", "é.é.é"]
)
def test_what_is_no_token_is_refused(platform: Simulated, browser: Browser, token: str) -> None:
    refused(browser, browser.announced(platform)["state"], token)


def test_a_token_is_good_once(platform: Simulated, browser: Browser) -> None:
    asked = browser.announced(platform)
    sent = {"state": asked["state"], "id_token": platform.sign(platform.claims(asked["nonce"]))}
    assert browser.post("/lti/launch/", sent).status_code == 302
    assert browser.post("/lti/launch/", sent).status_code == 400
    other = Browser()
    other.cookies = browser.cookies
    assert other.post("/lti/launch/", sent).status_code == 400


def test_a_nonce_of_one_login_is_refused_with_the_state_of_another(
    platform: Simulated, browser: Browser
) -> None:
    first, second = browser.announced(platform), browser.announced(platform)
    refused(browser, second["state"], platform.sign(platform.claims(first["nonce"])))


def test_a_state_that_is_not_this_browser_s_is_refused(
    platform: Simulated, browser: Browser
) -> None:
    asked = browser.announced(platform)
    token = platform.sign(platform.claims(asked["nonce"]))
    refused(Browser(), asked["state"], token)  # a stranger's page makes a victim's browser post it
    refused(browser, "state-of-my-own", token)
    refused(browser, "", token)


def test_a_login_has_ten_minutes(platform: Simulated, browser: Browser) -> None:
    asked = browser.announced(platform)
    Kept.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    refused(browser, asked["state"], platform.sign(platform.claims(asked["nonce"])))
    storage.forget()
    assert not Kept.objects.exists()


def test_a_login_with_one_platform_is_not_answered_by_another(
    platform: Simulated, browser: Browser
) -> None:
    """Both may sign, each for its own people."""
    registered(platform, client_id="second")
    asked = browser.announced(platform)
    claims = platform.claims(asked["nonce"], aud="second")
    refused(browser, asked["state"], platform.sign(claims))


def test_clocks_may_differ_by_half_a_minute(platform: Simulated, browser: Browser) -> None:
    ahead = int(time.time()) + 30
    assert browser.posted(platform, iat=ahead, exp=ahead + 60).status_code == 302


def test_a_token_for_several_names_us_as_who_it_is_for(
    platform: Simulated, browser: Browser
) -> None:
    assert browser.posted(platform, aud=[CLIENT, "other"], azp=CLIENT).status_code == 302
    assert browser.posted(platform, aud=[CLIENT]).status_code == 302


def test_nobody_comes_from_a_platform_or_a_deployment_that_is_shut(
    platform: Simulated, browser: Browser
) -> None:
    asked = browser.announced(platform)
    token = platform.sign(platform.claims(asked["nonce"]))
    LtiDeployment.objects.update(is_active=False)
    refused(browser, asked["state"], token)
    platforms.shut(LtiRegistration.objects.get())
    assert browser.get("/lti/login/", platform.announce()).status_code == 400


def test_a_deployment_that_is_not_registered_is_not_made_on_the_way(
    platform: Simulated, browser: Browser
) -> None:
    browser.posted(platform, **{f"{CORE}deployment_id": "deployment-2"})
    assert LtiDeployment.objects.count() == 1


# Keys ------------------------------------------------------------------------------------------
def test_the_platform_s_keys_are_asked_for_once_an_hour(
    platform: Simulated, browser: Browser
) -> None:
    browser.launch(platform)
    browser.launch(platform)
    assert platform.asked.count("GET /keys") == 1


def test_a_new_key_of_the_platform_is_found_at_once(platform: Simulated, browser: Browser) -> None:
    browser.launch(platform)
    kept = platform.key
    try:
        platform.key = JWK.generate(kty="RSA", size=2048, kid="second")
        private = platform.key.export_to_pem(private_key=True, password=None)
        for _ in range(2):
            asked = browser.announced(platform)
            claims = platform.claims(asked["nonce"])
            token = jwt.encode(claims, private, algorithm="RS256", headers={"kid": "second"})
            sent = {"state": asked["state"], "id_token": token}
            assert browser.post("/lti/launch/", sent).status_code == 302
    finally:
        platform.key = kept
    assert platform.asked.count("GET /keys") == 2


def test_made_up_key_names_do_not_let_the_platform_be_asked_again_and_again(
    platform: Simulated, browser: Browser
) -> None:
    browser.launch(platform)
    for _ in range(4):
        asked = browser.announced(platform)
        token = unknown_kid(platform, platform.claims(asked["nonce"]))
        sent = {"state": asked["state"], "id_token": token}
        assert browser.post("/lti/launch/", sent).status_code == 400
    assert platform.asked.count("GET /keys") == 2


def test_our_own_keys_are_public_and_only_their_public_half(platform: Simulated) -> None:
    (key,) = Client().get("/lti/keys/").json()["keys"]
    assert (key["kty"], key["alg"], key["use"]) == ("RSA", "RS256", "sig")
    assert not {"d", "p", "q"} & set(key)
    Key.objects.generate()
    assert len(Client().get("/lti/keys/").json()["keys"]) == 2


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
