"""What the graders did: rubric points, comments, a passage, second looks, more time, the audit."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from accounts.models import Person
from classroom import rubrics
from classroom.demonstration.script import script
from classroom.demonstration.work import Paper
from classroom.models import (
    Adjustment,
    AuditEntry,
    Cohort,
    Grade,
    GradePoint,
    Membership,
    PassageComment,
    PastWork,
    RubricPoint,
    SecondLook,
)
from lessons.content.structure import Activity, Course, TextField

GRADED_LESSONS = 6  # the later ones wait: a newcomer sees a full queue


@dataclass
class Desk:
    """Somewhere to put grades while they are given."""

    cohort: Cohort
    graders: Sequence[Person]
    refs: Mapping[Any, str]
    rubric: Mapping[str, list[RubricPoint]]
    chance: random.Random
    entries: list[AuditEntry] = field(default_factory=list)
    given: list[tuple[Grade, Paper]] = field(default_factory=list)

    def told(self, at: datetime, actor: Person, action: str, subject: str, **data: Any) -> None:
        self.entries.append(
            AuditEntry(
                cohort=self.cohort, actor=actor, action=action, subject=subject, data=data, at=at
            )
        )


def grade(
    cohort: Cohort,
    course: Course,
    graders: Sequence[Person],
    papers: Sequence[Paper],
    chance: random.Random,
) -> None:
    """Most of what was handed in to the first lessons; the last try of each, now and then an
    earlier one, with the later one still waiting."""
    early = {
        step.activity.id: step.activity
        for lesson in course.lessons[:GRADED_LESSONS]
        for step in lesson.steps
        if step.activity
    }
    memberships = Membership.objects.filter(cohort=cohort)
    refs = dict(memberships.values_list("person_id", "ref"))
    desk = Desk(cohort, graders, refs, rubrics.rubrics_of(cohort, early.values()), chance)
    last: dict[Any, Paper] = {}
    for paper in papers:
        if paper.activity.id in early:
            last[paper.revision.answer_id] = paper
            if chance.random() < 0.08:
                _give(desk, paper)
    for paper in last.values():
        if chance.random() < 0.65 and not any(paper is done for _, done in desk.given):
            _give(desk, paper)
    _second_looks(desk)
    _beside(desk, course)
    AuditEntry.objects.bulk_create(sorted(desk.entries, key=lambda entry: entry.at))


def _give(desk: Desk, paper: Paper) -> None:
    said, chance = script(), desk.chance
    handed_in = paper.revision.submitted_at
    assert handed_in is not None
    at = min(handed_in + timedelta(hours=chance.uniform(8, 70)), timezone.now())
    points = [
        point
        for point in desk.rubric[paper.activity.id]
        if point.key in paper.earned.get(point.field, set())
    ]
    full = len(points) == len(desk.rubric[paper.activity.id])
    unreadable = not points and chance.random() < 0.12
    comments = said.comments["full" if full else "partial" if points else "none"]
    grader = chance.choice(list(desk.graders))
    row = Grade.objects.create(
        cohort=desk.cohort,
        revision=paper.revision,
        grader=grader,
        comment=said.unreadable if unreadable else chance.choice(comments),
        is_ungradable=unreadable,
        graded_at=at,
        published_at=at,
        seen_at=at + timedelta(hours=5) if chance.random() < 0.6 else None,
    )
    if not unreadable:
        GradePoint.objects.bulk_create(GradePoint(grade=row, point=point) for point in points)
    if full and chance.random() < 0.4:
        _passage(row, paper, points)
    ref = desk.refs[paper.learner.person.pk]
    subject = f"{paper.activity.id}/{ref}#{paper.revision.number}"
    desk.told(at, grader, "graded", subject, points=len(points), ungradable=unreadable)
    desk.given.append((row, paper))


def _passage(row: Grade, paper: Paper, points: Sequence[RubricPoint]) -> None:
    """On the sentence that earned the last point."""
    point = points[-1]
    quote = script().sentence(paper.activity.id, point.field, point.key, paper.revision.language)
    start = paper.revision.content[point.field]["raw"].find(quote)
    if start >= 0:
        PassageComment.objects.create(
            grade=row, field=point.field, start=start, end=start + len(quote), quote=quote,
            text=script().passage,
        )  # fmt: skip


def _second_looks(desk: Desk) -> None:
    """One still open, one answered."""
    lowly = [(g, p) for g, p in desk.given if not g.is_ungradable and not _is_full(p)]
    for place, (row, paper) in enumerate(lowly[3:5]):
        asked = row.graded_at + timedelta(hours=20)
        look = SecondLook.objects.create(
            grade=row, reason=script().reasons[place], asked_at=min(asked, timezone.now())
        )
        ref = desk.refs[paper.learner.person.pk]
        subject = f"{paper.activity.id}/{ref}#{paper.revision.number}"
        desk.told(look.asked_at, paper.learner.person, "second-look-asked", subject)
        if place == 1:
            look.reply, look.answered_by = script().reply, desk.graders[0]
            look.answered_at = min(asked + timedelta(hours=9), timezone.now())
            look.save()
            desk.told(look.answered_at, desk.graders[0], "second-look-answered", subject)


def _beside(desk: Desk, course: Course) -> None:
    """An adjustment, and what somebody who was erased has left to the statistics."""
    learner = desk.given[0][1].learner
    lesson = course.lessons[1].id
    Adjustment.objects.create(
        cohort=desk.cohort, person=learner.person, lesson=lesson, points=1,
        reason="Explained the two reductions at the board", made_by=desk.graders[0],
    )  # fmt: skip
    desk.told(
        timezone.now() - timedelta(days=2), desk.graders[0], "adjusted",
        desk.refs[learner.person.pk], lesson=lesson, before="0", after="1",
    )  # fmt: skip
    PastWork.objects.bulk_create(
        PastWork(
            cohort=desk.cohort, lesson=lesson.id, activity=step.activity.id, was_answered=True,
            was_right_first=desk.chance.random() < 0.6, tries=1, seconds=240,
        )
        for lesson in course.lessons[:2]
        for step in lesson.steps
        if step.activity
    )  # fmt: skip


def _is_full(paper: Paper) -> bool:
    return all(
        paper.earned.get(item.id, set()) >= set(_known(paper.activity, item))
        for item in paper.activity.fields
        if isinstance(item, TextField)
    )


def _known(activity: Activity, item: TextField) -> list[str]:
    return script().points_of(activity, item)
