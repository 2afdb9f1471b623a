"""An instructor picks a lesson; the platform gets a signed link with a column for its marks."""

from html.parser import HTMLParser
from typing import Any

import jwt
import pytest
from lti_tool.models import Key

from classroom.models import Cohort, ContextLink
from tests.classroom.lti.conftest import Browser, as_role, as_somebody
from tests.classroom.lti.platform import CLIENT, CORE, DEEP, DEPLOYMENT, Simulated
from tests.classroom.lti.test_linking import NEW, linked
from tests.security.test_pages import inline

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
    """Where the page's form leads, and what it holds."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.action = ""
        self.fields: dict[str, str] = {}
        self.feed(answer.content.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.action = given.get("action", "")
        if tag == "input" and given.get("type") == "hidden":
            self.fields[given["name"]] = given["value"]


class Picking:
    """An instructor who is picking, in a frame or a window."""

    def __init__(self, platform: Simulated, **headers: str) -> None:
        self.browser = Browser(headers=headers)
        asked = self.browser.announced(
            platform, target_link_uri="https://testserver/lti/deep-link/"
        )
        claims = as_somebody("grace", "Instructor") | asking(platform)
        token = platform.sign(platform.claims(asked["nonce"], **claims))
        sent = {"state": asked["state"], "id_token": token}
        self.offered = self.browser.post("/lti/launch/", sent)

    def pick(self, lesson: str = "forward", **changed: str) -> Any:
        # No cookie goes along, as in a frame; nor does a token of the page.
        bare = Browser(enforce_csrf_checks=True)
        form = Forms(self.offered)
        assert form.action == "/lti/deep-link/"
        return bare.post(form.action, form.fields | {"lesson": lesson} | changed)


@pytest.fixture
def picking(platform: Simulated) -> Picking:
    linked(platform)
    return Picking(platform)


def test_a_lesson_is_picked_and_handed_over(platform: Simulated, picking: Picking) -> None:
    assert 'value="forward"' in picking.offered.content.decode()
    form = Forms(picking.pick())
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


def test_picking_works_in_a_frame_of_the_platform_s_and_of_nobody_else_s(
    platform: Simulated,
) -> None:
    linked(platform)
    picking = Picking(platform, sec_fetch_dest="iframe")
    for answer in (picking.offered, picking.pick()):
        assert answer.status_code == 200
        assert "X-Frame-Options" not in answer
        policy = answer["Content-Security-Policy"]
        assert f"frame-ancestors {platform.url}" in policy.split("; ")
        assert "script-src 'self'" in policy
        assert inline(answer.content.decode().replace(f"{platform.url}/return", "/x")) == []


def test_the_page_that_hands_over_may_send_to_the_platform_and_nowhere_else(
    platform: Simulated, picking: Picking
) -> None:
    assert "form-action 'self'" in picking.offered["Content-Security-Policy"].split("; ")
    policy = picking.pick()["Content-Security-Policy"].split("; ")
    assert f"form-action 'self' {platform.url}" in policy


def test_picking_signs_nobody_in(platform: Simulated, picking: Picking) -> None:
    assert picking.browser.person is None
    assert "lti-ticket" not in picking.browser.cookies


def test_it_is_handed_over_once(picking: Picking) -> None:
    assert picking.pick().status_code == 200
    assert picking.pick().status_code == 400


@pytest.mark.parametrize("token", ["", "guessed", "x" * 10_000])
def test_without_the_page_s_own_secret_nothing_is_handed_over(picking: Picking, token: str) -> None:
    assert picking.pick(token=token).status_code == 400


@pytest.mark.parametrize("lesson", ["", "no-such", "../x"])
def test_what_is_no_lesson_is_not_handed_over_and_can_be_mended(
    picking: Picking, lesson: str
) -> None:
    answer = picking.pick(lesson)
    assert answer.status_code == 422
    assert "Choose one of the lessons" in answer.content.decode()
    assert picking.pick().status_code == 200


@pytest.mark.parametrize(
    "address", ["https://evil.example/return", "javascript:alert(1)", "", None, 5]
)
def test_nothing_is_handed_over_to_a_foreign_host(
    platform: Simulated, browser: Browser, address: Any
) -> None:
    linked(platform)
    asked = asking(platform, deep_link_return_url=address)
    answer = browser.posted(platform, **as_somebody("grace", "Instructor"), **asked)
    assert answer.status_code == 400
    assert "token" not in Forms(answer).fields


@pytest.mark.parametrize("data", ["x" * 30_000, "a\0b"], ids=["long", "nul"])
def test_what_cannot_be_kept_until_the_answer_is_refused(
    platform: Simulated, browser: Browser, data: str
) -> None:
    linked(platform)
    asked = asking(platform, data=data)
    answer = browser.posted(platform, **as_somebody("grace", "Instructor"), **asked)
    assert answer.status_code == 400


@pytest.mark.parametrize("role", ["Learner", "Mentor"])
def test_who_does_not_teach_the_course_picks_nothing(
    platform: Simulated, browser: Browser, role: str
) -> None:
    linked(platform)
    answer = browser.posted(platform, **as_somebody("ada", role), **asking(platform))
    assert answer.status_code == 403
    assert "Only who teaches the course" in answer.content.decode()


def test_a_course_that_is_unlinked_meanwhile_gets_nothing(picking: Picking) -> None:
    ContextLink.objects.all().delete()
    assert picking.pick().status_code == 400


def test_the_course_is_linked_first_where_there_is_a_window_for_it(
    platform: Simulated, browser: Browser
) -> None:
    answer = browser.launch(platform, **as_role("Instructor"), **asking(platform))
    assert answer["Location"] == "/lti/link/"
    assert browser.post("/lti/link/", NEW).status_code == 302
    assert Cohort.objects.count() == 1


def test_in_a_frame_it_is_said_that_the_course_has_to_be_linked_first(
    platform: Simulated,
) -> None:
    offered = Picking(platform, sec_fetch_dest="iframe").offered
    assert offered.status_code == 403
    assert "not linked with a cohort yet" in offered.content.decode()
    assert "X-Frame-Options" not in offered


def test_the_platform_s_language_is_spoken(platform: Simulated, browser: Browser) -> None:
    linked(platform)
    locale = {f"{CORE}launch_presentation": {"locale": "tr_TR"}}
    teaches = as_somebody("grace", "Instructor")
    answer = browser.posted(platform, **teaches, **asking(platform), **locale)
    assert '<html lang="tr"' in answer.content.decode()
