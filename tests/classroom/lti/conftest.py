"""A platform that is registered, and a browser that goes back and forth between it and us."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.test import Client
from jwcrypto.jwk import JWK
from lti_tool.models import Key, LtiRegistration
from pytest_django import Settings

from classroom.lti.platforms import Platform, register
from tests.classroom.lti import platform as simulated
from tests.classroom.lti.platform import CLIENT, CORE, DEPLOYMENT, MEMBERSHIP, Simulated

OURS = JWK.generate(kty="RSA", size=2048)


@pytest.fixture(scope="session")
def _listening() -> Iterator[Simulated]:
    with simulated.running() as platform:
        yield platform


@pytest.fixture
def platform(_listening: Simulated, settings: Settings, db: None) -> Simulated:
    """As new, and registered as an operator would."""
    settings.LTI_LOOPBACK = True
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    Key.objects.create_from_jwk(OURS)  # a new one takes its time
    ours = Client().get("/lti/keys/").json()
    fresh = Simulated(url=_listening.url, key=_listening.key, tool_keys=lambda: ours)
    vars(_listening).update(vars(fresh))
    registered(_listening)
    return _listening


def registered(platform: Simulated, **more: Any) -> LtiRegistration:
    values: dict[str, Any] = {
        "name": "School", "issuer": platform.url, "client_id": CLIENT,
        "auth_url": f"{platform.url}/auth", "token_url": f"{platform.url}/token",
        "keyset_url": f"{platform.url}/keys", "deployments": [DEPLOYMENT],
    }  # fmt: skip
    return register(Platform(**values | more))[0]


class Browser(Client):
    """Follows a launch as far as a person has nothing to decide."""

    def announced(self, platform: Simulated, **more: str) -> dict[str, str]:
        """The platform begins; what we ask its login for."""
        answer = self.get("/lti/login/", platform.announce(**more))
        assert answer.status_code == 302, answer.content.decode()
        where = urlsplit(answer["Location"])
        assert f"{where.scheme}://{where.netloc}{where.path}" == f"{platform.url}/auth"
        return dict(parse_qsl(where.query))

    def posted(self, platform: Simulated, **claims: Any) -> Any:
        """What we say to a whole and honest launch; `claims` replace some."""
        asked = self.announced(platform)
        token = platform.sign(platform.claims(asked["nonce"], **claims))
        return self.post("/lti/launch/", {"state": asked["state"], "id_token": token})

    def launch(self, platform: Simulated, **claims: Any) -> Any:
        """In, as far as the page that follows."""
        answer = self.posted(platform, **claims)
        assert answer.status_code == 302, answer.content.decode()
        assert answer["Location"] == "/lti/enter/"
        return self.get("/lti/enter/")

    @property
    def person(self) -> Any:
        """Who is signed in; None: nobody."""
        return self.session.get("_auth_user_id")


@pytest.fixture
def browser() -> Browser:
    return Browser()


def as_role(role: str) -> dict[str, Any]:
    return {f"{CORE}roles": [f"{MEMBERSHIP}{role}"]}


def as_somebody(sub: str, role: str = "Learner", **more: Any) -> dict[str, Any]:
    return {"sub": sub, "name": sub.title(), **as_role(role)} | more
