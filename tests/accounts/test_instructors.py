"""An account is made an instructor at the terminal, and every Run opens for it."""

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Person
from runner import api
from runner.models import Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    owner = Person.objects.create_guest("en")
    return Run.objects.create(owner=owner, procedure="rmsnorm.environment", device="cpu")


def test_an_instructor_sees_runs_and_steers_none(run: Run) -> None:
    person = Person.objects.create_user("teacher@example.org", "a long password")
    with pytest.raises(api.RunNotFound):
        api.get(run.id, person)
    call_command("instructor", "Teacher@example.org")
    person = Person.objects.get(pk=person.pk)
    assert api.get(run.id, person).id == run.id
    with pytest.raises(api.RunNotFound):
        api.stop(run.id, person)
    call_command("instructor", "teacher@example.org", "--remove")
    with pytest.raises(api.RunNotFound):
        api.get(run.id, Person.objects.get(pk=person.pk))


def test_an_unknown_address_is_refused_with_what_to_do() -> None:
    with pytest.raises(CommandError, match="Sign up first"):
        call_command("instructor", "nobody@example.org")
