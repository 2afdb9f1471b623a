"""An account is made an instructor at the terminal, and may then make cohorts."""

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Person
from runner import api
from runner.models import Run

pytestmark = pytest.mark.django_db


def test_an_instructor_may_make_cohorts_until_removed() -> None:
    person = Person.objects.create_user("teacher@example.org", "a long password")
    assert not person.has_perm("classroom.add_cohort")
    call_command("instructor", "Teacher@example.org")
    assert Person.objects.get(pk=person.pk).has_perm("classroom.add_cohort")
    call_command("instructor", "teacher@example.org", "--remove")
    assert not Person.objects.get(pk=person.pk).has_perm("classroom.add_cohort")


def test_being_an_instructor_opens_nobody_s_runs() -> None:
    owner = Person.objects.create_guest("en")
    run = Run.objects.create(owner=owner, procedure="rmsnorm.environment", device="cpu")
    person = Person.objects.create_user("teacher@example.org", "a long password")
    call_command("instructor", "teacher@example.org")
    with pytest.raises(api.RunNotFound):
        api.get(run.id, Person.objects.get(pk=person.pk))


def test_an_unknown_address_is_refused_with_what_to_do() -> None:
    with pytest.raises(CommandError, match="Sign up first"):
        call_command("instructor", "nobody@example.org")
