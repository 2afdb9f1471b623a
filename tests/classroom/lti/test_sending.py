"""A platform that is away, slow, or says no: its marks wait, grow old, or are shown as refused."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from lti_tool.models import LtiLineItem

from accounts.models import Person
from classroom.lti import counting, passback
from classroom.models import (
    AuditEntry,
    Score,
    SendState,
)
from tests.classroom.factories import submit
from tests.classroom.lti.conftest import Browser, as_somebody
from tests.classroom.lti.desk import ASKED, Desk, work
from tests.classroom.lti.platform import Simulated

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(platform: Simulated) -> Desk:
    return Desk(platform)


def test_a_platform_that_is_out_of_order_is_asked_again_later_and_once_for_all(
    desk: Desk,
) -> None:
    for name in ("eve", "bob"):
        other = Browser()
        other.launch(desk.platform, **as_somebody(name), **desk.opening())
        submit(Person.objects.get(pk=other.person), ASKED)
    desk.platform.status = 503
    work()
    assert sum(asked.endswith("/scores") for asked in desk.platform.asked) == 1
    rows = list(Score.objects.all())
    assert {row.state for row in rows} == {SendState.WAITING}
    assert all(row.next_at > timezone.now() + timedelta(seconds=20) for row in rows)
    desk.platform.status = 200
    Score.objects.update(next_at=timezone.now())
    work()
    assert len(desk.told) == 2
    assert {row.state for row in Score.objects.all()} == {SendState.SENT}


def test_the_pauses_grow_and_end(desk: Desk) -> None:
    submit(desk.ada, ASKED)
    desk.platform.token_status = 500
    pauses = []
    for _ in range(passback.MOST_TRIES):
        work()
        row = Score.objects.get()
        pauses.append((row.next_at - timezone.now()).total_seconds())
        Score.objects.update(next_at=timezone.now())
    assert pauses[:4] == pytest.approx([30, 60, 120, 240], abs=10)
    assert max(pauses) <= 6 * 3600
    row = Score.objects.get()
    assert (row.state, row.trouble) == (SendState.FAILED, "token")
    assert not desk.told


@pytest.mark.parametrize(
    ("status", "state"),
    [(400, "failed"), (403, "failed"), (404, "failed"), (422, "failed"), (401, "waiting"),
     (429, "waiting"), (500, "waiting")],
)  # fmt: skip
def test_what_a_platform_refuses_for_good_is_not_tried_again(
    desk: Desk, status: int, state: str
) -> None:
    submit(desk.ada, ASKED)
    desk.platform.status = status
    work()
    row = Score.objects.get()
    assert (row.state, row.trouble) == (state, str(status))


def test_refused_marks_are_sent_again_when_an_instructor_asks(desk: Desk) -> None:
    submit(desk.ada, ASKED)
    desk.platform.status = 404
    work()
    page = desk.instructor.get(f"/en/classroom/{desk.cohort.pk}/gradebook/").content.decode()
    assert "does not know the column any more" in page
    page = desk.instructor.get(f"/en/classroom/{desk.cohort.pk}/platform/").content.decode()
    assert "Send what was refused again" in page
    desk.platform.status = 200
    address = f"/en/classroom/{desk.cohort.pk}/platform/send-again/"
    assert desk.instructor.post(address).status_code == 302
    assert AuditEntry.objects.filter(action="marks-sent-again").exists()
    work()
    assert len(desk.told) == 1
    assert desk.instructor.post(address, follow=True).status_code == 200


def test_marks_that_change_while_they_are_sent_are_sent_once_more(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(desk.ada, ASKED)
    post = passback._post

    def meanwhile(connector: Any, score: Score) -> None:
        post(connector, score)
        if score.version == 1:
            Score.objects.update(version=2, earned=0, next_at=timezone.now())

    monkeypatch.setattr(passback, "_post", meanwhile)
    counting.look()
    passback.send_due()
    assert Score.objects.get().state == SendState.WAITING
    passback.send_due()
    assert [told["scoreGiven"] for told in desk.told][-1] == 0
    assert Score.objects.get().state == SendState.SENT


def test_a_process_that_is_killed_leaves_what_is_due_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(desk.ada, ASKED)

    def killed(connector: Any, score: Score) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(passback, "_post", killed)
        with pytest.raises(KeyboardInterrupt):
            work()
    assert not desk.told
    work()
    assert not desk.told  # somebody may still hold it
    Score.objects.update(next_at=timezone.now())
    work()
    assert len(desk.told) == 1


def test_a_detour_is_not_followed(desk: Desk) -> None:
    submit(desk.ada, ASKED)
    desk.platform.detour = f"{desk.platform.url}/elsewhere"
    work()
    assert "POST /elsewhere" not in desk.platform.asked
    assert "GET /elsewhere" not in desk.platform.asked
    assert Score.objects.get().trouble == "token"


def test_an_answer_beyond_all_measure_is_not_read(desk: Desk) -> None:
    submit(desk.ada, ASKED)
    desk.platform.huge = True
    work()
    assert Score.objects.get().trouble == "token"


def test_a_column_that_is_no_longer_the_platform_s_is_not_asked(desk: Desk) -> None:
    submit(desk.ada, ASKED)
    LtiLineItem.objects.update(url="https://evil.example/columns/1")
    work()
    row = Score.objects.get()
    assert (row.state, row.trouble) == (SendState.FAILED, "address")


def test_a_key_that_the_platform_does_not_know_gives_no_access(desk: Desk) -> None:
    submit(desk.ada, ASKED)
    desk.platform.tool_keys = lambda: {"keys": []}
    work()
    assert Score.objects.get().trouble == "token"
