"""Making a cohort, joining it by code or link, roles, leaving; what a guest keeps."""

import threading
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core import mail
from django.core.management import call_command
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from accounts import throttle
from accounts.models import Person
from classroom import cohorts, invitations
from classroom.models import AuditEntry, Cohort, Invitation, Membership, Role, Share
from classroom.views import joining
from lessons.models import Answer
from tests.classroom import factories as f
from tests.classroom.factories import Room, client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def room() -> Room:
    return f.a_room(learners=2, assistants=1)


def at(name: str, *args: Any) -> str:
    return reverse(f"classroom:{name}", args=args)


def actions(cohort: Cohort) -> list[str]:
    return list(
        AuditEntry.objects.filter(cohort=cohort).order_by("pk").values_list("action", flat=True)
    )


def instructor() -> Person:
    person = f.a_person("Ada")
    person.user_permissions.add(Permission.objects.get(codename="add_cohort"))
    return person


def test_an_instructor_makes_a_cohort_and_gets_its_link() -> None:
    person = instructor()
    data = {"name": "  Autumn  2026 ", "course": "rmsnorm", "zone": "europe/paris"}
    page = client_of(person).post(at("make"), data, follow=True).content.decode()
    cohort = Cohort.objects.get()
    assert (cohort.name, cohort.zone) == ("Autumn 2026", "Europe/Paris")
    assert Membership.objects.get(cohort=cohort).role == Role.INSTRUCTOR
    assert cohort.code in page and at("join", cohort.code) in page
    assert actions(cohort) == ["made"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "x" * 121},
        {"name": "a\u202eb"},
        {"course": "no-such"},
        {"zone": "Paris"},
        {"zone": "../../etc/passwd"},
    ],
)
def test_a_cohort_is_not_made_of_what_makes_none(wrong: dict[str, str]) -> None:
    data = {"name": "Autumn", "course": "rmsnorm", "zone": "UTC"} | wrong
    assert client_of(instructor()).post(at("make"), data).status_code == 422
    assert not Cohort.objects.exists()


@pytest.mark.parametrize("typed", ["{}", " {} ", "{lower}", "{first}-{second}"])
def test_a_code_is_read_however_it_is_typed(room: Room, typed: str) -> None:
    code = room.cohort.code
    said = typed.format(code, lower=code.lower(), first=code[:4], second=code[4:])
    answer = client_of(None).post(at("join-by-code"), {"code": said})
    assert answer["Location"] == at("join", code)


@pytest.mark.parametrize("code", ["WRONG234", "", "x" * 400, "' OR 1=1", "\x00"])
def test_a_wrong_code_is_a_sentence(room: Room, code: str) -> None:
    assert client_of(None).post(at("join-by-code"), {"code": code}).status_code == 422


def test_a_wrong_link_is_a_sentence_too(room: Room) -> None:
    answer = client_of(None).get(at("join", "WRONG234"))
    assert answer.status_code == 404
    assert "No cohort has this code" in answer.content.decode()


def test_codes_cannot_be_tried_without_end(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    few = throttle.Limit("few-codes", ((throttle.HOUR, 3),), "Too many.")
    monkeypatch.setattr(joining, "CODES", few)
    client = client_of(None)
    got = [client.post(at("join-by-code"), {"code": "WRONG234"}).status_code for _ in range(4)]
    assert got == [422, 422, 422, 429]
    assert client.get(at("join", room.cohort.code)).status_code == 429
    assert client.get(at("invitation", "nothing")).status_code == 429


def test_a_visitor_joins_as_a_guest_with_a_name(room: Room) -> None:
    client = client_of(None)
    answer = client.post(at("join", room.cohort.code), {"name": "Zoé"})
    assert answer["Location"] == at("cohort", room.cohort.pk)
    mine = Membership.objects.get(cohort=room.cohort, person__name="Zoé")
    assert mine.role == Role.LEARNER and mine.person.is_guest
    assert room.cohort.name in client.get(at("cohort", room.cohort.pk)).content.decode()


def test_looking_at_the_link_makes_nobody(room: Room) -> None:
    before = Person.objects.count()
    client_of(None).get(at("join", room.cohort.code))
    assert Person.objects.count() == before


def test_a_guest_joins_with_their_work_and_signs_up_with_both(room: Room) -> None:
    guest = f.a_guest()
    client = client_of(guest)
    f.submit(guest, "what-drift")
    client.post(at("join", room.cohort.code), {"name": ""})
    ref = Membership.objects.get(person=guest).ref
    data = {"email": "zoe@example.org", "password": "a long sentence 42", "name": "Zoé"}
    client.post(reverse("accounts:sign-up"), data)
    person = Person.objects.get(email="zoe@example.org")
    mine = Membership.objects.get(cohort=room.cohort, person=person)
    assert (mine.ref, mine.role) == (ref, Role.LEARNER)
    assert Answer.objects.get(person=person).activity == "what-drift"


def test_joining_twice_is_joining_once(room: Room) -> None:
    client = client_of(room.learner)
    client.post(at("join", room.cohort.code))
    assert Membership.objects.filter(person=room.learner).count() == 1
    assert "joined" not in actions(room.cohort)


def test_a_teacher_who_opens_the_link_stays_a_teacher(room: Room) -> None:
    client_of(room.instructor).post(at("join", room.cohort.code))
    assert room.membership(room.instructor).role == Role.INSTRUCTOR


@pytest.mark.parametrize("shut", [{"is_open": False}, {"archived_at": timezone.now()}])
def test_nobody_joins_a_cohort_that_is_shut(room: Room, shut: dict[str, Any]) -> None:
    Cohort.objects.filter(pk=room.cohort.pk).update(**shut)
    client = client_of(f.a_person())
    for answer in (
        client.get(at("join", room.cohort.code)),
        client.post(at("join", room.cohort.code)),
    ):
        assert answer.status_code == 409
    assert client_of(room.learner).get(at("join", room.cohort.code)).status_code == 302


def test_a_renewed_code_voids_the_old_link(room: Room) -> None:
    old = room.cohort.code
    client_of(room.instructor).post(at("renew-code", room.cohort.pk))
    assert client_of(None).get(at("join", old)).status_code == 404
    assert actions(room.cohort) == ["code-renewed"]


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


def test_settings_are_saved_and_written_down(room: Room) -> None:
    data = {"name": "Winter", "zone": "Asia/Tokyo", "release": "held", "is_open": "on"}
    client_of(room.instructor).post(at("settings", room.cohort.pk), data)
    cohort = Cohort.objects.get(pk=room.cohort.pk)
    assert (cohort.name, cohort.release, cohort.is_anonymous) == ("Winter", "held", False)
    entry = AuditEntry.objects.get(cohort=cohort)
    assert entry.data["is_anonymous"] == [True, False]


def test_an_archived_cohort_is_put_away_and_taken_out(room: Room) -> None:
    client = client_of(room.instructor)
    client.post(at("archive", room.cohort.pk), {"do": "archive"})
    assert "archived" in client.get(at("cohort", room.cohort.pk)).content.decode()
    client.post(at("archive", room.cohort.pk), {"do": "restore"})
    assert actions(room.cohort) == ["archived", "restored"]


@pytest.mark.parametrize(
    ("anonymous", "who", "status"),
    [(True, "assistant", 404), (False, "assistant", 200), (True, "instructor", 200)],
)
def test_names_are_for_instructors_where_grading_goes_without(
    anonymous: bool, who: str, status: int
) -> None:
    room = f.a_room(is_anonymous=anonymous)
    client = client_of(getattr(room, who))
    assert client.get(at("members", room.cohort.pk)).status_code == status
    client.get(at("members", room.cohort.pk))
    noted = [] if not anonymous or status == 404 else ["names-seen"]
    assert actions(room.cohort) == noted


def test_a_learner_s_name_stands_on_no_other_page_of_an_anonymous_cohort(room: Room) -> None:
    Person.objects.filter(pk=room.learner.pk).update(name="Melitta Bentz")
    client = client_of(room.instructor)
    for name in ("cohort", "deadlines", "settings"):
        assert "Melitta" not in client.get(at(name, room.cohort.pk)).content.decode()
    assert "Melitta" in client.get(at("members", room.cohort.pk)).content.decode()


def test_names_are_shown_as_what_they_are(room: Room) -> None:
    hostile = "<script>alert(1)</script>"
    Person.objects.filter(pk=room.learner.pk).update(name=hostile)
    Cohort.objects.filter(pk=room.cohort.pk).update(name=hostile)
    page = client_of(room.instructor).get(at("members", room.cohort.pk)).content.decode()
    assert hostile not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_menu_leads_to_the_classroom_whom_it_concerns(room: Room) -> None:
    def leads(person: Person | None) -> bool:
        return f'href="{at("home")}"' in client_of(person).get("/en/").content.decode()

    assert leads(room.learner) and leads(room.assistant)
    assert not leads(f.a_person()) and not leads(f.a_guest()) and not leads(None)
    newcomer = f.a_person(email="new@example.org")
    call_command("instructor", "new@example.org")
    assert leads(newcomer)


@pytest.mark.parametrize("path", ["join/%00/", "invitation/%00/", "invitation/ab%00/"])
def test_an_address_with_a_null_is_not_there(path: str, db: None) -> None:
    assert client_of(None).get(f"/en/classroom/{path}").status_code == 404
