"""Cookies and what HTTPS adds."""

import os
import re
import subprocess
import sys
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from tests.security.conftest import Clients, Made
from tests.security.roles import ROWS, STEP, Role, filled
from tests.security.test_roles import sent


def cookies_set(client_as: Clients, made: Made) -> dict[str, dict[str, object]]:
    """Every cookie that any address sets for any role, with its flags."""
    found: dict[str, dict[str, object]] = {}
    for row in ROWS:
        for role in (Role.VISITOR, Role.OWNER):
            if (row.name, row.method) == ("accounts:sign-up", "POST") and role is Role.OWNER:
                continue
            answer = sent(client_as(role), row, made)
            found |= {name: dict(morsel) for name, morsel in answer.cookies.items() if morsel.value}
    return found


def test_no_cookie_goes_to_other_sites_and_scripts_see_only_the_form_token(
    client_as: Clients, made: Made
) -> None:
    found = cookies_set(client_as, made)
    assert {settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME} <= set(found)
    assert {name: flags["samesite"] for name, flags in found.items()} == dict.fromkeys(found, "Lax")
    readable = {name for name, flags in found.items() if not flags["httponly"]}
    assert readable <= {settings.CSRF_COOKIE_NAME}


def test_with_https_every_cookie_is_secure(client_as: Clients, made: Made, settings: Any) -> None:
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    found = cookies_set(client_as, made)
    assert [name for name, flags in found.items() if not flags["secure"]] == []


def test_reading_a_lesson_starts_no_session(client_as: Clients, made: Made) -> None:
    answer = client_as(Role.VISITOR).get("/".join(["/en", *STEP, ""]))
    assert settings.SESSION_COOKIE_NAME not in answer.cookies


def test_over_https_django_warns_only_of_what_belongs_to_the_proxy_and_the_domain() -> None:
    environment = os.environ | {"HTTPS": "1", "ALLOWED_HOSTS": "class.example"}
    del environment["DJANGO_ALLOW_ASYNC_UNSAFE"]
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy"],
        cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    warnings = set(re.findall(r"security\.W\d+|\w+\.E\d+", done.stderr))
    # Subdomains and preloading are not ours to decide; redirecting to HTTPS is the proxy's.
    assert warnings <= {"security.W005", "security.W021", "security.W008"}


@pytest.mark.django_db
def test_the_session_key_changes_whenever_rights_change(client: Client) -> None:
    def key() -> str | None:
        return client.session.session_key

    account = {"email": "a@example.org", "password": "a long sentence 42"}
    address = "/".join(["/en", *STEP, "answer", ""])
    keys = [key()]
    client.post(address, filled({"do": "draft", "mean-n": "1"}, {}))
    keys.append(key())
    client.post("/en/account/sign-up/", account)
    keys.append(key())
    client.post("/en/account/sign-out/")
    client.post("/en/account/sign-in/", account)
    keys.append(key())
    assert len(set(keys)) == 4
