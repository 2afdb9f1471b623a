"""Groups of answers that say the same: one decision, and its undoing."""

import pytest
from django.urls import reverse

from classroom import groups, queue
from classroom.grading import Judgement
from classroom.groups import NoGroup
from classroom.models import AuditEntry, Grade, GroupDecision, SecondLook
from classroom.queue import Question
from classroom.rubrics import rubric_of
from tests.classroom import factories
from tests.classroom.factories import Room, a_room, client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def room() -> Room:
    return a_room(learners=4)


@pytest.fixture
def asked(room: Room) -> Question:
    """A question with text, which three of four answered in the same words."""
    found = next(q for q in queue.questions(room.cohort) if q.has_text)
    same = "The mean must be taken over N, because the masked lanes add nothing but zeros to it"
    for learner, ending in zip(room.learners[:3], (".", "!", " "), strict=True):
        factories.submit(learner, found.activity.id, text=same + ending)
    factories.submit(room.learners[3], found.activity.id, text=f"Not so: {same}.")
    return found


def only_group(room: Room, asked: Question) -> groups.Group:
    (found,) = groups.groups(asked, queue.entries(room.cohort, asked))
    return found


def test_one_decision_grades_them_all_and_only_them(room: Room, asked: Question) -> None:
    group = only_group(room, asked)
    assert len(group) == 3
    point = rubric_of(room.cohort, asked.activity)[0]
    client = client_of(room.assistant)
    where = reverse("classroom:group", args=[room.cohort.id, asked.activity.id, group.likeness])
    assert "3 answers say the same" in client.get(where).content.decode()
    answer = client.post(where, {"point": [point.pk], "comment": "Just so."}, follow=True)
    assert "3 answers graded with one decision" in answer.content.decode()
    assert Grade.objects.filter(given__point=point, comment="Just so.").count() == 3
    entry = AuditEntry.objects.get(action="group-decided")
    assert len(entry.data["answers"]) == 3
    assert client.get(where).status_code == 302  # no longer a group


def test_a_decision_is_undone_but_for_what_was_edited_since(room: Room, asked: Question) -> None:
    group = only_group(room, asked)
    decision = groups.decide(
        room.cohort, room.instructor, asked, group.likeness, Judgement(comment="All.")
    )
    Grade.objects.filter(revision_id=group.sample.revision).update(version=2)
    client = client_of(room.instructor)
    where = reverse("classroom:undo-decision", args=[room.cohort.id, decision.pk])
    said = client.post(where, follow=True).content.decode()
    assert "2 answers wait again" in said and "1 grade was edited since and stays" in said
    assert Grade.objects.count() == 1
    assert GroupDecision.objects.get().undone_at is not None
    assert "taken back before" in client.post(where, follow=True).content.decode()


def test_a_grade_that_its_learner_asked_about_stays_with_what_they_wrote(
    room: Room, asked: Question
) -> None:
    group = only_group(room, asked)
    decision = groups.decide(room.cohort, room.instructor, asked, group.likeness, Judgement())
    grade = Grade.objects.get(revision_id=group.sample.revision)
    SecondLook.objects.create(grade=grade, reason="I named the mask.")
    assert groups.undo(room.cohort, room.instructor, decision.pk) == (2, 1)
    assert SecondLook.objects.get().reason == "I named the mask."


def test_z_takes_back_a_decision_too(room: Room, asked: Question) -> None:
    group = only_group(room, asked)
    client = client_of(room.instructor)
    args = [room.cohort.id, asked.activity.id, group.likeness]
    client.post(reverse("classroom:group", args=args), {"ungradable": "1"})
    assert Grade.objects.filter(is_ungradable=True).count() == 3
    client.post(reverse("classroom:undo", args=[room.cohort.id]))
    assert not Grade.objects.exists()


def test_a_graded_answer_is_in_no_group(room: Room, asked: Question) -> None:
    group = only_group(room, asked)
    for entry in group.entries[:2]:
        Grade.objects.create(cohort=room.cohort, revision_id=entry.revision)
    with pytest.raises(NoGroup):
        groups.decide(room.cohort, room.instructor, asked, group.likeness, Judgement())


def test_what_cannot_be_taken_is_kept_in_the_group_s_form(room: Room, asked: Question) -> None:
    group = only_group(room, asked)
    where = reverse("classroom:group", args=[room.cohort.id, asked.activity.id, group.likeness])
    answer = client_of(room.assistant).post(where, {"adjustment": "ten", "comment": "kept"})
    assert answer.status_code == 422 and "kept</textarea>" in answer.content.decode()
