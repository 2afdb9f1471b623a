"""`manage.py lti_platform`: registering platforms, and being told what is wrong."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from lti_tool.models import Key, LtiDeployment, LtiRegistration

from classroom.models import PlatformHost
from tests.classroom.lti.conftest import Browser
from tests.classroom.lti.platform import Simulated

pytestmark = pytest.mark.django_db
GIVEN = {
    "--name": "School", "--issuer": "https://lms.example", "--client-id": "c1",
    "--auth-url": "https://lms.example/auth", "--token-url": "https://lms.example/token",
    "--keyset-url": "https://lms.example/keys", "--deployment": "1",
}  # fmt: skip


def add(**changed: str) -> None:
    given = GIVEN | {f"--{name.replace('_', '-')}": value for name, value in changed.items()}
    call_command("lti_platform", "add", *(f"{name}={value}" for name, value in given.items()))


def test_a_platform_is_registered_with_a_key_of_ours(capsys: Any) -> None:
    add(host="School.example.org")
    row = LtiRegistration.objects.get()
    assert (row.issuer, row.client_id) == ("https://lms.example", "c1")
    assert row.deployments.get().is_active
    assert PlatformHost.objects.get().host == "school.example.org"
    assert Key.objects.active().count() == 1
    said = capsys.readouterr().out
    assert "/lti/login/" in said and "/lti/launch/" in said and "/lti/keys/" in said


def test_registered_again_it_is_changed(capsys: Any) -> None:
    add()
    add(name="University", deployment="2")
    row = LtiRegistration.objects.get()
    assert row.name == "University"
    assert {item.deployment_id for item in row.deployments.all()} == {"1", "2"}
    assert "is changed" in capsys.readouterr().out
    assert Key.objects.count() == 1


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"auth_url": "http://lms.example/auth"}, "--auth-url has to be an https:// address"),
        ({"token_url": "lms.example"}, "--token-url has to be an https:// address"),
        ({"keyset_url": "https://" + "x" * 200}, "--keyset-url has to be an https:// address"),
        ({"keyset_url": "http://127.0.0.1/keys"}, "--keyset-url has to be an https:// address"),
        ({"issuer": " "}, "--issuer is empty."),
        ({"name": "x" * 256}, "--name is longer than 255 characters."),
        ({"deployment": ""}, "--deployment is empty"),
        ({"host": "https://school.example"}, "--host is a host alone"),
        ({"host": "a b"}, "--host is a host alone"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_stored(
    changed: dict[str, str], sentence: str
) -> None:
    with pytest.raises(CommandError, match=sentence):
        add(**changed)
    assert not LtiRegistration.objects.exists()


def test_a_deployment_has_to_be_named() -> None:
    given = [f"{name}={value}" for name, value in GIVEN.items() if name != "--deployment"]
    with pytest.raises(CommandError, match="--deployment is missing"):
        call_command("lti_platform", "add", *given)


def test_the_list_says_what_is_registered(capsys: Any) -> None:
    call_command("lti_platform", "list")
    assert "No platform is registered" in capsys.readouterr().out
    add(host="school.example.org")
    call_command("lti_platform", "list")
    said = capsys.readouterr().out
    assert (
        "https://lms.example" in said and "school.example.org" in said and "deployments 1" in said
    )


def test_removed_a_platform_lets_nobody_in_and_can_come_back(
    platform: Simulated, browser: Browser, capsys: Any
) -> None:
    browser.launch(platform)
    person, number = browser.person, LtiRegistration.objects.get().pk
    call_command("lti_platform", "remove", str(number))
    assert Browser().get("/lti/login/", platform.announce()).status_code == 400
    call_command("lti_platform", "list")
    assert "removed" in capsys.readouterr().out
    LtiRegistration.objects.update(is_active=True)
    again = Browser()
    again.launch(platform)
    assert again.person == person


def test_erased_a_platform_is_forgotten(platform: Simulated, browser: Browser, capsys: Any) -> None:
    browser.launch(platform)
    number = LtiRegistration.objects.get().pk
    call_command("lti_platform", "remove", str(number), "--erase")
    assert "1 people came from it" in capsys.readouterr().out
    assert not LtiDeployment.objects.exists()
    with pytest.raises(CommandError, match="No platform has number"):
        call_command("lti_platform", "remove", str(number))


def test_keys_are_turned_over_by_the_library_s_command(platform: Simulated) -> None:
    call_command("rotate_keys", "--deactivate-after=0", verbosity=0)
    assert Key.objects.active().count() >= 1
    assert Key.objects.active().latest().as_jwk()["kid"] != Key.objects.earliest().as_jwk()["kid"]
