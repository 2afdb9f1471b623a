"""A Run with its Events and a file, and a client for each role."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from accounts.models import Person
from runner.models import Run, RunArtifact, StoredEvent
from tests.security.roles import Role

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
Clients = Callable[..., Client]


class MayView:
    """Stands for the classroom: whoever is named "instructor" may view every Run."""

    def authenticate(self, request: Any, **credentials: Any) -> None:
        return None

    def has_perm(self, person: Person, permission: str, run: Run | None = None) -> bool:
        return person.name == "instructor" and permission == "runner.view_run" and run is not None


@pytest.fixture(autouse=True)
def instructors(settings: Any) -> None:
    settings.AUTHENTICATION_BACKENDS = [
        *settings.AUTHENTICATION_BACKENDS,
        "tests.security.conftest.MayView",
    ]
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def owner(db: None) -> Person:
    return Person.objects.create_user("owner@example.org", "a long sentence 42")


@pytest.fixture
def run(owner: Person) -> Run:
    made: Run = Run.objects.create(
        owner=owner, procedure="rmsnorm.check-forward", device="cpu", state="ended",
        outcome="passed", last_seq=2, passed=1, failed=0,
    )  # fmt: skip
    at = "2026-11-30T12:00:00.000Z"
    note = {"code": "made", "params": {"device_name": "<script>alert(1)</script>"}}
    data: list[tuple[str, dict[str, Any]]] = [
        ("log", {"note": note, "text": None, "level": "info"}),
        ("outcome", {"outcome": "passed", "note": None}),
    ]
    for seq, (kind, content) in enumerate(data, start=1):
        StoredEvent.objects.create(run=made, seq=seq, kind=kind, at=at, data=content)
    file = ContentFile(SVG, name=f"runs/{made.pk}/loss.svg")
    RunArtifact.objects.create(
        run=made, name="loss.svg", media="image/svg+xml", bytes=len(SVG), sha256="0" * 64, file=file
    )
    return made


@pytest.fixture
def client_as(run: Run, owner: Person) -> Clients:
    """A client signed in as that role; more options go to the client."""

    def sign_in(role: Role, **options: Any) -> Client:
        client = Client(**options)
        person = {
            Role.VISITOR: lambda: None,
            Role.OWNER: lambda: owner,
            Role.GUEST: lambda: Person.objects.create_guest("en"),
            Role.ACCOUNT: lambda: Person.objects.create_user("other@example.org"),
            Role.INSTRUCTOR: lambda: Person.objects.create_user("i@example.org", name="instructor"),
        }[role]()
        if person is not None:
            client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return sign_in
