"""The door to the classroom for who keeps people: what it holds of a person."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q

from classroom import audit, leaving
from classroom.lti import personal as platforms
from classroom.models import (
    Adjustment,
    AuditEntry,
    Extension,
    Grade,
    ImportedLine,
    Invitation,
    Membership,
    RecheckItem,
)


def export_person(person: Any) -> dict[str, Any]:
    """Everything, ready for JSON. A grade that is held back is counted, not shown: it has not
    reached its learner yet. What they did as a teacher is counted too: it is about others."""
    return {
        "memberships": [_membership(row) for row in _memberships(person)],
        **_set_for(person),
        **_got(person),
        "invitations": _invitations(person),
        "platforms": platforms.export_person(person),
        **_done_by(person),
    }


def _set_for(person: Any) -> dict[str, Any]:
    """More time and other points, by hand or by an import."""
    return {
        "extensions": list(
            Extension.objects.filter(person=person).values(
                "cohort", "lesson", "wall", "zone", "at", "reason"
            )
        ),
        "adjustments": list(
            Adjustment.objects.filter(person=person).values(
                "cohort", "lesson", "points", "reason", "made_at"
            )
        ),
        "imported": list(
            ImportedLine.objects.filter(person=person)
            .order_by("pk")
            .values(
                "batch__cohort",
                "batch__made_at",
                "batch__undone_at",
                "lesson",
                "before",
                "before_reason",
                "after",
                "after_reason",
            )
        ),
    }


def _got(person: Any) -> dict[str, Any]:
    """Grades, and what a re-check changed."""
    received = Grade.objects.filter(revision__answer__person=person)
    return {
        "grades": [_grade(grade) for grade in _published(received)],
        "grades_held_back": received.filter(published_at=None).count(),
        "rechecks": list(
            RecheckItem.objects.filter(person=person)
            .order_by("pk")
            .values("recheck__activity", "subject", "before", "after", "applied_at")
        ),
    }


def _invitations(person: Any) -> list[Any]:
    """Those that wait for their address; a guest has none."""
    if not person.email:
        return []
    return list(Invitation.objects.filter(email=person.email).values("cohort", "role", "made_at"))


def _done_by(person: Any) -> dict[str, Any]:
    """As a teacher, in numbers."""
    given = Grade.objects.filter(grader=person)
    return {
        "graded": list(given.values("cohort").annotate(grades=Count("pk")).order_by("cohort")),
        "done": list(
            AuditEntry.objects.filter(actor=person)
            .values("cohort", "action")
            .annotate(times=Count("pk"))
            .order_by("cohort", "action")
        ),
    }


def erase_person(person: Any) -> None:
    """Leave the numbers of their work to the statistics, and go. The audit keeps what was done
    and forgets by whom; a cohort whose last instructor goes is archived, with all its work."""
    for mine in _memberships(person):
        leaving.leave_numbers(mine)
        leaving.close_if_last(mine)
    platforms.erase_person(person)
    Membership.objects.filter(person=person).delete()
    Extension.objects.filter(person=person).delete()
    Adjustment.objects.filter(person=person).delete()
    ImportedLine.objects.filter(person=person).delete()
    RecheckItem.objects.filter(person=person).delete()
    if person.email:
        Invitation.objects.filter(email=person.email).delete()


@transaction.atomic
def adopt(guest: Any, person: Any) -> None:
    """The account takes over where the guest learned. In a cohort that both are in it keeps its
    own place, which is never the weaker one: a guest does not teach."""
    own = {row.cohort_id: row for row in Membership.objects.filter(person=person)}
    # Entries of a guest may pass to the account they become; see the triggers.
    AuditEntry._base_manager.filter(actor=guest).update(actor=person)
    for theirs in _memberships(guest):
        mine = own.get(theirs.cohort_id)
        if mine is None:
            Membership.objects.filter(pk=theirs.pk).update(person=person)
            continue
        audit.record(theirs.cohort, person, "merged", mine.ref, gone=theirs.ref)
        Membership.objects.filter(pk=theirs.pk).delete()
    _keep_larger(Extension.objects.filter(person=guest), person, "at")
    _keep_larger(Adjustment.objects.filter(person=guest), person, "made_at")
    _pass_on_lines(guest, person)
    RecheckItem.objects.filter(person=guest).update(person=person)
    platforms.adopt(person)


def _memberships(person: Any) -> list[Membership]:
    return list(
        Membership.objects.filter(person=person).select_related("cohort").order_by("joined_at")
    )


def _membership(row: Membership) -> dict[str, Any]:
    """With what was done about them there, and when; by whom is the cohort's to know."""
    about = AuditEntry.objects.filter(cohort=row.cohort).filter(
        Q(subject=row.ref)
        | Q(subject__startswith=f"{row.ref}/")
        | Q(subject__endswith=f"/{row.ref}")
        | Q(subject__contains=f"/{row.ref}#")
    )
    return {
        "cohort": row.cohort_id,
        "name": row.cohort.name,
        "course": row.cohort.course,
        "role": row.role,
        "ref": row.ref,
        "joined_at": row.joined_at,
        "audit": list(about.order_by("at", "pk").values("action", "subject", "at")),
    }


def _published(received: Any) -> Any:
    return (
        received.filter(published_at__isnull=False)
        .select_related("revision__answer", "second_look")
        .prefetch_related("given__point", "passages")
        .order_by("pk")
    )


def _grade(grade: Grade) -> dict[str, Any]:
    look = getattr(grade, "second_look", None)
    return {
        "cohort": grade.cohort_id,
        "activity": grade.revision.answer.activity,
        "revision": grade.revision.number,
        "points": [
            {"key": row.point.key, "text": row.point.text, "points": row.point.points}
            for row in grade.given.all()
        ],
        "adjustment": grade.adjustment,
        "could_not_be_graded": grade.is_ungradable,
        "comment": grade.comment,
        "passages": [
            {"field": row.field, "quote": row.quote, "comment": row.text}
            for row in grade.passages.all()
        ],
        "graded_at": grade.graded_at,
        "published_at": grade.published_at,
        "seen_at": grade.seen_at,
        "second_look": {
            "reason": look.reason,
            "asked_at": look.asked_at,
            "reply": look.reply,
            "answered_at": look.answered_at,
        }
        if look
        else None,
    }


def _pass_on_lines(guest: Any, person: Any) -> None:
    """Of imports. Where one file was about both and the same lesson, the account's adjustment is
    the one that stays (both were made at once), so its line does."""
    theirs = ImportedLine.objects.filter(person=guest)
    same = ImportedLine.objects.filter(
        person=person, batch=OuterRef("batch"), lesson=OuterRef("lesson")
    )
    theirs.filter(Exists(same)).delete()
    theirs.update(person=person)


def _keep_larger(rows: Iterable[Any], person: Any, field: str) -> None:
    """The guest's rows pass to the account; where it has one of the same lesson in the same
    cohort, the larger by `field` stays."""
    for theirs in rows:
        same = type(theirs).objects.filter(
            cohort=theirs.cohort_id, person=person, lesson=theirs.lesson
        )
        mine = same.first()
        if mine is not None and getattr(mine, field) >= getattr(theirs, field):
            theirs.delete()
            continue
        same.delete()
        type(theirs).objects.filter(pk=theirs.pk).update(person=person)
