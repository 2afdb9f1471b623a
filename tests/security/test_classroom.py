"""The classroom as a whole: no name leaks where grading goes without names, whatever learners and
graders write is text, and what a stranger may write is bounded."""

import dataclasses
import json
import re
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.apps import apps
from django.db.models import CharField, Max, TextField
from django.db.models.functions import Length
from django.test import Client
from django.urls import reverse

from accounts import throttle
from accounts.models import Person
from classroom import audit, filling
from classroom.models import (
    Adjustment,
    Cohort,
    Extension,
    Grade,
    GradePoint,
    Membership,
    PassageComment,
    RubricPoint,
    SecondLook,
)
from classroom.rechecks import targets, working
from classroom.rechecks.asking import start
from classroom.views import joining
from runner.models import Run
from tests.classroom.factories import submit
from tests.security.conftest import Clients, Made
from tests.security.roles import ASKED, ROWS, Role, Row, filled
from tests.security.test_hostile_input import LAST, SCRIPT
from tests.security.test_pages import inline

NAMED = {  # where instructors may see who is who; each visit is in the audit
    "members", "change-role", "remove", "extensions", "view-as", "gradebook", "gradebook-lesson",
    "export", "import", "import-apply", "import-undo", "adjust",
    "platform",
}  # fmt: skip
TAUGHT = [
    row
    for row in ROWS
    if "COHORT" in row.args and row.method == "GET" and row.insider is Role.TEACHER
]
BLIND = [row for row in TAUGHT if row.name.removeprefix("classroom:") not in NAMED]
HOSTILE_COMMENT = (
    f"{SCRIPT}\n\n[a](javascript:alert(1)) ![b](https://evil.example/x.png) <style>*{{}}</style>"
)
NAME = "Zélie Quatrepoint"


@pytest.fixture
def hostile(owner: Person, cohort: Cohort, run: Run, grade: Grade) -> None:
    """The owner and their graders write nothing but markup."""
    Person.objects.filter(pk=owner.pk).update(name=SCRIPT[:80])
    Cohort.objects.filter(pk=cohort.pk).update(name=SCRIPT[:120])
    point = RubricPoint.objects.create(
        cohort=cohort, activity="forward-verdict", key="own-x", text=SCRIPT, points=1
    )
    text = SCRIPT + filling.TEXT
    revision = submit(owner, "forward-verdict", text=text, run=run)
    given = Grade.objects.create(
        cohort=cohort, revision=revision, comment=HOSTILE_COMMENT,
        published_at=revision.submitted_at,
    )  # fmt: skip
    GradePoint.objects.create(grade=given, point=point)
    PassageComment.objects.create(
        grade=given, field="why", start=0, end=8, quote=text[:8], text=HOSTILE_COMMENT
    )
    SecondLook.objects.create(grade=given, reason=SCRIPT)
    at = revision.submitted_at
    Extension.objects.create(
        cohort=cohort, person=owner, lesson="forward", wall="2026-12-01T23:59", zone="UTC", at=at,
        reason=SCRIPT,
    )  # fmt: skip
    Adjustment.objects.create(
        cohort=cohort, person=owner, lesson="forward", points=1, reason=SCRIPT
    )
    audit.record(cohort, owner, SCRIPT[:40], SCRIPT, **{SCRIPT: SCRIPT})
    checked = targets.find(cohort, "answers", "forward", "forward-verdict")
    assert checked is not None
    start(cohort, owner, checked)
    while working.work():
        pass


def shown(client: Client, row: Row, made: Made, asked: str = ASKED) -> Any:
    """The answer to the row's address, about that question."""
    words = tuple(asked if word == ASKED else word for word in row.args)
    return client.get(reverse(row.name, args=filled(words, made)), filled(row.data, made))


def body(answer: Any) -> str:
    """All that goes out, its headers too."""
    parts = answer.streaming_content if answer.streaming else [answer.content]
    if hasattr(parts, "__aiter__"):
        parts = async_to_sync(collected)(parts)
    return b"".join(parts).decode("utf-8", "replace") + str(dict(answer.headers))


async def collected(parts: Any) -> list[bytes]:
    return [part async for part in parts]


def harmful(page: str) -> list[str]:
    """What a page would run, load or style by itself. A link that a grader wrote may lead away,
    and tells nobody from where."""
    away = re.findall(r'<a [^>]*href="https?:[^>]*>', page)
    assert all('rel="' in link and "noopener" in link and "nofollow" in link for link in away)
    pictures = ["<img>"] if "<img" in page else []
    return [item for item in inline(page) if not item.startswith("a href=http")] + pictures


@pytest.mark.parametrize("row", TAUGHT, ids=str)
def test_what_learners_and_graders_write_is_text_on_every_page(
    row: Row, client_as: Clients, made: Made, hostile: None
) -> None:
    answer = shown(client_as(Role.TEACHER), row, made, "forward-verdict")
    if answer.status_code == 200 and answer.headers["Content-Type"].startswith("text/html"):
        assert harmful(answer.content.decode()) == []


def test_what_a_grader_writes_is_text_for_the_learner(
    client_as: Clients, made: Made, hostile: None
) -> None:
    client = client_as(Role.OWNER)
    step = reverse("lessons:step", args=["rmsnorm", "forward", "verdict"])
    for address in (step, reverse("classroom:new"), reverse("classroom:home")):
        page = client.get(address).content.decode()
        assert "&lt;script&gt;" in page, address
        assert harmful(page) == [], address


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.TEACHER])
def test_no_learner_s_name_is_on_a_page_that_grades_without_names(
    role: Role, owner: Person, client_as: Clients, made: Made
) -> None:
    Person.objects.filter(pk=owner.pk).update(name=NAME)
    audit.record(Cohort.objects.get(pk=made["COHORT"]), owner, "joined", made["REF"])
    client = client_as(role)
    pages = 0
    for row in BLIND:
        answer = shown(client, row, made)
        if answer.status_code == 200:
            pages += 1
            said = body(answer)
            for secret in (NAME, str(owner.email), str(owner.pk)):
                assert secret not in said, (row, secret)
    assert pages > 5


def test_an_assistant_finds_no_page_with_names(client_as: Clients, made: Made) -> None:
    client = client_as(Role.ASSISTANT)
    for row in TAUGHT:
        if row not in BLIND:
            assert shown(client, row, made).status_code == 404, row


def test_a_run_that_a_grader_opens_does_not_say_whose_it_is(
    owner: Person, client_as: Clients, made: Made
) -> None:
    Person.objects.filter(pk=owner.pk).update(name=NAME)
    client = client_as(Role.ASSISTANT)
    for row in ROWS:
        if row.name.startswith("runner:") and row.method == "GET":
            answer = shown(client, row, made)
            if answer.status_code == 200:
                said = body(answer)
                for secret in (NAME, str(owner.email), str(owner.pk)):
                    assert secret not in said, (row, secret)


def test_who_was_removed_sees_nothing_more_of_the_cohort(client_as: Clients, made: Made) -> None:
    client = client_as(Role.TEACHER)
    Membership.objects.filter(person__email="teacher@example.org").delete()
    for row in TAUGHT:
        assert shown(client, row, made).status_code == 404, row
    assert client.get(reverse("runner:run", args=[made["RUN"]])).status_code == 404


def test_codes_cannot_be_tried_for_ever(
    client_as: Clients, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = dataclasses.replace(joining.CODES, windows=((throttle.HOUR, 5),))
    monkeypatch.setattr(joining, "CODES", few)
    client = client_as(Role.ACCOUNT)
    address = reverse("classroom:join-by-code")
    statuses = [client.post(address, {"code": f"NOSUCH{n:02}"}).status_code for n in range(7)]
    assert statuses == [422] * 5 + [429] * 2
    assert client.post(address, {"code": made["CODE"]}).status_code == 429
    assert Membership.objects.filter(person__email="account@example.org").count() == 0


TYPED = ("comment", "reply", "reason", "text", "passage", "name")
POSTS = [row for row in ROWS if row.name.startswith("classroom:") and row.method == "POST"]


def test_nothing_is_stored_that_is_longer_than_it_may_be(client_as: Clients, made: Made) -> None:
    """Also where the database itself would take it: a text column, or any column of SQLite."""
    clients = {role: client_as(role) for role in (Role.OWNER, Role.TEACHER)}
    passage = json.dumps([{"field": "why", "start": 0, "end": 3, "quote": "x", "text": "x" * 9000}])
    for row in POSTS:
        if (row.name, row.method) in LAST:
            continue
        data = filled(row.data, made) | dict.fromkeys(TYPED, "x" * 30_000) | {"passages": passage}
        answer = clients[row.insider].post(reverse(row.name, args=filled(row.args, made)), data)
        assert answer.status_code < 500, row
    for model in apps.get_app_config("classroom").get_models():
        for column in model._meta.concrete_fields:
            if column.max_length and isinstance(column, CharField | TextField):
                longest = model._base_manager.aggregate(n=Max(Length(column.name)))["n"] or 0
                assert longest <= column.max_length, (model, column.name)
