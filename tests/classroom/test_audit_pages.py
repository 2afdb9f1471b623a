"""The audit as an instructor reads it: filtered, by ref where grading goes without names."""

from typing import Any

import pytest
from django.urls import reverse

from classroom import audit
from classroom.auditing import Reader, Wanted
from classroom.models import Membership
from tests.classroom import factories
from tests.classroom.factories import Room, client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def room() -> Room:
    room = factories.a_room(learners=2)
    ada, bo = room.learners
    audit.record(room.cohort, ada, "joined", room.ref(ada))
    audit.record(room.cohort, bo, "joined", room.ref(bo))
    audit.record(room.cohort, room.assistant, "graded", f"what-drift/{room.ref(ada)}#1", points=2)
    audit.record(room.cohort, room.instructor, "exported", "gradebook", format="csv")
    return room


def page(room: Room, **query: Any) -> str:
    address = reverse("classroom:audit", args=[room.cohort.pk])
    answer = client_of(room.instructor).get(address, query)
    assert answer.status_code == 200
    return answer.content.decode()


def found(room: Room, **wanted: str) -> list[str]:
    return [row.action for row in Reader(room.cohort).entries(Wanted(**wanted))]


def test_newest_first_and_learners_by_ref(room: Room) -> None:
    shown = page(room)
    assert shown.index("exported") < shown.index("graded") < shown.index("joined")
    for person in room.learners:
        assert room.ref(person) in shown
        assert person.name not in shown and str(person.pk) not in shown
    assert room.assistant.name in shown and room.instructor.name in shown


def test_where_grading_has_names_learners_have_theirs(room: Room) -> None:
    room.cohort.is_anonymous = False
    room.cohort.save()
    assert room.learner.name in page(room)


def test_who_has_left_is_not_named_either(room: Room) -> None:
    Membership.objects.filter(person=room.learner).delete()
    shown = page(room)
    assert room.learner.name not in shown and "somebody who has left" in shown
    Membership.objects.filter(person=room.assistant).delete()
    assert room.assistant.name in page(room, action="graded")


def test_an_erased_person_leaves_the_entry(room: Room) -> None:
    room.assistant.delete()
    assert "somebody whose account is erased" in page(room, action="graded")


def test_it_is_filtered_by_person_and_by_action(room: Room) -> None:
    assert found(room, who=room.ref(room.assistant)) == ["graded"]
    assert found(room, who="learners") == ["joined", "joined"]
    assert found(room, who="others") == []
    assert found(room, action="exported") == ["exported"]
    assert found(room, ref=room.ref(room.learner)) == ["graded", "joined"]
    assert found(room, ref="nobody") == []
    assert found(room, who=room.ref(room.learner)) == []  # a ref of a learner names no teacher
    assert "No entry fits" in page(room, action="never")


def test_what_was_done_about_a_learner_is_found_by_their_ref(room: Room) -> None:
    ref = room.ref(room.learner)
    audit.record(room.cohort, room.instructor, "extended", f"{ref}/forward")
    audit.record(room.cohort, room.instructor, "viewed-as", ref)
    assert found(room, ref=ref) == ["viewed-as", "extended", "graded", "joined"]


def test_it_comes_in_pages(room: Room) -> None:
    for _ in range(60):
        audit.record(room.cohort, room.instructor, "split")
    assert "1 of 2" in page(room) and 'rel="next"' in page(room)
    assert "joined" in page(room, page=2) and "2 of 2" in page(room, page="99")
    assert "1 of 2" in page(room, page="x")
    assert f"?who={room.ref(room.instructor)}&amp;page=2" in page(
        room, who=room.ref(room.instructor)
    )


def test_it_cannot_be_taken_by_a_link_nor_by_an_assistant(room: Room) -> None:
    address = reverse("classroom:audit-export", args=[room.cohort.pk])
    assert client_of(room.instructor).get(address).status_code == 405
    assert client_of(room.assistant).post(address).status_code == 404
    shown = reverse("classroom:audit", args=[room.cohort.pk])
    for person in (room.assistant, room.learner, None):
        assert client_of(person).get(shown).status_code == 404


def test_what_it_says_is_text(room: Room) -> None:
    audit.record(room.cohort, room.instructor, "<b>x</b>", "<script>", note="<img src=x>" * 99)
    shown = page(room)
    assert "<script>alert" not in shown and "<img src=x>" not in shown
    assert "&lt;script&gt;" in shown and "&lt;b&gt;x&lt;/b&gt;" in shown
