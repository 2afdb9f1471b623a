"""Tokens that do not hold let nobody in, whatever is wrong with them; and the keys behind them."""

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
from lti_tool.models import Key, LtiDeployment, LtiRegistration, LtiUser

from accounts.models import Person
from classroom.lti import platforms, storage
from classroom.models import Kept
from tests.classroom.lti.conftest import Browser, registered
from tests.classroom.lti.platform import CLIENT, CORE, Simulated

pytestmark = pytest.mark.django_db
Claims = dict[str, Any]


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
