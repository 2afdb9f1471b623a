"""A platform's course and a cohort: linked once; who comes gets the role they have there."""

from typing import Any

import pytest

from accounts.models import Person
from classroom.lti.claims import role_of
from classroom.models import AuditEntry, Cohort, ContextLink, Membership, Role
from tests.classroom import factories
from tests.classroom.lti.conftest import Browser, as_role, as_somebody
from tests.classroom.lti.platform import CORE, MEMBERSHIP, Simulated

pytestmark = pytest.mark.django_db
SUB = "http://purl.imsglobal.org/vocab/lis/v2/membership/Instructor#"
INSTITUTION = "http://purl.imsglobal.org/vocab/lis/v2/institution/person#"
SYSTEM = "http://purl.imsglobal.org/vocab/lis/v2/system/person#"
NEW = {"do": "make", "name": "Kernels I", "course": "rmsnorm", "zone": "Europe/Paris"}


def linked(platform: Simulated, sub: str = "grace") -> tuple[Browser, Cohort]:
    """The instructor's browser, and the cohort they made of their course."""
    browser = Browser()
    answer = browser.launch(platform, **as_somebody(sub, "Instructor"))
    assert answer["Location"] == "/lti/link/"
    assert browser.post("/lti/link/", NEW).status_code == 302
    return browser, Cohort.objects.latest("created_at")


def role_here(browser: Browser, cohort: Cohort) -> str:
    return Membership.objects.get(cohort=cohort, person=browser.person).role


def test_an_instructor_makes_a_cohort_of_their_course(platform: Simulated) -> None:
    browser = Browser()
    browser.launch(platform, **as_role("Instructor"))
    page = browser.get("/lti/link/").content.decode()
    assert "Which cohort is Kernels I?" in page and 'value="Kernels I"' in page
    assert "data-zone-guess" in page
    answer = browser.post("/lti/link/", NEW)
    cohort = Cohort.objects.get()
    assert answer["Location"] == f"/en/classroom/{cohort.pk}/platform/"
    assert (cohort.name, cohort.course, cohort.zone) == ("Kernels I", "rmsnorm", "Europe/Paris")
    assert role_here(browser, cohort) == Role.INSTRUCTOR
    assert AuditEntry.objects.filter(cohort=cohort, action="lti-linked").exists()
    page = browser.get(answer["Location"]).content.decode()
    assert "Kernels I" in page and "lesson=forward" in page


def test_the_zone_of_a_further_cohort_is_the_one_taken_last(platform: Simulated) -> None:
    browser, _cohort = linked(platform)
    another = {f"{CORE}context": {"id": "course-2", "title": "Kernels II"}}
    browser.launch(platform, **as_somebody("grace", "Instructor"), **another)
    page = browser.get("/lti/link/").content.decode()
    assert 'value="Europe/Paris"' in page.split("<datalist")[0] and "data-zone-guess" not in page


def test_an_instructor_links_a_cohort_that_they_have(platform: Simulated) -> None:
    room = factories.a_room()
    browser = Browser()
    browser.force_login(room.instructor, backend="django.contrib.auth.backends.ModelBackend")
    room.instructor.set_password("a long sentence 42")
    room.instructor.save()
    browser.force_login(room.instructor, backend="django.contrib.auth.backends.ModelBackend")
    browser.launch(platform, **as_role("Instructor"))
    browser.post("/lti/enter/", {"do": "connect", "password": "a long sentence 42"})
    assert str(room.cohort.pk) in browser.get("/lti/link/").content.decode()
    browser.post("/lti/link/", {"do": "join", "cohort": str(room.cohort.pk)})
    assert ContextLink.objects.get().cohort == room.cohort


def test_a_cohort_of_somebody_else_is_not_linked(platform: Simulated) -> None:
    other = factories.a_room()
    browser = Browser()
    browser.launch(platform, **as_role("Instructor"))
    for cohort in (str(other.cohort.pk), "", "x"):
        answer = browser.post("/lti/link/", {"do": "join", "cohort": cohort})
        assert answer.status_code == 409
        assert "Choose one of your cohorts" in answer.content.decode()
    assert not ContextLink.objects.exists()


@pytest.mark.parametrize("role", ["Learner", "Instructor#TeachingAssistant", "Mentor"])
def test_only_an_instructor_of_the_course_links_it(platform: Simulated, role: str) -> None:
    browser = Browser()
    browser.launch(platform, **as_role(role))
    assert browser.get("/lti/link/").status_code == 400
    assert browser.post("/lti/link/", NEW).status_code == 400
    assert not Cohort.objects.exists()


def test_a_course_is_linked_once(platform: Simulated) -> None:
    first, second = Browser(), Browser()
    for browser, sub in ((first, "grace"), (second, "alan")):
        browser.launch(platform, **as_somebody(sub, "Instructor"))
    first.post("/lti/link/", NEW)
    answer = second.post("/lti/link/", NEW)
    assert answer.status_code == 409
    assert Cohort.objects.count() == 1


def test_what_is_typed_wrongly_is_said_and_kept(platform: Simulated) -> None:
    browser = Browser()
    browser.launch(platform, **as_role("Instructor"))
    answer = browser.post("/lti/link/", NEW | {"zone": "Mars/Base", "name": "My name"})
    assert answer.status_code == 422
    assert "no time zone of that name" in answer.content.decode()
    assert 'value="My name"' in answer.content.decode()


def test_learners_are_in_as_soon_as_they_come(platform: Simulated) -> None:
    _instructor, cohort = linked(platform)
    learner = Browser()
    assert learner.launch(platform)["Location"] == "/en/rmsnorm/forward/"
    assert role_here(learner, cohort) == Role.LEARNER


def test_who_came_before_the_course_was_linked_is_in_once_it_is(platform: Simulated) -> None:
    early = Browser()
    early.launch(platform)
    page = early.get("/en/rmsnorm/forward/", follow=True).content.decode()
    assert "not linked with a cohort yet" in page
    _instructor, cohort = linked(platform)
    assert role_here(early, cohort) == Role.LEARNER


@pytest.mark.parametrize(
    ("roles", "role"),
    [
        ([f"{MEMBERSHIP}Learner"], Role.LEARNER),
        (["Learner"], Role.LEARNER),
        ([f"{MEMBERSHIP}Instructor"], Role.INSTRUCTOR),
        (["Instructor"], Role.INSTRUCTOR),
        ([f"{MEMBERSHIP}Instructor", f"{SUB}TeachingAssistant"], Role.ASSISTANT),
        ([f"{SUB}TeachingAssistant"], Role.ASSISTANT),
        ([f"{SUB}TeachingAssistantSection", f"{MEMBERSHIP}Instructor"], Role.ASSISTANT),
        ([f"{SUB}Grader", f"{MEMBERSHIP}Instructor"], Role.ASSISTANT),
        ([f"{MEMBERSHIP}Instructor", f"{SUB}PrimaryInstructor"], Role.INSTRUCTOR),
        ([f"{MEMBERSHIP}Instructor", f"{MEMBERSHIP}Learner"], Role.INSTRUCTOR),
        # Whatever somebody is elsewhere is no role in this course.
        ([f"{INSTITUTION}Instructor"], None),
        ([f"{INSTITUTION}Faculty", f"{MEMBERSHIP}Learner"], Role.LEARNER),
        ([f"{SYSTEM}Administrator"], None),
        ([f"{SYSTEM}SysAdmin", f"{INSTITUTION}Administrator"], None),
        ([f"{MEMBERSHIP}Administrator"], None),
        ([f"{MEMBERSHIP}Mentor"], None),
        (["http://evil.example/vocab/lis/v2/membership#Instructor"], None),
        (["x http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"], None),
        ([f"{MEMBERSHIP}Instructor\n"], None),
        ([5, None, {"role": "Instructor"}], None),
        ([], None),
    ],
)
def test_a_role_is_what_somebody_is_in_the_course(roles: list[Any], role: Role | None) -> None:
    assert role_of(roles) == role


def test_who_has_no_role_in_the_course_is_in_no_cohort(platform: Simulated) -> None:
    _instructor, cohort = linked(platform)
    visitor = Browser()
    visitor.launch(platform, **as_somebody("visitor") | {f"{CORE}roles": [f"{SYSTEM}SysAdmin"]})
    assert not Membership.objects.filter(cohort=cohort, person=visitor.person).exists()


def test_an_instructor_of_one_course_is_nobody_in_another(platform: Simulated) -> None:
    _instructor, cohort = linked(platform)
    other = Browser()
    course = {f"{CORE}context": {"id": "course-2", "title": "Other"}}
    other.launch(platform, **as_somebody("alan", "Instructor") | course)
    assert not Membership.objects.filter(cohort=cohort, person=other.person).exists()
    assert other.get(f"/en/classroom/{cohort.pk}/platform/").status_code == 404


def test_a_role_that_the_platform_raises_is_raised_and_written_down(platform: Simulated) -> None:
    _instructor, cohort = linked(platform)
    browser = Browser()
    browser.launch(platform)
    browser.launch(platform, **as_role("Instructor"))
    assert role_here(browser, cohort) == Role.INSTRUCTOR
    entry = AuditEntry.objects.get(cohort=cohort, action="role-changed")
    assert entry.data == {"before": "learner", "after": "instructor"}


def test_a_role_given_here_by_hand_is_not_taken_by_coming_back(platform: Simulated) -> None:
    _instructor, cohort = linked(platform)
    browser = Browser()
    browser.launch(platform)
    Membership.objects.filter(person=browser.person).update(role=Role.ASSISTANT)
    browser.launch(platform)
    assert role_here(browser, cohort) == Role.ASSISTANT


def test_nobody_is_put_into_a_cohort_that_is_archived(platform: Simulated) -> None:
    instructor, cohort = linked(platform)
    instructor.post(f"/en/classroom/{cohort.pk}/settings/archive/", {"do": "archive"})
    learner = Browser()
    assert learner.launch(platform)["Location"] == "/en/rmsnorm/forward/"
    assert not Membership.objects.filter(cohort=cohort, person=learner.person).exists()


def test_unlinked_a_course_brings_nobody_and_takes_nobody_out(platform: Simulated) -> None:
    instructor, cohort = linked(platform)
    learner = Browser()
    learner.launch(platform)
    number = ContextLink.objects.get().pk
    instructor.post(f"/en/classroom/{cohort.pk}/platform/{number}/unlink/")
    assert not ContextLink.objects.exists()
    assert role_here(learner, cohort) == Role.LEARNER
    late = Browser()
    late.launch(platform, **as_somebody("eve"))
    assert not Membership.objects.filter(cohort=cohort, person=late.person).exists()
    assert AuditEntry.objects.filter(cohort=cohort, action="lti-unlinked").exists()


def test_another_cohort_s_link_is_not_there(platform: Simulated) -> None:
    linked(platform)
    number = ContextLink.objects.get().pk
    room = factories.a_room()
    client = factories.client_of(room.instructor)
    for act in ("unlink", "roster"):
        address = f"/en/classroom/{room.cohort.pk}/platform/{number}/{act}/"
        assert client.post(address).status_code == 404
    assert ContextLink.objects.exists()


def test_who_instructs_by_way_of_the_platform_makes_no_other_cohorts(platform: Simulated) -> None:
    instructor, _cohort = linked(platform)
    assert instructor.get("/en/classroom/new/").status_code == 404
    assert not Person.objects.get(pk=instructor.person).has_perm("classroom.add_cohort")
