"""Rosters: read when an instructor asks, adding and removing nobody, saying who differs."""

import json
from typing import Any

import pytest
from lti_tool.models import LtiContext, LtiMembership, LtiUser

from accounts.models import Person
from classroom.lti import roster
from classroom.models import AuditEntry, Cohort, ContextLink, Membership, Role
from tests.classroom import factories
from tests.classroom.lti.conftest import Browser, as_somebody
from tests.classroom.lti.platform import MEMBERSHIP, Simulated, member
from tests.classroom.lti.test_linking import linked

pytestmark = pytest.mark.django_db


class Course:
    """A linked course whose instructor is grace; ada has come."""

    def __init__(self, platform: Simulated) -> None:
        self.platform = platform
        self.instructor, self.cohort = linked(platform)
        self.ada = Browser()
        self.ada.launch(platform)
        platform.roster = [member("grace", "Instructor"), member("ada")]

    @property
    def link(self) -> ContextLink:
        return ContextLink.objects.get()

    @property
    def page(self) -> str:
        return self.instructor.get(self.address()).content.decode()

    def address(self, act: str = "") -> str:
        inner = f"{self.link.pk}/{act}/" if act else ""
        return f"/en/classroom/{self.cohort.pk}/platform/{inner}"

    def read(self, client: Any = None) -> Any:
        return (client or self.instructor).post(self.address("roster"), follow=True)


@pytest.fixture
def course(platform: Simulated) -> Course:
    return Course(platform)


def test_the_button_stands_on_the_members_page(course: Course) -> None:
    page = course.instructor.get(f"/en/classroom/{course.cohort.pk}/members/").content.decode()
    assert "Read the roster of Kernels I" in page
    answer = course.read()
    assert "names 2 people" in answer.content.decode()
    assert AuditEntry.objects.filter(action="roster-read").get().data == {"people": 2}


def test_who_has_not_come_yet_is_named_and_not_added(course: Course) -> None:
    course.platform.roster += [member("eve"), member("bob", name="Bob <b>Ross</b>")]
    before = Person.objects.count(), Membership.objects.count()
    course.read()
    assert (Person.objects.count(), Membership.objects.count()) == before
    assert "2 people have not come yet" in course.page
    assert "Bob &lt;b&gt;Ross&lt;/b&gt;" in course.page


def test_who_is_not_in_the_roster_any_more_is_shown_and_stays(course: Course) -> None:
    course.read()
    assert "not in the roster any more" not in course.page
    course.platform.roster.pop()
    course.read()
    ref = Membership.objects.get(person=course.ada.person).ref
    assert "not in the roster any more" in course.page
    assert f"/members/{ref}/remove/" in course.page
    course.platform.roster.append(member("ada"))
    course.read()
    assert "not in the roster any more" not in course.page


@pytest.mark.parametrize("status", ["Inactive", "Deleted"])
def test_who_is_inactive_there_counts_as_gone(course: Course, status: str) -> None:
    course.platform.roster[1]["status"] = status
    course.read()
    (gone,) = roster.compared(course.link).gone
    assert str(gone.person_id) == course.ada.person


def test_who_joined_by_code_is_nobody_the_roster_could_miss(course: Course) -> None:
    Membership.objects.create(cohort=course.cohort, person=factories.a_person())
    course.read()
    assert not roster.compared(course.link).gone


def test_another_role_than_in_the_roster_is_shown(course: Course) -> None:
    course.platform.roster[1] = member("ada", "Instructor")
    course.read()
    (differing,) = roster.compared(course.link).differing
    assert differing.role == Role.INSTRUCTOR
    assert "learner here, instructor there" in course.page
    assert Membership.objects.get(person=course.ada.person).role == Role.LEARNER


def test_a_roster_of_several_pages_is_read_to_its_end(course: Course) -> None:
    course.platform.page_size = 2
    course.platform.roster += [member(f"person-{number}") for number in range(5)]
    course.read()
    assert course.platform.asked.count("GET /roster") == 4
    assert LtiMembership.objects.filter(is_active=True).count() == 7


def test_only_names_and_roles_are_kept(course: Course) -> None:
    course.platform.roster.append(member("eve", picture="https://x.example/eve.png"))
    course.read()
    eve = LtiUser.objects.get(sub="eve")
    assert (eve.name, eve.email, eve.picture_url) == ("Eve", "", "")


def test_a_roster_without_names_forgets_none(course: Course) -> None:
    course.platform.roster = [{"user_id": "ada", "roles": ["Learner"]}]
    course.read()
    assert LtiUser.objects.get(sub="ada").name == "Ada Lovelace"


def test_a_huge_roster_is_read_as_far_as_is_reasonable(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roster, "MOST_PEOPLE", 10)
    course.platform.roster = [member(f"person-{number}") for number in range(40)]
    course.platform.page_size = 8
    course.read()
    assert course.platform.asked.count("GET /roster") == 2
    assert "longer than what is read at once" in course.page
    assert not roster.compared(course.link).gone  # ada may be on a page that was not read


def test_a_roster_that_goes_on_for_ever_is_left(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roster, "MOST_PAGES", 3)
    course.platform.endless_roster = True
    course.read()
    assert course.platform.asked.count("GET /roster") == 3
    assert course.link.roster_is_partial


def test_five_thousand_people_are_kept_in_a_few_statements(course: Course) -> None:
    entries = [
        roster.Entry(f"p{number}", f"P {number}", Role.LEARNER, True) for number in range(5000)
    ]
    roster._store(course.link, entries, is_partial=False)
    assert LtiMembership.objects.filter(is_active=True).count() == 5000


@pytest.mark.parametrize(
    "odd",
    [
        "nobody",
        {},
        {"user_id": 5},
        {"user_id": "x" * 300},
        {"user_id": "x", "roles": "Learner"},
        {"user_id": "x", "name": ["Ada"]},
        {"user_id": "a\0b", "roles": []},
    ],
    ids=str,
)
def test_an_entry_that_cannot_be_read_takes_no_other_along(course: Course, odd: Any) -> None:
    course.platform.roster.append(odd)
    course.platform.roster.append(member("eve"))
    course.read()
    assert set(LtiUser.objects.values_list("sub", flat=True)) == {"ada", "grace", "eve"}


def broken(course: Course) -> None:
    course.platform.token_status = 500


def detour(course: Course) -> None:
    course.platform.detour = "https://evil.example/"


def huge(course: Course) -> None:
    course.platform.huge = True


def foreign(course: Course) -> None:
    LtiContext.objects.update(memberships_url="https://evil.example/roster")


def foreign_page(course: Course) -> None:
    answer = course.platform.answer

    def elsewhere(*args: Any) -> Any:
        status, told, headers = answer(*args)
        if "members" in told:
            headers = {"Link": '<https://evil.example/roster?page=2>; rel="next"'}
        return status, told, headers

    course.platform.answer = elsewhere  # type: ignore[method-assign]


def circle(course: Course) -> None:
    answer = course.platform.answer

    def again(*args: Any) -> Any:
        status, told, headers = answer(*args)
        if "members" in told:
            headers = {"Link": f'<{course.platform.url}/roster>; rel="next"'}
        return status, told, headers

    course.platform.answer = again  # type: ignore[method-assign]


def nonsense(course: Course) -> None:
    course.platform._roster = lambda *args: (200, json.loads("[1]"), {})  # type: ignore[method-assign]


@pytest.mark.parametrize("trouble", [broken, detour, huge, foreign, foreign_page, circle, nonsense])
def test_what_goes_wrong_is_said_and_changes_nothing(course: Course, trouble: Any) -> None:
    trouble(course)
    try:
        answer = course.read()
    finally:
        for name in ("answer", "_roster"):
            vars(course.platform).pop(name, None)
    assert "did not give the roster" in answer.content.decode()
    assert course.link.roster_at is None
    assert not LtiMembership.objects.filter(is_active=False).exists()


def test_a_course_without_a_roster_says_so(course: Course) -> None:
    LtiContext.objects.update(memberships_url="")
    assert "offers no roster" in course.read().content.decode()


def test_only_an_instructor_reads_it(course: Course) -> None:
    assistant = Browser()
    role = f"{MEMBERSHIP.removesuffix('#')}/Instructor#TeachingAssistant"
    assistant.launch(
        course.platform,
        **as_somebody("tim") | {"https://purl.imsglobal.org/spec/lti/claim/roles": [role]},
    )
    assert Membership.objects.get(person=assistant.person).role == Role.ASSISTANT
    assert course.read(assistant).status_code == 404
    assert course.read(course.ada).status_code == 404
    assert Cohort.objects.get().is_anonymous
