"""From a learning platform and back, in a real browser: another site, its frames, its gradebook."""

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import jwt
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import refused
from tests.classroom.lti import platform as simulated
from tests.classroom.lti.platform import CLIENT, CORE, DEEP, DEPLOYMENT, MEMBERSHIP, Simulated
from tests.stack import ROOT, Stack

ASKED = "what-and-why"  # a lesson with a question that the machine checks


def person(sub: str, role: str) -> dict[str, Any]:
    return {
        "sub": sub, "name": sub.title(), f"{CORE}roles": [f"{MEMBERSHIP}{role}"],
        f"{CORE}custom": {"lesson": ASKED},
    }  # fmt: skip


def run(stack: Stack, *words: str) -> None:
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=stack.env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def school(stack: Stack) -> Iterator[Simulated]:
    """Registered as an operator registers it."""

    def tool_keys() -> dict[str, Any]:
        with urllib.request.urlopen(f"{stack.url}/lti/keys/", timeout=10) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    with simulated.running("localhost") as platform:
        platform.tool, platform.tool_keys = stack.url, tool_keys
        grace = person("grace", "Instructor")
        platform.people = {
            "ada": person("ada", "Learner"),
            "grace": grace,
            "grace-picks": grace | {
                f"{CORE}message_type": "LtiDeepLinkingRequest",
                f"{CORE}resource_link": None,
                DEEP: {
                    "deep_link_return_url": f"{platform.url}/return",
                    "accept_types": ["ltiResourceLink"],
                    "accept_presentation_document_targets": ["window"],
                },
            },
        }  # fmt: skip
        run(
            stack, "manage.py", "lti_platform", "add", "--name=School",
            f"--issuer={platform.url}", f"--client-id={CLIENT}", f"--deployment={DEPLOYMENT}",
            f"--auth-url={platform.url}/auth", f"--token-url={platform.url}/token",
            f"--keyset-url={platform.url}/keys",
        )  # fmt: skip
        yield platform


@pytest.fixture
def teacher(browser: Browser, stack: Stack) -> Iterator[Page]:
    """A browser that stays signed in on the platform as grace."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if refused(message) else None)
    yield page
    context.close()
    assert faults == []


def clean(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    assert found == [], [(item["id"], item["nodes"][0]["html"]) for item in found]


def test_a_course_is_linked_a_learner_comes_and_their_marks_arrive(
    browser: Browser, stack: Stack, school: Simulated, teacher: Page, page: Page
) -> None:
    teacher.goto(f"{school.url}/course?who=grace")
    teacher.get_by_text("Open it").click()
    expect(teacher.get_by_role("heading", level=1)).to_have_text("Which cohort is Kernels I?")
    clean(teacher)
    teacher.get_by_label("Course").select_option("rmsnorm")
    teacher.get_by_role("button", name="Make the cohort and link it").click()
    expect(teacher.get_by_role("heading", level=1)).to_have_text("Learning platform")
    clean(teacher)

    page.goto(f"{school.url}/framed?who=ada")
    link = page.frame_locator("iframe").get_by_role("link", name="Open in a new window")
    with page.context.expect_page() as opened:
        link.click()
    lesson = opened.value
    lesson.wait_for_url(f"**/en/rmsnorm/{ASKED}/*/")
    assert lesson.url.startswith(stack.url)
    expect(lesson.locator(".menu summary").last).to_contain_text("Ada")

    run(stack, "-m", "tests.browser.platformed", "ada")
    until = time.monotonic() + 60
    while not school.scores and time.monotonic() < until:
        time.sleep(0.2)
    assert school.scores[0].told["userId"] == "ada"
    assert school.scores[0].told["scoreGiven"] > 0


def test_a_lesson_is_picked_and_the_platform_keeps_the_link(
    school: Simulated, teacher: Page
) -> None:
    teacher.goto(f"{school.url}/course?who=grace-picks&target=/lti/deep-link/")
    teacher.get_by_text("Open it").click()
    if "/lti/link/" in teacher.url:  # this test runs by itself
        teacher.get_by_role("button", name="Make the cohort and link it").click()
        teacher.goto(f"{school.url}/course?who=grace-picks&target=/lti/deep-link/")
        teacher.get_by_text("Open it").click()
    expect(teacher.get_by_role("heading", level=1)).to_have_text("Pick a lesson")
    clean(teacher)
    teacher.get_by_role("radio").first.check()
    teacher.get_by_role("button", name="Use this lesson").click()
    expect(teacher.get_by_role("heading", level=1)).to_have_text("The link is kept")
    said = jwt.decode(school.returned[0], options={"verify_signature": False})
    (item,) = said["https://purl.imsglobal.org/spec/lti-dl/claim/content_items"]
    assert item["custom"]["course"] == "rmsnorm"
