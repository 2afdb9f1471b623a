"""Every kind of page: its headers, and nothing in it that the policy would have to forgive."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse

from accounts import throttle
from chainrule import views
from runner.models import Run
from tests.security.conftest import SVG, Clients, Made
from tests.security.roles import ROWS, Role, filled

FILES = ("runner:artifact", "classroom:export")
PAGES = [
    row
    for row in ROWS
    if row.method == "GET" and row.status(row.insider) == 200 and row.name not in FILES
]
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "font-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}


class Inline(HTMLParser):
    """Collects what a page would run or style by itself, and where it points outside."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "style" or (tag == "script" and not given.get("src") and not _is_data(given)):
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            if name.startswith("on") or name == "style":
                self.found.append(f"{tag} {name}")
            if name in {"href", "src", "action", "formaction"} and _outside(value or ""):
                self.found.append(f"{tag} {name}={value}")


def _is_data(attributes: dict[str, str | None]) -> bool:
    return attributes.get("type") == "application/json"


def _outside(address: str) -> bool:
    return bool(re.match(r"\s*(//|[a-z][a-z0-9+.-]*:)", address, re.IGNORECASE))


def inline(html: str) -> list[str]:
    reader = Inline()
    reader.feed(html)
    return reader.found


def policy(response: Any) -> dict[str, str]:
    parts = (part.strip().partition(" ") for part in response["Content-Security-Policy"].split(";"))
    return {name: value for name, _space, value in parts}


@pytest.fixture(params=PAGES, ids=str)
def page(request: pytest.FixtureRequest, client_as: Clients, made: Made) -> Any:
    """The answer to each GET that shows something, for somebody who may see it."""
    row = request.param
    address = reverse(row.name, args=filled(row.args, made))
    return client_as(row.insider).get(address, filled(row.data, made))


def test_a_page_runs_only_our_scripts_and_stands_in_nobody_s_frame(page: Any) -> None:
    assert policy(page) == POLICY
    assert page["X-Frame-Options"] == "DENY"


def test_a_page_guards_against_sniffing_and_tells_other_sites_nothing(page: Any) -> None:
    assert page["X-Content-Type-Options"] == "nosniff"
    assert page["Referrer-Policy"] == "same-origin"
    assert page["Cross-Origin-Opener-Policy"] == "same-origin"


def test_a_page_is_kept_by_no_shared_cache(page: Any) -> None:
    assert "private" in page["Cache-Control"]
    assert "Cookie" in page["Vary"]


def test_a_page_holds_no_inline_script_no_inline_style_and_nothing_from_outside(page: Any) -> None:
    if page["Content-Type"].startswith("text/html"):
        assert inline(page.content.decode()) == []


def test_what_a_run_says_is_text_on_its_page(client_as: Clients, run: Run) -> None:
    page = client_as(Role.OWNER).get(f"/en/runs/{run.pk}/").content.decode()
    assert "<script>alert" not in page


def test_what_a_person_calls_themselves_is_text(client_as: Clients, run: Run) -> None:
    client = client_as(Role.OWNER)
    client.post("/en/account/", {"name": "<img src=x onerror=alert(1)>", "language": "en"})
    page = client.get("/en/account/").content.decode()
    assert "&lt;img src=x" in page and "<img src=x" not in page


def test_a_picture_that_a_run_made_can_do_nothing(client_as: Clients, run: Run) -> None:
    answer = client_as(Role.OWNER).get(f"/en/runs/{run.pk}/files/loss.svg")
    assert b"".join(answer.streaming_content) == SVG  # type: ignore[attr-defined]
    given = policy(answer)
    assert given["default-src"] == "'none'" and "sandbox" in given and "script-src" not in given
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "private" in answer["Cache-Control"]


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/en/nothing/here/at/all/x/", "/en/runs/x/", "/nowhere"])
def test_an_error_page_has_the_same_headers(client: Client, address: str) -> None:
    answer = client.get(address, follow=True)
    assert answer.status_code == 404
    assert policy(answer) == POLICY
    assert inline(answer.content.decode()) == []


@pytest.mark.django_db
def test_refusals_have_the_same_headers(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    once = throttle.Limit("sign-in", ((throttle.HOUR, 1),), "Later.")
    monkeypatch.setattr(throttle, "SIGN_INS", once)
    strict = Client(enforce_csrf_checks=True)
    address = "/en/account/sign-in/"
    client.post(address)
    for answer, status in (
        (client.post(address), 429),
        (strict.post(address), 403),
        (client.put(address), 405),
        (client.get("/en/", headers={"host": "evil.example"}), 400),
    ):
        assert answer.status_code == status
        assert policy(answer) == POLICY
        assert status == 400 or "private" in answer["Cache-Control"]  # a 400 is never cached
        assert inline(answer.content.decode()) == []


@pytest.mark.django_db
@pytest.mark.parametrize("view", ["bad_request", "forbidden", "not_found", "server_error"])
def test_error_pages_hold_nothing_inline(view: str) -> None:
    request: HttpRequest = RequestFactory().get("/en/")
    show = getattr(views, view)
    answer: HttpResponse = show(request) if view == "server_error" else show(request, Exception())
    assert answer.status_code in {400, 403, 404, 500}
    assert inline(answer.content.decode()) == []


# Sources ---------------------------------------------------------------------------------------
TEMPLATES = sorted((settings.BASE_DIR / "templates").rglob("*.html"))
OWN_SCRIPTS = sorted((settings.BASE_DIR / "static" / "js").rglob("*.js"))
NOT_ESCAPED = re.compile(r"\|\s*safe\b|autoescape off|\bsafeseq\b")
DANGEROUS_SCRIPT = re.compile(
    r"\beval\(|new Function\(|document\.write|\.outerHTML\s*=|insertAdjacentHTML"
)


def named(file: Path) -> str:
    return str(file.relative_to(settings.BASE_DIR))


@pytest.mark.parametrize("template", TEMPLATES, ids=named)
def test_a_template_holds_no_inline_script_or_style(template: Path) -> None:
    assert inline(re.sub(r"\{[%#{].*?[%#}]\}", "x", template.read_text())) == []


@pytest.mark.parametrize("template", TEMPLATES, ids=named)
def test_a_template_escapes_everything(template: Path) -> None:
    """Prose, formulas and figures come from git and say so in Python, where it can be read."""
    assert NOT_ESCAPED.findall(template.read_text()) == []


@pytest.mark.parametrize("script", OWN_SCRIPTS, ids=named)
def test_a_script_makes_no_code_and_no_markup_from_text(script: Path) -> None:
    assert DANGEROUS_SCRIPT.findall(script.read_text()) == []
