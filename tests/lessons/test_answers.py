"""Drafts and submissions: nothing lost, nothing doubled, nothing overwritten unseen."""

import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from lessons import answers
from lessons.answers import Conflict, Refused, Saved, history, save_draft, submit
from lessons.checking import Typed
from lessons.content import structure as s
from lessons.models import Answer, Revision

ACTIVITY = s.Activity(
    "a",
    (s.NumberField("n", 257.0, reveals="sum"), s.TextField("why", min=3, max=100, rubric=("r",))),
)
KEY = uuid.UUID(int=1)
ANOTHER = uuid.UUID(int=2)


def typed(n: str = "257", why: str = "because") -> dict[str, Typed]:
    return {"n": Typed(n), "why": Typed(why)}


@pytest.fixture
def person(db: None) -> Any:
    return get_user_model().objects.create_guest("en")


def draft(person: Any, base: int, **fields: str) -> Saved:
    return save_draft(person, "c", ACTIVITY, typed(**fields), base, "en")


def send(person: Any, base: int, key: uuid.UUID = KEY, **fields: str) -> Saved:
    return submit(person, "c", ACTIVITY, typed(**fields), base, key, "en")


def test_a_draft_is_one_row_updated_in_place(person: Any) -> None:
    first = draft(person, 0, n="2")
    second = draft(person, first.version, n="25")
    third = draft(person, second.version, n="257")
    assert [saved.stored.number for saved in (first, second, third)] == [1, 1, 1]
    assert Revision.objects.get().content["n"] == {"raw": "257"}


def test_a_draft_becomes_the_submission(person: Any) -> None:
    saved = draft(person, 0)
    sent = send(person, saved.version)
    assert (sent.stored.number, sent.stored.state) == (1, "submitted")
    assert sent.stored.hash == saved.stored.hash
    assert history(person, "c", "a").draft is None


def test_what_is_stored_is_what_was_sent_with_its_hash(person: Any) -> None:
    sent = send(person, 0, n=" ٢٥٧ ", why="çünkü ısı")
    stored = history(person, "c", "a").last
    assert stored is not None
    assert stored.content["why"]["raw"] == "çünkü ısı"
    assert stored.content["n"] == {"raw": " ٢٥٧ ", "value": "257/1"}
    raw = {name: {"raw": item["raw"]} for name, item in stored.content.items()}
    assert stored.hash == sent.stored.hash == answers.content_hash(raw)
    assert stored.verdicts == {"n": {"verdict": "right"}, "why": {"verdict": "waiting"}}


def test_a_double_click_submits_once(person: Any) -> None:
    first = send(person, 0)
    again = send(person, 0)
    assert first == again
    assert Revision.objects.count() == 1


def test_a_second_submission_is_a_second_revision(person: Any) -> None:
    first = send(person, 0, n="1")
    second = send(person, first.version, ANOTHER, n="257")
    assert second.stored.number == 2
    kept = history(person, "c", "a").submitted
    assert [old.content["n"]["raw"] for old in kept] == ["1", "257"]
    assert [old.verdicts["n"]["verdict"] for old in kept] == ["wrong", "right"]


def test_sending_the_same_again_makes_no_revision(person: Any) -> None:
    first = send(person, 0)
    assert send(person, first.version, ANOTHER) == first


def test_the_same_is_checked_again_when_the_key_has_changed(person: Any) -> None:
    first = send(person, 0)
    mended = s.Activity("a", (s.NumberField("n", 258.0), *ACTIVITY.fields[1:]))
    second = submit(person, "c", mended, typed(), first.version, ANOTHER, "en")
    assert (second.stored.number, second.stored.verdicts["n"]["verdict"]) == (2, "wrong")


def test_one_key_never_stores_two_things(person: Any) -> None:
    first = send(person, 0, n="1")
    with pytest.raises(Conflict):
        send(person, first.version, KEY, n="2")
    assert Revision.objects.count() == 1


def test_a_draft_from_another_tab_is_a_conflict_that_shows_it(person: Any) -> None:
    draft(person, 0, n="1", why="the other tab")
    with pytest.raises(Conflict) as conflict:
        draft(person, 0, n="2", why="this tab")
    assert conflict.value.stored.content["why"]["raw"] == "the other tab"
    assert conflict.value.version == 1
    assert Revision.objects.get().content["why"]["raw"] == "the other tab"


def test_having_seen_the_conflict_one_may_write(person: Any) -> None:
    draft(person, 0, n="1")
    with pytest.raises(Conflict) as conflict:
        draft(person, 0, n="2")
    assert draft(person, conflict.value.version, n="2").stored.content["n"]["raw"] == "2"


def test_an_old_page_cannot_submit_over_a_newer_draft(person: Any) -> None:
    """The older text must not win after a reconnect."""
    old = draft(person, 0, why="old text")
    draft(person, old.version, why="newer text")
    with pytest.raises(Conflict):
        send(person, old.version, why="old text")
    assert history(person, "c", "a").last is None


def test_an_old_page_cannot_submit_over_a_submission(person: Any) -> None:
    send(person, 0, n="1")
    with pytest.raises(Conflict) as conflict:
        send(person, 0, ANOTHER, n="2")
    assert conflict.value.stored.content["n"]["raw"] == "1"


def test_retrying_a_draft_that_arrived_is_harmless(person: Any) -> None:
    first = draft(person, 0, n="1")
    assert draft(person, 0, n="1") == first


def test_typing_and_taking_back_leaves_no_draft(person: Any) -> None:
    first = send(person, 0)
    changed = draft(person, first.version, n="9")
    back = send(person, changed.version, ANOTHER)
    assert back.stored.number == 1
    assert history(person, "c", "a").draft is None


def test_a_refused_submission_stores_nothing_and_names_each_field(person: Any) -> None:
    with pytest.raises(Refused) as refused:
        send(person, 0, n="257,123", why="x")
    problems = {name: problem.code for name, problem in refused.value.problems.items()}
    assert problems == {"n": "unclear", "why": "too-short"}
    assert not Answer.objects.exists()


def test_a_draft_may_be_anything_but_endless(person: Any) -> None:
    draft(person, 0, n="not yet a number", why="")
    with pytest.raises(Refused):
        draft(person, 1, why="x" * (answers.LONGEST_FIELD + 1))


def test_an_answer_is_not_a_place_to_store_things(
    person: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MOST_REVISIONS", 2)
    for number in range(2):
        send(person, number, uuid.uuid4(), n=str(number))
    with pytest.raises(answers.Full):
        send(person, 2, uuid.uuid4(), n="3")


def test_answers_of_different_people_never_meet(person: Any) -> None:
    other = get_user_model().objects.create_guest("en")
    send(person, 0, why="mine alone")
    assert history(other, "c", "a") == answers.NOTHING
    assert send(other, 0).stored.number == 1


def race(count: int, write: Callable[[int], Saved]) -> list[Saved | BaseException]:
    """The same moment in several threads, each with its own connection."""
    barrier = threading.Barrier(count)
    results: list[Saved | BaseException] = []

    def go(index: int) -> None:
        try:
            barrier.wait()
            results.append(write(index))
        except BaseException as error:
            results.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=go, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_clicks_at_the_same_moment_submit_once(racing: None) -> None:
    person = get_user_model().objects.create_guest("en")
    results = race(8, lambda index: send(person, 0))
    assert all(result == results[0] for result in results)
    assert isinstance(results[0], Saved)
    assert Revision.objects.count() == 1


def test_tabs_at_the_same_moment_store_one_and_show_it_to_the_others(racing: None) -> None:
    person = get_user_model().objects.create_guest("en")
    results = race(6, lambda index: send(person, 0, uuid.uuid4(), n=str(index)))
    saved = [result for result in results if isinstance(result, Saved)]
    conflicts = [result for result in results if isinstance(result, Conflict)]
    assert (len(saved), len(conflicts)) == (1, 5)
    assert {conflict.stored.hash for conflict in conflicts} == {saved[0].stored.hash}
    assert Revision.objects.count() == 1


def test_drafts_at_the_same_moment_never_overwrite_each_other(racing: None) -> None:
    person = get_user_model().objects.create_guest("en")
    results = race(6, lambda index: draft(person, 0, n=str(index)))
    saved = [result for result in results if isinstance(result, Saved)]
    assert len(saved) == 1
    assert Revision.objects.get().content_hash == saved[0].stored.hash
    assert Answer.objects.get().version == 1
