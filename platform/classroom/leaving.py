"""What stays of somebody who is erased: numbers without a person, and cohorts that go on."""

from django.db.models import Min
from django.utils import timezone

from classroom import audit
from classroom.models import Cohort, Membership, PastWork, Role
from classroom.progress import cohort_work
from lessons.models import Revision, State, Visit


def leave_numbers(mine: Membership) -> None:
    """A learner's lessons and answers, counted: reached, answered, right at once, how long."""
    if mine.role != Role.LEARNER:
        return
    cohort = mine.cohort
    work = cohort_work(cohort, people=[mine.person_id])
    done = work.of(mine.person_id)
    visits = Visit.objects.filter(person=mine.person_id, course=cohort.course)
    reached = {
        (lesson, step): first
        for lesson, step, first in visits.values_list("lesson", "step", "first_at")
    }
    sent = dict(
        Revision.objects.filter(
            answer__person=mine.person_id, answer__course=cohort.course, state=State.SUBMITTED
        )
        .values_list("answer__activity")
        .annotate(first=Min("submitted_at"))
        .order_by()
    )
    rows = [PastWork(cohort=cohort, lesson=lesson) for lesson in sorted({le for le, _ in reached})]
    for lesson in work.lessons:
        for step in lesson.steps:
            answered = done.get(step.activity.id) if step.activity else None
            if step.activity is None or answered is None:
                continue
            first, opened = sent.get(step.activity.id), reached.get((lesson.id, step.id))
            took = (first - opened).total_seconds() if first and opened else -1
            rows.append(
                PastWork(
                    cohort=cohort,
                    lesson=lesson.id,
                    activity=step.activity.id,
                    was_answered=True,
                    was_right_first=answered.first_right,
                    tries=answered.tries,
                    seconds=round(took) if took >= 0 else None,
                )
            )
    PastWork.objects.bulk_create(rows)


def close_if_last(mine: Membership) -> None:
    """Nobody is kept from being erased: a cohort that nobody instructs any more is archived."""
    if mine.role != Role.INSTRUCTOR:
        return
    Cohort.objects.select_for_update().get(pk=mine.cohort_id)
    others = Membership.objects.filter(cohort=mine.cohort_id, role=Role.INSTRUCTOR)
    if others.exclude(pk=mine.pk).exists():
        return
    Cohort.objects.filter(pk=mine.cohort_id, archived_at=None).update(archived_at=timezone.now())
    audit.record(mine.cohort, None, "archived", reason="its last instructor was erased")
