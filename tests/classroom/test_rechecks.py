"""After a key is mended every stored answer is checked again: shown first, then written."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from classroom.models import AuditEntry, Grade, Recheck, RecheckItem, RecheckState, Role
from classroom.rechecks import answers as recheck_answers
from classroom.rechecks import asking, learners, targets, working
from classroom.rechecks.asking import NotNow
from classroom.rechecks.reading import Choices, changed, rows, summary
from lessons.models import Revision
from tests.classroom import factories
from tests.classroom.conftest import Mending
from tests.classroom.factories import Room

FIRST = "small/01-first/lesson.yaml"
OLD, NEW = "answer: 0.501953125, abs: 0.0005", "answer: 1, abs: 0.0005"
pytestmark = pytest.mark.django_db


@pytest.fixture
def room(small: Mending) -> Room:
    """Ada says 0.501953125, Bo says 1, Cy said 1 and then 0.501953125."""
    room = factories.a_room(learners=3, course="small")
    ada, bo, cy = room.learners
    send(ada)
    send(bo, "1")
    send(cy, "1")
    send(cy)
    return room


def send(person: Any, mean: str = "0.501953125") -> Revision:
    return factories.submit(person, "all-kinds", typed={"mean": mean}, course="small")


def start(room: Room, kind: str = "answers", lesson: str = "first", name: str = "all-kinds") -> Any:
    target = targets.find(room.cohort, kind, lesson, name)
    assert target is not None
    return asking.start(room.cohort, room.instructor, target)


def worked(job: Recheck) -> Recheck:
    while working.work():
        pass
    job.refresh_from_db()
    return job


def applied(job: Recheck, room: Room) -> Recheck:
    asking.apply(job, room.instructor)
    return worked(job)


def verdict(person: Any) -> dict[str, str]:
    last = Revision.objects.filter(answer__person=person).last()
    assert last is not None
    return last.verdicts["mean"]


def test_what_would_change_is_shown_before_anything_does(room: Room, small: Mending) -> None:
    small.change(FIRST, OLD, NEW)
    job = worked(start(room))
    assert job.state == RecheckState.READY
    found = summary(job)
    assert (found.total, found.done, found.changed, found.people) == (4, 4, 4, 3)
    assert (found.gained, found.lost) == (2, 2)
    assert found.points == -1  # Cy's first try was replaced by the second one
    assert verdict(room.learners[0]) == {"verdict": "right"}
    shown = rows(job, list(changed(job)))
    assert sorted({row.ref for row in shown}) == sorted(room.ref(p) for p in room.learners)
    ada = next(row for row in shown if row.ref == room.ref(room.learner))
    assert (ada.points, ada.counts, len(ada.moves)) == (-1, True, 1)
    assert str(ada.moves[0].before).startswith("✓") and ada.moves[0].is_better is False


def test_applied_it_writes_new_verdicts_and_keeps_the_old_ones(room: Room, small: Mending) -> None:
    small.change(FIRST, OLD, NEW)
    job = worked(start(room))
    applied(job, room)
    assert job.state == RecheckState.DONE and job.applied_at is not None
    ada, bo, _cy = room.learners
    assert (verdict(ada)["verdict"], verdict(bo)["verdict"]) == ("wrong", "right")
    revision = Revision.objects.get(answer__person=ada)
    item = RecheckItem.objects.get(subject=revision.pk)
    assert item.before["verdicts"]["mean"] == {"verdict": "right"}
    target = targets.of(job)
    assert target is not None
    assert set(Revision.objects.values_list("checked_as", flat=True)) == {target.key}
    entry = AuditEntry.objects.get(action="rechecked")
    assert (entry.actor, entry.data["changed"], entry.data["lost"]) == (room.instructor, 4, 2)


def test_a_grade_stays_what_it_was(room: Room, small: Mending) -> None:
    revision = Revision.objects.filter(answer__person=room.learner).get()
    grade = factories.grade(room, revision, comment="Good.", adjustment=2)
    small.change(FIRST, OLD, NEW)
    job = worked(start(room))
    applied(job, room)
    assert Grade.objects.filter(pk=grade.pk, version=1, adjustment=2, comment="Good.").exists()


def test_the_learner_is_told_once_their_verdict_has_changed(room: Room, small: Mending) -> None:
    def told(person: Any) -> list[str]:
        return [note.kind for note in learners.notes(person, "small", "first", "ask", "all-kinds")]

    small.change(FIRST, OLD, NEW)
    job = worked(start(room))
    assert told(room.learner) == []
    applied(job, room)
    assert told(room.learner) == ["answers"]
    send(room.learner, "1")  # what they hand in now was checked with the new key
    assert told(room.learner) == []


def test_other_cohorts_and_their_teachers_answers_are_left_alone(
    room: Room, small: Mending
) -> None:
    other = factories.a_room(learners=1, course="small")
    send(other.learner)
    send(room.instructor)
    small.change(FIRST, OLD, NEW)
    job = worked(start(room))
    applied(job, room)
    assert job.total == 4
    assert verdict(other.learner)["verdict"] == verdict(room.instructor)["verdict"] == "right"


def test_who_learns_in_two_cohorts_is_checked_once(room: Room, small: Mending) -> None:
    other = factories.a_room(learners=0, course="small")
    factories.join(other, room.learner)
    small.change(FIRST, OLD, NEW)
    jobs = [worked(start(room)), worked(start(other))]
    for job, taught in zip(jobs, (room, other), strict=True):
        asking.apply(job, taught.instructor)
        worked(job)
    first, second = RecheckItem.objects.filter(person=room.learner).order_by("id")
    assert (first.is_changed, second.is_changed) == (True, False)
    assert second.before["verdicts"]["mean"] == {"verdict": "wrong"}


def test_a_key_edited_again_begins_the_preview_anew(room: Room, small: Mending) -> None:
    small.change(FIRST, OLD, NEW)
    job = start(room)
    working.work()
    small.change(FIRST, NEW, "answer: 2, abs: 0.0005")
    job = worked(job)
    assert job.state == RecheckState.READY
    assert summary(job).gained == 0 and summary(job).lost == 2


def test_a_key_edited_after_the_preview_is_not_applied(room: Room, small: Mending) -> None:
    small.change(FIRST, OLD, NEW)
    job = worked(start(room))
    small.change(FIRST, NEW, "answer: 2, abs: 0.0005")
    with pytest.raises(NotNow):
        asking.apply(job, room.instructor)
    asking.again(job, room.instructor)
    job = worked(job)
    assert job.state == RecheckState.READY and summary(job).lost == 2
    assert applied(job, room).state == RecheckState.DONE


def test_a_key_edited_while_it_is_applied_stops_it_half_way(
    room: Room, small: Mending, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recheck_answers, "SLICE", 1)
    small.change(FIRST, OLD, NEW)
    job = worked(start(room))
    asking.apply(job, room.instructor)
    working.work()
    small.change(FIRST, NEW, "answer: 2, abs: 0.0005")
    job = worked(job)
    assert (job.state, job.obstacle) == (RecheckState.STOPPED, working.KEY_CHANGED)
    asking.drop(job, room.instructor)
    assert worked(start(room)).state == RecheckState.READY


def test_what_is_handed_in_with_the_old_key_meanwhile_is_checked_too(
    room: Room, small: Mending
) -> None:
    small.change(FIRST, OLD, NEW)
    job = worked(start(room))
    late = factories.a_person()
    factories.join(room, late)
    small.change(FIRST, NEW, OLD)
    send(late)
    small.change(FIRST, OLD, NEW)
    assert applied(job, room).total == 5
    assert verdict(late)["verdict"] == "wrong"


def test_it_stops_and_goes_on_where_it_was(
    room: Room, small: Mending, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recheck_answers, "SLICE", 1)
    small.change(FIRST, OLD, NEW)
    job = start(room)
    working.work()
    asking.stop(job, room.instructor)
    assert not working.work() and job.items.count() == 1
    asking.go_on(job, room.instructor)
    job = worked(job)
    asking.apply(job, room.instructor)
    working.work()
    asking.stop(job, room.instructor)
    worked(job)
    assert job.items.exclude(applied_at=None).count() == 1
    asking.go_on(job, room.instructor)
    assert worked(job).state == RecheckState.DONE
    actions = AuditEntry.objects.order_by("id").values_list("action", flat=True)
    assert list(actions) == ["rechecked", "recheck-stopped", "recheck-resumed"]


def test_a_lease_of_a_killed_process_runs_out(room: Room) -> None:
    job = start(room)
    Recheck.objects.update(lease_until=timezone.now() + timedelta(seconds=9))
    assert not working.work()
    Recheck.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert worked(job).state == RecheckState.READY


def test_what_is_asked_for_twice_is_done_once(room: Room) -> None:
    assert start(room) == start(room)
    job = worked(start(room))
    asking.apply(job, room.instructor)
    with pytest.raises(NotNow):
        asking.apply(job, room.instructor)


def test_a_number_is_read_again_where_its_unit_was_mended(room: Room, small: Mending) -> None:
    careful = factories.a_person()
    factories.join(room, careful)
    factories.submit(careful, "all-kinds", typed={"size": "131584 B"}, course="small")
    small.change(FIRST, "answer: 131584, unit: bytes", "answer: 131.584, unit: kB, abs: 0.001")
    job = worked(start(room))
    assert not job.items.get(person=careful).is_changed
    applied(job, room)
    size = Revision.objects.get(answer__person=careful).content["size"]
    assert size == {"raw": "131584 B", "value": "16448/125"}


def test_an_option_that_is_gone_is_ours_and_not_wrong(room: Room, small: Mending) -> None:
    small.change(FIRST, "options: [n, block], answer: n", "options: [row, block], answer: row")
    job = worked(start(room))
    applied(job, room)
    last = Revision.objects.filter(answer__person=room.learner).get()
    assert last.verdicts["where"] == {"verdict": "ungraded"}
    assert last.verdicts["why"] == {"verdict": "waiting"}
    assert last.content["where"]["raw"] == "n"


def test_a_question_that_is_gone_stops_it(room: Room, small: Mending) -> None:
    job = start(room)
    small.change(FIRST, "id: all-kinds", "id: every-kind")
    job = worked(job)
    assert (job.state, job.obstacle) == (RecheckState.STOPPED, working.GONE)


def test_a_fault_of_ours_stops_it_and_no_other(
    room: Room, small: Mending, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def breaks(*_: Any) -> Any:
        raise RuntimeError("a bug")

    job = start(room)
    with monkeypatch.context() as broken:
        broken.setattr(recheck_answers, "recheck", breaks)
        worked(job)
    assert (job.state, job.obstacle) == (RecheckState.STOPPED, working.BROKE_OFF)
    assert "broke off" in caplog.text
    asking.go_on(job, room.instructor)
    assert worked(job).state == RecheckState.READY


def test_somebody_erased_meanwhile_is_left_out(room: Room, small: Mending) -> None:
    small.change(FIRST, OLD, NEW)
    job = worked(start(room))
    room.learners[0].delete()
    Revision.objects.filter(answer__person=room.learners[1]).delete()
    assert applied(job, room).state == RecheckState.DONE
    assert verdict(room.learners[2])["verdict"] == "wrong"


def test_the_page_knows_which_keys_have_changed_since_they_were_used(
    room: Room, small: Mending, django_assert_num_queries: Any
) -> None:
    assert Choices(room.cohort).stale == []
    small.change(FIRST, OLD, NEW)
    with django_assert_num_queries(2):
        stale = Choices(room.cohort).stale
    assert [(choice.value, choice.many, choice.stale) for choice in stale] == [
        ("answers/first/all-kinds", 4, 4)
    ]
    room.cohort.memberships.filter(person=room.learners[2]).update(role=Role.ASSISTANT)
    assert Choices(room.cohort).stale[0].many == 2
