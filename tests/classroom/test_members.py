"""Who is in a cohort: roles, leaving, being removed, being asked to teach."""

import threading

import pytest
from django.core import mail
from django.db import connection
from django.utils import timezone

from accounts.models import Person
from classroom import cohorts, invitations
from classroom.models import Invitation, Membership, Role, Share
from lessons.models import Answer
from tests.classroom import factories as f
from tests.classroom.factories import Room, client_of
from tests.classroom.test_cohorts import actions, at
from tests.classroom.test_cohorts import room as room

pytestmark = pytest.mark.django_db


def test_leaving_keeps_the_answers_and_closes_the_cohort(room: Room) -> None:
    f.submit(room.learner, "what-drift")
    client = client_of(room.learner)
    client.post(at("leave", room.cohort.pk))
    assert Answer.objects.filter(person=room.learner).exists()
    assert client.get(at("cohort", room.cohort.pk)).status_code == 404
    assert actions(room.cohort) == ["left"]


def test_the_last_instructor_cannot_leave_nor_step_down(room: Room) -> None:
    client = client_of(room.instructor)
    ref = room.ref(room.instructor)
    client.post(at("leave", room.cohort.pk))
    client.post(at("remove", room.cohort.pk, ref))
    page = client.post(at("change-role", room.cohort.pk, ref), {"role": "assistant"}, follow=True)
    assert "needs an instructor" in page.content.decode()
    assert room.membership(room.instructor).role == Role.INSTRUCTOR
    f.join(room, f.a_person(), Role.INSTRUCTOR)
    client.post(at("leave", room.cohort.pk))
    assert not Membership.objects.filter(cohort=room.cohort, person=room.instructor).exists()


def test_of_two_instructors_who_leave_at_once_one_stays(racing: None) -> None:
    room = f.a_room(instructors=2, learners=0)
    barrier = threading.Barrier(2)
    refused: list[BaseException] = []

    def go(person: Person) -> None:
        try:
            barrier.wait()
            cohorts.leave(room.cohort, person)
        except cohorts.LastInstructor as error:
            refused.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=go, args=(person,)) for person in room.instructors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 1
    assert Membership.objects.filter(cohort=room.cohort, role=Role.INSTRUCTOR).count() == 1


def test_roles_change_and_a_guest_cannot_teach(room: Room) -> None:
    client = client_of(room.instructor)
    guest = f.a_guest()
    for person in (room.learner, guest):
        if person is guest:
            f.join(room, guest)
        client.post(at("change-role", room.cohort.pk, room.ref(person)), {"role": "assistant"})
    assert room.membership(room.learner).role == Role.ASSISTANT
    assert room.membership(guest).role == Role.LEARNER
    client.post(at("change-role", room.cohort.pk, room.ref(guest)), {"role": "owner"})
    assert actions(room.cohort).count("role-changed") == 1


def test_who_stops_teaching_hands_back_their_share(room: Room) -> None:
    Share.objects.create(
        cohort=room.cohort, activity="what-drift", grader=room.assistant, position=0
    )
    cohorts.change_role(room.cohort, room.instructor, room.ref(room.assistant), Role.LEARNER)
    assert not Share.objects.exists()


def test_a_removed_learner_is_gone_from_the_cohort_alone(room: Room) -> None:
    f.submit(room.learner, "what-drift")
    client = client_of(room.instructor)
    ref = room.ref(room.learner)
    assert client.get(at("remove", room.cohort.pk, ref)).status_code == 200
    client.post(at("remove", room.cohort.pk, ref))
    assert not Membership.objects.filter(cohort=room.cohort, person=room.learner).exists()
    assert Answer.objects.filter(person=room.learner).exists()


def test_an_invitation_without_an_address_works_once(room: Room) -> None:
    teacher = client_of(room.instructor)
    page = teacher.post(at("members", room.cohort.pk), {"role": "assistant"}, follow=True)
    code = Invitation.objects.get().code
    assert at("invitation", code) in page.content.decode()
    one, two = f.a_person(), f.a_person()
    assert client_of(one).post(at("invitation", code)).status_code == 302
    assert room.membership(one).role == Role.ASSISTANT
    assert client_of(two).post(at("invitation", code)).status_code == 404


def test_an_invitation_by_address_is_for_that_account(room: Room) -> None:
    data = {"role": "instructor", "email": "Grace@Example.org"}
    client_of(room.instructor).post(at("members", room.cohort.pk), data)
    code = Invitation.objects.get().code
    other, grace = f.a_person(), f.a_person(email="grace@example.org")
    assert client_of(other).post(at("invitation", code)).status_code == 409
    guest = client_of(f.a_guest()).post(at("invitation", code))
    assert guest.status_code == 200 and "needs an account" in guest.content.decode()
    assert client_of(grace).post(at("invitation", code)).status_code == 302
    assert room.membership(grace).role == Role.INSTRUCTOR


def test_the_message_holds_the_link(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounts.mail.send_later", lambda message: message.send())
    data = {"role": "assistant", "email": "grace@example.org"}
    client_of(room.instructor).post(at("members", room.cohort.pk), data)
    (message,) = mail.outbox
    assert message.to == ["grace@example.org"]
    assert at("invitation", Invitation.objects.get().code) in message.body


def test_an_invitation_makes_nobody_less_than_they_are(room: Room) -> None:
    made = invitations.invite(room.cohort, room.instructor, Role.ASSISTANT)
    invitations.accept(room.instructor, made.code)
    assert room.membership(room.instructor).role == Role.INSTRUCTOR


def test_an_old_or_withdrawn_invitation_is_gone(room: Room) -> None:
    old = invitations.invite(room.cohort, room.instructor, Role.ASSISTANT)
    Invitation.objects.update(expires_at=timezone.now())
    made = invitations.invite(room.cohort, room.instructor, Role.ASSISTANT)
    client_of(room.instructor).post(at("withdraw", room.cohort.pk, made.pk))
    client = client_of(f.a_person())
    assert [client.get(at("invitation", one.code)).status_code for one in (old, made)] == [404, 404]
