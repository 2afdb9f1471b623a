"""The door to the lessons: what they hold of a person."""

from typing import Any

from django.db import transaction

from lessons.models import Answer, Revision, State, Visit


def export_person(person: Any) -> dict[str, Any]:
    """Every page visited and every revision of every answer, ready for JSON."""
    visits = Visit.objects.filter(person=person).order_by("at")
    answers = Answer.objects.filter(person=person).prefetch_related("revisions")
    return {
        "visits": list(visits.values("course", "lesson", "step", "at", "first_at")),
        "answers": [
            {
                "course": answer.course,
                "activity": answer.activity,
                "revisions": [
                    {
                        "number": revision.number,
                        "state": revision.state,
                        "language": revision.language,
                        "content": revision.content,
                        "content_hash": revision.content_hash,
                        "verdicts": revision.verdicts,
                        "run": revision.run,
                        "created_at": revision.created_at,
                        "saved_at": revision.saved_at,
                        "submitted_at": revision.submitted_at,
                    }
                    for revision in answer.revisions.all()
                ],
            }
            for answer in answers.order_by("course", "activity")
        ],
    }


def erase_person(person: Any) -> None:
    Answer.objects.filter(person=person).delete()
    Visit.objects.filter(person=person).delete()


@transaction.atomic
def adopt(guest: Any, person: Any) -> None:
    """Give the person everything the guest did. Where both answered, every revision is kept, in
    the order of submission: the newer one is the latest."""
    for visit in Visit.objects.filter(person=guest):
        mine, created = Visit.objects.get_or_create(
            person=person,
            course=visit.course,
            lesson=visit.lesson,
            step=visit.step,
            defaults={"at": visit.at, "first_at": visit.first_at},
        )
        if not created:
            first, last = min(mine.first_at, visit.first_at), max(mine.at, visit.at)
            Visit.objects.filter(pk=mine.pk).update(at=last, first_at=first)
    Visit.objects.filter(person=guest).delete()
    for theirs in Answer.objects.select_for_update().filter(person=guest):
        same = Answer.objects.filter(person=person, course=theirs.course, activity=theirs.activity)
        ours = same.select_for_update().first()
        if ours is None:
            Answer.objects.filter(pk=theirs.pk).update(person=person)
        else:
            _merge(theirs, ours)


def _merge(theirs: Answer, ours: Answer) -> None:
    revisions = [*ours.revisions.all(), *theirs.revisions.all()]
    drafts = sorted((r for r in revisions if r.state == State.DRAFT), key=lambda r: r.saved_at)
    for draft in drafts[:-1]:
        Revision.objects.filter(pk=draft.pk).update(state=State.ASIDE)
    keys = {revision.key for revision in ours.revisions.all()}
    theirs.revisions.filter(key__in=keys - {None}).update(key=None)
    in_order = sorted(revisions, key=lambda r: (r.pk == _newest(drafts), r.saved_at))
    for number, revision in enumerate(in_order, start=1):  # free the numbers first
        Revision.objects.filter(pk=revision.pk).update(number=-number)
    for number, revision in enumerate(in_order, start=1):
        Revision.objects.filter(pk=revision.pk).update(number=number, answer=ours)
    theirs.delete()
    Answer.objects.filter(pk=ours.pk).update(version=ours.version + theirs.version + 1)


def _newest(drafts: list[Revision]) -> Any:
    return drafts[-1].pk if drafts else None
