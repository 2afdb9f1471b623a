"""Whatever is sent, the site answers: no address fails, nothing typed becomes markup."""

from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from accounts.models import Person
from lessons.content.library import library
from runner.models import Run
from tests.security.conftest import Clients, Made
from tests.security.roles import ROWS, Role, Row, filled
from tests.security.test_pages import inline

SCRIPT = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
ODD = [
    "\x00", "x" * 5000, "-1", "9" * 400, "1e999", "NaN", "٣", "İıſ", "\u202e", "\ud7ff",
    "%00", "{{ 7 * 7 }}", "../../../etc/passwd", "' OR 1=1 --", SCRIPT,
]  # fmt: skip
FIELDS = [
    "q", "a", "b", "run", "version", "symbol", "after", "next", "course", "lesson", "step",
    "device", "language", "email", "password", "new_password", "name", "word", "confirm",
    "do", "base", "key", "move", "mean-n", "mean-n.reading", "mean-n.of", "output",
    # of the classroom
    "activity", "action", "adjustment", "code", "comment", "file", "format", "grader", "key",
    "mine", "page", "part", "passage", "point", "points", "queue", "reason", "ref", "release",
    "reply", "revision", "role", "seen", "sort", "down", "stay", "take", "target", "text", "token",
    "ungradable", "wall", "what", "who", "worst", "zone", "is_anonymous", "is_open", "calc",
    "passage-field", "passage-start", "passage-end", "passage-quote", "passage-text",
]  # fmt: skip
LAST = {  # what takes away what the others need
    ("accounts:sign-out", "POST"), ("accounts:erase", "POST"), ("classroom:remove", "POST"),
    ("classroom:archive", "POST"), ("classroom:leave", "POST"), ("classroom:withdraw", "POST"),
}  # fmt: skip


@pytest.mark.parametrize("odd", ODD, ids=[repr(odd[:20]) for odd in ODD])
def test_odd_values_break_nothing(odd: str, client_as: Clients, made: Made) -> None:
    clients = {role: client_as(role) for role in (Role.OWNER, Role.TEACHER)}
    for row in ROWS:
        if (row.name, row.method) in LAST:
            continue
        client = clients[row.insider]
        address = reverse(row.name, args=filled(row.args, made))
        data = dict.fromkeys(FIELDS, odd)
        send = client.get if row.method == "GET" else client.post
        assert send(address, data).status_code < 500, (row, odd)


@pytest.mark.django_db
def test_a_nul_is_taken_out_of_what_is_typed(client: Client) -> None:
    sent = {"email": "a\x00da@example.org", "password": "a long\x00 sentence 42"}
    assert client.post("/en/account/sign-up/", sent).status_code == 302
    assert Person.objects.get().email == "ada@example.org"
    assert client.get("/en/search/", {"q": "me\x00an"}).context["query"] == "mean"
    assert client.get("/en/classroom/join/AB%00CD/").status_code == 404


@pytest.mark.parametrize("odd", ODD, ids=[repr(odd[:20]) for odd in ODD])
def test_odd_cookies_break_nothing(odd: str, run: Run) -> None:
    for name in (settings.SESSION_COOKIE_NAME, settings.LANGUAGE_COOKIE_NAME, "left", "messages"):
        client = Client()
        client.cookies[name] = odd.replace("\x00", "").encode().decode("latin-1")
        for address in ("/", "/en/", "/en/rmsnorm/forward/", "/en/account/sign-in/"):
            assert client.get(address).status_code < 500, (name, odd)


@pytest.mark.parametrize(
    "path",
    [
        "../manage.py", "kernels/../manage.py", "..%2f..%2fetc/passwd", "/etc/passwd",
        "//etc/passwd", "platform/chainrule/settings.py", ".env", "kernels/%00.py",
        "kernels/.", "kernels", "kernels/__pycache__/events.cpython-311.pyc",
    ],
)  # fmt: skip
def test_only_sources_of_the_lessons_can_be_read(path: str, client_as: Clients) -> None:
    answer = client_as(Role.VISITOR).get(f"/en/source/{path}")
    assert answer.status_code in {302, 404}
    assert b"SECRET_KEY" not in answer.content


@pytest.mark.parametrize("name", ["../secret", "..%2fsecret", "/etc/passwd", "loss.svg/../x"])
def test_only_files_of_the_run_can_be_read(name: str, client_as: Clients, run: Run) -> None:
    answer = client_as(Role.OWNER).get(f"/en/runs/{run.pk}/files/{name}")
    assert answer.status_code in {302, 404}


def steps_that_ask() -> list[Any]:
    found = []
    for shelf in library().shelves.values():
        for lesson in shelf.course.lessons:
            if not shelf.broken.get(lesson.id):
                found += [
                    pytest.param((shelf.course.id, lesson.id, step.id), step.activity)
                    for step in lesson.steps
                    if step.activity
                ]
    return found


@pytest.mark.parametrize(("step", "activity"), steps_that_ask())
def test_what_is_answered_is_text_on_the_page(
    step: tuple[str, str, str], activity: Any, client_as: Clients
) -> None:
    client = client_as(Role.GUEST)
    answer = {field.id: SCRIPT for field in activity.fields}
    for do in ("draft", "submit"):
        shown = client.post(reverse("lessons:answer", args=step), {**answer, "do": do})
        if shown.status_code == 422:
            assert inline(shown.content.decode()) == []
    page = client.get(reverse("lessons:step", args=step)).content.decode()
    assert inline(page) == [] and "<img src=x" not in page


@pytest.mark.parametrize("row", [row for row in ROWS if row.method == "GET"], ids=str)
def test_what_stands_in_an_address_is_text_on_the_page(
    row: Row, client_as: Clients, made: Made
) -> None:
    address = reverse(row.name, args=filled(row.args, made))
    page = client_as(row.insider).get(address, dict.fromkeys(FIELDS, SCRIPT))
    if not page.streaming and page["Content-Type"].startswith("text/html"):
        assert inline(page.content.decode()) == []
