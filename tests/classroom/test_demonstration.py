"""`manage.py demo`: a cohort at work, honestly marked, made anew each time, gone without trace."""

import io
import re

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Person
from classroom.demonstration import people, work
from classroom.demonstration.script import script
from classroom.models import Cohort, Deadline, Grade, Membership, PassageComment, Role, SecondLook
from classroom.rechecks.reading import Choices
from kernels.events import Outcome
from lessons.content.structure import TextField
from lessons.models import Answer, Revision, State
from runner.models import Run
from tests.classroom import factories

pytestmark = pytest.mark.django_db


def demo(*arguments: str) -> str:
    out = io.StringIO()
    call_command("demo", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture(autouse=True)
def quick(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.RECORDINGS_DIR = settings.BASE_DIR / "tests" / "classroom"  # none there


def test_a_newcomer_sees_a_classroom_at_work(client: Client) -> None:
    said = demo()
    cohort = Cohort.objects.get()
    assert cohort.is_demo
    learners = Membership.objects.filter(cohort=cohort, role=Role.LEARNER)
    assert learners.count() == 30
    assert set(Run.objects.values_list("outcome", flat=True)) == {o.value for o in Outcome}
    assert {run.made["device_name"] for run in Run.objects.all()} == {
        "Demonstration (not executed)"
    }
    handed_in = Revision.objects.filter(state=State.SUBMITTED)
    assert set(handed_in.values_list("language", flat=True)) == {"en", "fr", "tr"}
    assert Revision.objects.filter(state=State.DRAFT).count() > 5
    assert handed_in.filter(number__gt=1).count() > 50
    assert Grade.objects.count() > 50 and Grade.objects.filter(is_ungradable=True).exists()
    assert (
        list(SecondLook.objects.order_by("answered_at").values_list("reply", flat=True)).count("")
        == 1
    )
    now = timezone.now()
    assert Deadline.objects.filter(at__lt=now).exists() and Deadline.objects.filter(at__gt=now)
    assert [choice.target.name for choice in Choices(cohort).stale] == [work.MENDED]
    sign_in = reverse("accounts:sign-in")
    email, password = re.findall(r"^  (\S+@\S+)\n  (\S+)$", said, re.MULTILINE)[0]
    assert client.post(sign_in, {"email": email, "password": password}).status_code == 302
    for name in ("cohort", "queue", "overview", "gradebook", "rechecks", "audit", "members"):
        page = client.get(reverse(f"classroom:{name}", args=[cohort.pk]))
        assert page.status_code == 200, name
        assert "This is a demonstration" in page.content.decode(), name


def test_comments_on_passages_stand_on_words_of_the_answer() -> None:
    demo()
    found = PassageComment.objects.select_related("grade__revision")
    assert found
    for row in found:
        text = row.grade.revision.content[row.field]["raw"]
        assert text[row.start : row.end] == row.quote


def test_made_anew_it_is_one_and_its_password_another() -> None:
    before = demo()
    learners = set(Person.objects.values_list("email", flat=True))
    counts = [Person, Membership, Answer, Revision, Run, Grade]
    many = [model.objects.count() for model in counts]
    after = demo()
    assert Cohort.objects.count() == 1
    assert set(Person.objects.values_list("email", flat=True)) == learners
    assert [model.objects.count() for model in counts] == many
    assert before.splitlines()[-2] != after.splitlines()[-2]


def test_taken_away_it_leaves_everything_else_as_it_was() -> None:
    room = factories.a_room()
    factories.submit(room.learner, "what-drift")
    factories.a_run(room.learner)
    demo()
    visitor = factories.a_person()
    Membership.objects.create(cohort=Cohort.objects.get(is_demo=True), person=visitor)
    homonym = factories.a_person(email=f"somebody@{people.DOMAIN}")
    assert "is gone" in demo("--remove")
    assert list(Cohort.objects.all()) == [room.cohort]
    kept = {*room.instructors, *room.assistants, *room.learners, visitor, homonym}
    assert set(Person.objects.all()) == kept
    assert (Answer.objects.count(), Run.objects.count()) == (1, 1)
    assert "was no demonstration" in demo("--remove")


def test_without_its_course_it_says_so(settings: Settings) -> None:
    settings.COURSES_DIR = settings.BASE_DIR / "tests" / "lessons" / "data"
    with pytest.raises(CommandError, match="rmsnorm"):
        demo()


def test_every_text_field_and_rubric_point_of_the_course_has_its_sentences() -> None:
    for activity in factories.activities(work.COURSE):
        for item in activity.fields:
            if isinstance(item, TextField):
                known = script().points[f"{activity.id}.{item.id}"]
                assert set(known) == set(item.rubric)
                assert all(set(words) == {"en", "fr", "tr"} for words in known.values())
