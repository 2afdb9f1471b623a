"""What the classroom holds of a person: exported, erased into numbers, adopted from a guest."""

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from accounts import holdings
from accounts.models import Person
from classroom import api, audit, grading, invitations
from classroom.feedback import ask_for_a_look
from classroom.grading import Judgement
from classroom.models import (
    Adjustment,
    AuditEntry,
    Cohort,
    Extension,
    Grade,
    Invitation,
    Membership,
    PastWork,
    Recheck,
    RecheckItem,
    Role,
)
from lessons.models import Revision, Visit
from tests.classroom import factories as f
from tests.classroom.factories import Room

pytestmark = pytest.mark.django_db

ACTIVITY = "contract-upstream"
NOW = timezone.now()


@pytest.fixture
def room() -> Room:
    return f.a_room(learners=2)


def extend(room: Room, person: Person, days: int = 1, lesson: str = "forward") -> None:
    Extension.objects.create(
        cohort=room.cohort, person=person, lesson=lesson, wall="2026-12-01T23:59", zone="UTC",
        at=NOW + timedelta(days=days), reason="was ill",
    )  # fmt: skip


def adjust(room: Room, person: Person, points: int, days: int = 0) -> None:
    Adjustment.objects.create(
        cohort=room.cohort, person=person, lesson="forward", points=points, reason="spoke up",
        made_by=room.instructor, made_at=NOW + timedelta(days=days),
    )  # fmt: skip


def graded(room: Room, person: Person, comment: str) -> Grade:
    revision = f.submit(person, ACTIVITY)
    given = Judgement(comment=comment, adjustment=Decimal(1))
    return grading.write(room.cohort, room.instructor, revision.pk, given, 0).grade


def exported(person: Person) -> str:
    return json.dumps(api.export_person(person), cls=DjangoJSONEncoder)


def test_a_learner_s_export_holds_everything_about_them(room: Room) -> None:
    extend(room, room.learner)
    adjust(room, room.learner, 2)
    given = graded(room, room.learner, "To the first learner")
    graded(room, room.learners[1], "To the second learner")
    ask_for_a_look(room.learner, given, "My unit was right.")
    grading.reply(room.cohort, room.instructor, given, "So it was.")
    text = exported(room.learner)
    ref = room.ref(room.learner)
    for held in (ref, "was ill", "spoke up", "To the first learner", "My unit", "So it was."):
        assert held in text
    assert "To the second learner" not in text and room.instructor.email not in text
    (mine,) = api.export_person(room.learner)["memberships"]
    assert {entry["action"] for entry in mine["audit"]} >= {"graded", "second-look-asked"}


def test_a_grade_that_is_held_back_is_counted_and_not_told(room: Room) -> None:
    graded(room, room.learner, "Not yet for you")
    Grade.objects.update(published_at=None)
    assert "Not yet for you" not in exported(room.learner)
    assert api.export_person(room.learner)["grades_held_back"] == 1


def test_a_teacher_s_export_counts_what_is_about_others(room: Room) -> None:
    graded(room, room.learner, "About somebody else")
    held = api.export_person(room.instructor)
    assert [row["grades"] for row in held["graded"]] == [1]
    assert {"cohort": room.cohort.pk, "action": "graded", "times": 1} in held["done"]
    assert "About somebody else" not in exported(room.instructor)


def test_a_whole_export_is_json(room: Room) -> None:
    graded(room, room.learner, "Good")
    held = holdings.export(room.learner)
    assert held["classroom"]["grades"][0]["comment"] == "Good"


def test_erasing_leaves_numbers_without_the_person(room: Room) -> None:
    lesson, step = f.place_of(ACTIVITY)
    f.visit(room.learner, lesson.id, step.id)
    Visit.objects.update(first_at=NOW - timedelta(minutes=10))
    f.submit(room.learner, ACTIVITY, wrong=True, at=NOW - timedelta(minutes=5))
    f.submit(room.learner, ACTIVITY, at=NOW)
    graded_at = Revision.objects.latest("submitted_at")
    grading.write(room.cohort, room.instructor, graded_at.pk, Judgement(comment="Good"), 0)
    extend(room, room.learner)
    adjust(room, room.learner, 2)
    invitations.invite(room.cohort, room.instructor, Role.ASSISTANT, room.learner.email or "")
    gone = (room.learner.name, room.learner.email)
    holdings.erase(room.learner)
    rows = PastWork.objects.filter(cohort=room.cohort)
    past = rows.get(activity=ACTIVITY)
    assert (past.lesson, past.was_answered, past.was_right_first) == (lesson.id, True, False)
    assert (past.tries, past.seconds) == (2, 300)
    assert rows.filter(activity="", lesson=lesson.id).count() == 1
    assert not any(m.objects.exists() for m in (Grade, Extension, Adjustment, Invitation, Revision))
    kept = str(list(AuditEntry.objects.values()))
    assert "graded" in kept and not any(word and word in kept for word in gone)


def test_erasing_a_grader_keeps_the_grades(room: Room) -> None:
    f.join(room, f.a_person(), Role.INSTRUCTOR)
    given = graded(room, room.learner, "Good")
    holdings.erase(room.instructor)
    given.refresh_from_db()
    assert (given.grader, given.comment) == (None, "Good")
    assert Cohort.objects.get().archived_at is None


def test_a_cohort_whose_last_instructor_is_erased_is_archived(room: Room) -> None:
    holdings.erase(room.instructor)
    cohort = Cohort.objects.get()
    assert cohort.archived_at is not None
    assert AuditEntry.objects.filter(cohort=cohort, action="archived").exists()
    assert Membership.objects.filter(cohort=cohort).count() == 3


# A guest who signs in ---------------------------------------------------------------------------


@pytest.fixture
def guest(room: Room) -> Person:
    made = f.a_guest()
    f.join(room, made)
    return made


def test_a_guest_s_place_becomes_the_account_s(room: Room, guest: Person) -> None:
    ref = room.ref(guest)
    given = graded(room, guest, "Good")
    extend(room, guest)
    adjust(room, guest, 2)
    person = f.a_person()
    holdings.merge(guest, person)
    assert room.ref(person) == ref
    assert Grade.objects.get(pk=given.pk).revision.answer.person == person
    assert Extension.objects.get().person == person
    assert Adjustment.objects.get().person == person


@pytest.mark.parametrize("role", [Role.LEARNER, Role.ASSISTANT, Role.INSTRUCTOR])
def test_of_two_places_in_a_cohort_the_stronger_stays(
    room: Room, guest: Person, role: Role
) -> None:
    person = f.a_person()
    own = f.join(room, person, role)
    gone = room.ref(guest)
    given = graded(room, guest, "Good")
    holdings.merge(guest, person)
    mine = Membership.objects.get(cohort=room.cohort, person=person)
    assert (mine.pk, mine.role) == (own.pk, role)
    entry = AuditEntry.objects.get(action="merged")
    assert (entry.subject, entry.data) == (own.ref, {"gone": gone})
    assert Grade.objects.get(pk=given.pk).revision.answer.person == person


@pytest.mark.parametrize(("theirs", "mine"), [(5, 1), (1, 5)])
def test_of_two_extensions_the_later_stays(
    room: Room, guest: Person, theirs: int, mine: int
) -> None:
    person = f.a_person()
    f.join(room, person)
    extend(room, guest, theirs)
    extend(room, person, mine)
    holdings.merge(guest, person)
    assert Extension.objects.get().at == NOW + timedelta(days=5)


@pytest.mark.parametrize(("theirs", "mine"), [(5, 1), (1, 5)])
def test_of_two_adjustments_the_newer_stays(
    room: Room, guest: Person, theirs: int, mine: int
) -> None:
    person = f.a_person()
    f.join(room, person)
    adjust(room, guest, theirs, theirs)
    adjust(room, person, mine, mine)
    holdings.merge(guest, person)
    assert Adjustment.objects.get().points == 5


def test_what_was_rechecked_of_a_guest_is_the_account_s(room: Room, guest: Person) -> None:
    check = Recheck.objects.create(
        cohort=room.cohort, lesson="contract", activity=ACTIVITY, kind="answers"
    )
    RecheckItem.objects.create(
        recheck=check, subject=f.submit(guest, ACTIVITY).pk, person=guest, before={}
    )
    person = f.a_person()
    holdings.merge(guest, person)
    assert RecheckItem.objects.get().person == person


def test_an_account_that_joins_no_cohort_holds_nothing(db: None) -> None:
    held: dict[str, Any] = api.export_person(f.a_person())
    assert not any(held.values())


def test_the_audit_tells_a_learner_who_was_viewed_as_and_not_by_whom(room: Room) -> None:
    ref = room.ref(room.learner)
    audit.record(room.cohort, room.instructor, "viewed-as", f"{ref}/forward/two-sizes")
    audit.record(room.cohort, room.instructor, "viewed-as", f"{room.ref(room.learners[1])}/a/b")
    (mine,) = api.export_person(room.learner)["memberships"]
    assert [entry["action"] for entry in mine["audit"]] == ["viewed-as"]
    assert set(mine["audit"][0]) == {"action", "subject", "at"}
