"""An import is taken back once: points and reasons are as they were."""

from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from accounts import holdings
from accounts.models import Person
from classroom import adjusting, api
from classroom.models import Adjustment, AuditEntry, Import, ImportedLine, Membership
from tests.classroom.factories import Room, a_guest, a_person, a_room, client_of, join
from tests.classroom.test_export import room as room
from tests.classroom.test_import import confirm, lines, upload

pytestmark = pytest.mark.django_db
LESSON = "forward"


Stands = set[tuple[Person, Decimal, str]]


def stands() -> Stands:
    return {(row.person, row.points, row.reason) for row in Adjustment.objects.all()}


def had(room: Room, person: Person, points: str, reason: str) -> None:
    Adjustment.objects.create(
        cohort=room.cohort, person=person, lesson=LESSON, points=Decimal(points), reason=reason
    )


def brought(room: Room, *rows: tuple[Person, str, str]) -> Import:
    """An import of these points and reasons."""
    given = [(person, LESSON, points, reason) for person, points, reason in rows]
    confirm(room, upload(room, lines(room, *given)).context["token"])
    return Import.objects.latest("pk")


def undo(room: Room, batch: Import) -> str:
    address = reverse("classroom:import-undo", args=[room.cohort.pk, batch.pk])
    return client_of(room.instructor).post(address, follow=True).content.decode()


def test_points_and_reasons_are_as_they_were(room: Room) -> None:
    first, second = room.learners
    third = a_person("Third")
    join(room, third)
    had(room, first, "2", "spoke up")
    had(room, second, "1", "")
    before = stands()
    batch = brought(room, (first, "7", "the project"), (second, "0", ""), (third, "3", "helped"))
    assert stands() == {(first, 7, "the project"), (third, 3, "helped")}
    assert "3 adjustments are as they were before" in undo(room, batch)
    assert stands() == before


def test_a_reason_alone_is_brought_and_taken_back_too(room: Room) -> None:
    had(room, room.learner, "2", "spoke up")
    batch = brought(room, (room.learner, "2", "spoke up twice"))
    assert stands() == {(room.learner, 2, "spoke up twice")}
    undo(room, batch)
    assert stands() == {(room.learner, 2, "spoke up")}


def test_it_is_taken_back_once_also_where_it_would_fit_again(room: Room) -> None:
    row = (room.learner, "7", "the project")
    first = brought(room, row)
    undo(room, first)
    second = brought(room, row)
    assert "was taken back before" in undo(room, first)
    assert stands() == {(room.learner, 7, "the project")}
    undo(room, second)
    assert stands() == set()
    assert AuditEntry.objects.filter(action="import-undone").count() == 2


@pytest.mark.parametrize("changed", [{"points": 8}, {"reason": "another"}])
def test_what_somebody_changed_since_stays_and_the_import_can_be_undone_later(
    room: Room, changed: dict[str, Any]
) -> None:
    first, second = room.learners
    batch = brought(room, (first, "7", "the project"), (second, "1", ""))
    Adjustment.objects.filter(person=first).update(**changed)
    stood = stands()
    assert "Nothing was taken back" in undo(room, batch) and stands() == stood
    Adjustment.objects.filter(person=first).update(points=7, reason="the project")
    undo(room, batch)
    assert stands() == set()


def test_of_two_who_press_at_once_one_takes_it_back(room: Room) -> None:
    batch = brought(room, (room.learner, "7", "the project"))
    undo(room, batch)
    with pytest.raises(adjusting.UndoneBefore):  # read before the other had written
        adjusting.undo(room.cohort, room.instructor, batch)
    assert AuditEntry.objects.filter(action="import-undone").count() == 1


@pytest.mark.parametrize("point", ["_write", "_store"])
def test_who_leaves_while_it_is_written_breaks_nothing(
    room: Room, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """As where the database holds no place while another is being read."""
    goes, stays = room.learners
    refs = room.ref(goes), room.ref(stays)
    inner = getattr(adjusting, point)

    def and_goes(*args: Any) -> Any:
        Membership.objects.filter(cohort=room.cohort, person=goes).delete()
        return inner(*args)

    def change(ref: str, before: int, after: int) -> adjusting.Change:
        return adjusting.Change(ref, LESSON, Decimal(before), Decimal(after))

    with monkeypatch.context() as patched:
        patched.setattr(adjusting, point, and_goes)
        changes = [change(ref, 0, 3) for ref in refs]
        batch = adjusting.apply(room.cohort, room.instructor, changes)
    assert {line.person_id for line in batch.lines.all()} == {goes.pk, stays.pk}
    join(room, goes)
    with monkeypatch.context() as patched:
        patched.setattr(adjusting, point, and_goes)
        assert adjusting.undo(room.cohort, room.instructor, batch) == 2
    assert stands() == set()
    with pytest.raises(adjusting.Stale):  # gone before anything was read
        adjusting.apply(room.cohort, room.instructor, [change(ref, 0, 3) for ref in refs])
    assert stands() == set()


def test_the_page_offers_only_what_can_be_taken_back(room: Room) -> None:
    batch = brought(room, (room.learner, "7", "the project"))
    page = reverse("classroom:import", args=[room.cohort.pk])
    address = reverse("classroom:import-undo", args=[room.cohort.pk, batch.pk])
    client = client_of(room.instructor)
    assert address in client.get(page).content.decode()
    assert address not in undo(room, batch)
    assert address not in client.get(page).content.decode()


def test_a_reason_changed_between_preview_and_confirmation_is_not_overwritten(room: Room) -> None:
    had(room, room.learner, "2", "spoke up")
    token = upload(room, lines(room, (room.learner, LESSON, "3", "new"))).context["token"]
    Adjustment.objects.update(reason="spoke up, and well")
    assert "Nothing was written" in confirm(room, token)
    assert stands() == {(room.learner, 2, "spoke up, and well")}


def test_no_reason_is_in_the_audit_and_what_an_import_keeps_goes_with_its_learner(
    room: Room,
) -> None:
    had(room, room.learner, "2", "was ill in May")
    brought(room, (room.learner, "7", "and in June"))
    assert not [row for row in AuditEntry.objects.all() if "was ill" in str(row.data)]
    held = str(api.export_person(room.learner))
    assert "was ill in May" in held and "and in June" in held
    holdings.erase(room.learner)
    assert not ImportedLine.objects.exists()


def test_an_import_about_a_guest_is_taken_back_after_they_signed_in(room: Room) -> None:
    guest, person = a_guest(), a_person("Zoe")
    join(room, guest)
    had(room, guest, "2", "spoke up")
    batch = brought(room, (guest, "7", "the project"))
    holdings.merge(guest, person)
    assert stands() == {(person, 7, "the project")}
    undo(room, batch)
    assert stands() == {(person, 2, "spoke up")}


def test_an_import_about_a_guest_and_their_account_is_taken_back_too(room: Room) -> None:
    guest, person = a_guest(), a_person("Zoe")
    for each in (guest, person):
        join(room, each)
    batch = brought(room, (guest, "7", "as a guest"), (person, "3", "as Zoe"))
    holdings.merge(guest, person)
    assert stands() == {(person, 3, "as Zoe")}
    undo(room, batch)
    assert stands() == set()


def test_only_instructors_import_and_only_their_cohort_s_imports_are_undone(room: Room) -> None:
    text = lines(room, (room.learner, LESSON, "1", ""))
    for person in (room.assistant, room.learner, a_person()):
        assert upload(room, text, person).status_code == 404
    confirm(room, upload(room, text).context["token"])
    other = a_room()
    batch = Import.objects.get()
    address = reverse("classroom:import-undo", args=[other.cohort.pk, batch.pk])
    assert client_of(other.instructor).post(address).status_code == 404


def test_the_page_after_an_import_offers_to_undo_it_once(room: Room) -> None:
    client = client_of(room.instructor)
    token = upload(room, lines(room, (room.learner, LESSON, "7", "helped"))).context["token"]
    address = reverse("classroom:import-apply", args=[room.cohort.pk])
    page = client.post(address, {"token": token}, follow=True).content.decode()
    batch = Import.objects.get()
    offer = f'action="{reverse("classroom:import-undo", args=[room.cohort.pk, batch.pk])}"'
    assert "1 adjustment is written" in page and offer in page and "Undo the import" in page
    book = reverse("classroom:gradebook", args=[room.cohort.pk])
    assert offer not in client.get(book).content.decode()
    undo(room, batch)
    assert not Adjustment.objects.exists()


def test_an_import_that_was_undone_elsewhere_is_not_offered_again(room: Room) -> None:
    client = client_of(room.instructor)
    token = upload(room, lines(room, (room.learner, LESSON, "7", "helped"))).context["token"]
    client.post(reverse("classroom:import-apply", args=[room.cohort.pk]), {"token": token})
    undo(room, Import.objects.get())
    page = client.get(reverse("classroom:gradebook", args=[room.cohort.pk])).content.decode()
    assert "Undo the import" not in page
