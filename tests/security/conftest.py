"""A Run with its Events and a file, and a client for each role."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.files.base import ContentFile
from django.test import Client
from lti_tool.models import LtiContext, LtiDeployment, LtiRegistration

from accounts.models import Person
from classroom.models import Cohort, ContextLink, Grade, Invitation, Membership, Recheck
from classroom.models import Role as Place
from runner.models import Run, RunArtifact, StoredEvent
from tests.classroom.factories import submit
from tests.security.roles import Role

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
Clients = Callable[..., Client]
Made = dict[str, str]


@pytest.fixture(autouse=True)
def quick_passwords(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def owner(db: None) -> Person:
    return Person.objects.create_user("owner@example.org", "a long sentence 42")


@pytest.fixture
def cohort(owner: Person) -> Cohort:
    """A cohort of the course in which the Run was made; its owner learns there."""
    made = Cohort.objects.create(name="Autumn", course="rmsnorm")
    Membership.objects.create(cohort=made, person=owner)
    return made


@pytest.fixture
def run(owner: Person, cohort: Cohort) -> Run:
    made: Run = Run.objects.create(
        owner=owner, procedure="rmsnorm.check-forward", device="cpu", state="ended",
        outcome="passed", last_seq=2, passed=1, failed=0, course=cohort.course,
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
def grade(owner: Person, cohort: Cohort, run: Run) -> Grade:
    """Given to an answer of the owner's that rests on the Run, and published."""
    revision = submit(owner, "what-drift", run=run)
    given: Grade = Grade.objects.create(
        cohort=cohort, revision=revision, published_at=revision.submitted_at
    )
    return given


@pytest.fixture
def made(run: Run, cohort: Cohort, owner: Person, grade: Grade) -> Made:
    """What the words in capitals stand for in a row of the table."""
    return {
        "RUN": str(run.pk),
        "COHORT": str(cohort.pk),
        "CODE": cohort.code,
        "REF": Membership.objects.get(cohort=cohort, person=owner).ref,
        "GRADE": str(grade.pk),
        "REVISION": str(grade.revision_id),
        "RECHECK": str(Recheck.objects.create(cohort=cohort, kind="answers").pk),
        "LINK": str(linked(cohort).pk),
        "INVITATION": Invitation.objects.create(cohort=cohort, role=Place.ASSISTANT).code,
    }


def linked(cohort: Cohort) -> ContextLink:
    """The cohort, as a course of a learning platform."""
    registration = LtiRegistration.objects.create(name="School", issuer="https://lms.example")
    deployment = LtiDeployment.objects.create(registration=registration, is_active=True)
    context = LtiContext.objects.create(deployment=deployment, title="Kernels I")
    return ContextLink.objects.create(context=context, cohort=cohort)


@pytest.fixture
def client_as(owner: Person, cohort: Cohort) -> Clients:
    """A client signed in as that role; more options go to the client."""

    def sign_in(role: Role, **options: Any) -> Client:
        client = Client(**options)
        person = owner if role is Role.OWNER else somebody(role, cohort)
        if person is not None:
            client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return sign_in


def somebody(role: Role, cohort: Cohort) -> Person | None:
    """A new person in that role."""
    if role is Role.VISITOR:
        return None
    if role is Role.GUEST:
        return Person.objects.create_guest("en")
    person: Person = Person.objects.create_user(f"{role}@example.org")
    in_cohort = {
        Role.LEARNER: Place.LEARNER,
        Role.ASSISTANT: Place.ASSISTANT,
        Role.TEACHER: Place.INSTRUCTOR,
    }
    if role in (Role.TEACHER, Role.STRANGER):  # as `manage.py instructor` makes them
        person.user_permissions.add(Permission.objects.get(codename="add_cohort"))
    if role in in_cohort:
        Membership.objects.create(cohort=cohort, person=person, role=in_cohort[role])
    if role is Role.STRANGER:
        other = Cohort.objects.create(name="Spring", course=cohort.course)
        Membership.objects.create(cohort=other, person=person, role=Place.INSTRUCTOR)
    return person
