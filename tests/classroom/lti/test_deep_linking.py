"""An instructor picks a lesson; the platform gets a signed link with a column for its marks."""

from html.parser import HTMLParser
from typing import Any

import jwt
import pytest
from lti_tool.models import Key

from classroom.models import Cohort, Membership, Role
from tests.classroom.lti.conftest import Browser, as_role, as_somebody
from tests.classroom.lti.platform import CLIENT, CORE, DEEP, DEPLOYMENT, Simulated
from tests.classroom.lti.test_linking import NEW, linked

pytestmark = pytest.mark.django_db
ITEMS = "https://purl.imsglobal.org/spec/lti-dl/claim/content_items"


def asking(platform: Simulated, **settings: Any) -> dict[str, Any]:
    """What a platform says when somebody wants to pick."""
    return {
        f"{CORE}message_type": "LtiDeepLinkingRequest",
        f"{CORE}resource_link": None,
        DEEP: {
            "deep_link_return_url": f"{platform.url}/return?course=1",
            "accept_types": ["ltiResourceLink"],
            "accept_presentation_document_targets": ["window", "iframe"],
            "data": "opaque <data>",
        } | settings,
    }  # fmt: skip


class Forms(HTMLParser):
    """The forms of a page that lead elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.action = ""
        self.fields: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form" and given.get("action", "").startswith("http"):
            self.action = given["action"]
        if tag == "input" and self.action:
            self.fields[given["name"]] = given["value"]


def sent(answer: Any) -> Forms:
    found = Forms()
    found.feed(answer.content.decode())
    return found


@pytest.fixture
def instructor(platform: Simulated) -> Browser:
    return linked(platform)[0]


def test_a_lesson_is_picked_and_handed_over(platform: Simulated, instructor: Browser) -> None:
    teaches = as_somebody("grace", "Instructor")
    answer = instructor.launch(platform, **teaches, **asking(platform))
    assert answer["Location"] == "/lti/deep-link/"
    page = instructor.get("/lti/deep-link/").content.decode()
    assert 'value="forward"' in page
    answer = instructor.post("/lti/deep-link/", {"lesson": "forward"})
    form = sent(answer)
    assert form.action == f"{platform.url}/return?course=1"
    (key,) = Key.objects.as_jwks()["keys"]
    token = form.fields["JWT"]
    assert jwt.get_unverified_header(token)["kid"] == key["kid"]
    said = jwt.decode(token, jwt.PyJWK(key).key, algorithms=["RS256"], audience=platform.url)
    assert said["iss"] == CLIENT
    assert said[f"{CORE}deployment_id"] == DEPLOYMENT
    assert said[f"{CORE}message_type"] == "LtiDeepLinkingResponse"
    assert said["https://purl.imsglobal.org/spec/lti-dl/claim/data"] == "opaque <data>"
    (item,) = said[ITEMS]
    assert item["type"] == "ltiResourceLink"
    assert item["url"] == "http://testserver/lti/launch/"
    assert item["custom"] == {"course": "rmsnorm", "lesson": "forward"}
    assert item["window"] == {"targetName": "_blank"}
    assert item["lineItem"]["scoreMaximum"] > 0
    assert item["lineItem"]["resourceId"] == "rmsnorm/forward"
    assert item["title"] == item["lineItem"]["label"]


def test_the_page_that_hands_over_may_send_to_the_platform_and_nowhere_else(
    platform: Simulated, instructor: Browser
) -> None:
    instructor.launch(platform, **as_somebody("grace", "Instructor"), **asking(platform))
    picking = instructor.get("/lti/deep-link/")
    assert "form-action 'self';" in picking["Content-Security-Policy"] + ";"
    answer = instructor.post("/lti/deep-link/", {"lesson": "forward"})
    policy = answer["Content-Security-Policy"]
    assert f"form-action 'self' {platform.url}" in policy
    assert "frame-ancestors 'none'" in policy and answer["X-Frame-Options"] == "DENY"
    assert "<script>" not in answer.content.decode()


def test_it_is_handed_over_once(platform: Simulated, instructor: Browser) -> None:
    instructor.launch(platform, **as_somebody("grace", "Instructor"), **asking(platform))
    assert instructor.post("/lti/deep-link/", {"lesson": "forward"}).status_code == 200
    assert instructor.post("/lti/deep-link/", {"lesson": "forward"}).status_code == 400


@pytest.mark.parametrize("lesson", ["", "no-such", "../x"])
def test_what_is_no_lesson_is_not_handed_over(
    platform: Simulated, instructor: Browser, lesson: str
) -> None:
    instructor.launch(platform, **as_somebody("grace", "Instructor"), **asking(platform))
    answer = instructor.post("/lti/deep-link/", {"lesson": lesson})
    assert answer.status_code == 422
    assert "Choose one of the lessons" in answer.content.decode()


@pytest.mark.parametrize(
    "address", ["https://evil.example/return", "javascript:alert(1)", "", None, 5]
)
def test_nothing_is_handed_over_to_a_foreign_host(
    platform: Simulated, instructor: Browser, address: Any
) -> None:
    asked = asking(platform, deep_link_return_url=address)
    answer = instructor.posted(platform, **as_somebody("grace", "Instructor"), **asked)
    assert answer.status_code == 400
    assert instructor.get("/lti/deep-link/").status_code == 400


def test_a_learner_picks_nothing(platform: Simulated, instructor: Browser) -> None:
    learner = Browser()
    learner.launch(platform, **asking(platform))
    assert learner.get("/lti/deep-link/").status_code == 400


def test_who_no_longer_teaches_picks_nothing(platform: Simulated, instructor: Browser) -> None:
    instructor.launch(platform, **as_somebody("grace", "Instructor"), **asking(platform))
    Membership.objects.update(role=Role.LEARNER)
    assert instructor.post("/lti/deep-link/", {"lesson": "forward"}).status_code == 400


def test_the_course_is_linked_on_the_way(platform: Simulated) -> None:
    browser = Browser()
    answer = browser.launch(platform, **as_role("Instructor"), **asking(platform))
    assert answer["Location"] == "/lti/link/"
    answer = browser.post("/lti/link/", NEW)
    assert answer["Location"] == "/lti/deep-link/"
    assert browser.get("/lti/deep-link/").status_code == 200
    assert Cohort.objects.count() == 1
