"""The demonstration as a whole: made, made anew, removed."""

import random
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.contrib.auth.models import Permission
from django.db import transaction
from django.utils import timezone

from accounts.models import Person
from classroom.demonstration import grades, people, work
from classroom.demonstration.people import DOMAIN, Learner
from classroom.demonstration.runs import Theatre
from classroom.models import (
    AuditEntry,
    Cohort,
    Deadline,
    Extension,
    Grade,
    Membership,
    Recheck,
    Role,
)
from lessons import api as lessons
from lessons.content.library import library
from lessons.content.structure import Course
from runner import api as runner

NAME = "Demonstration: kernels, autumn"
ZONE = "Europe/Paris"
DAYS_OPEN = 9  # from the day that a lesson is due to begin until it closes
SEED = 20261130  # the same people do the same things each time; only the days move


class NoCourse(LookupError):
    """The course that the demonstration is about is not on this site."""


@dataclass(frozen=True)
class Made:
    cohort: Cohort
    email: str
    password: str
    learners: int
    answers: int
    runs: int


def renew() -> Made:
    """Whatever was there goes, and a new one takes its place. Raises NoCourse.

    Not one transaction: on SQLite everybody else would wait for it. Broken off, it is renewed.
    """
    shelf = library().shelves.get(work.COURSE)
    if shelf is None:
        raise NoCourse(work.COURSE)
    remove()
    chance = random.Random(SEED)
    now = timezone.now()
    password = secrets.token_urlsafe(12)
    instructor = people.teacher(*people.INSTRUCTOR, password)
    instructor.user_permissions.add(
        Permission.objects.get(content_type__app_label="classroom", codename="add_cohort")
    )
    assistants = [people.teacher(*named) for named in people.ASSISTANTS]
    learners = people.learners(chance, len(shelf.course.lessons))
    cohort = _cohort(instructor, assistants, learners, now)
    _deadlines(cohort, shelf.course, learners, now)
    done, runs = _work(shelf.course, learners, instructor, now, chance)
    grades.grade(cohort, shelf.course, [instructor, *assistants], done.papers, chance)
    email = people.address(people.INSTRUCTOR[0])
    return Made(cohort, email, password, len(learners), len(done.answers), runs)


@transaction.atomic
def remove() -> bool:
    """The demonstration with its people, and nobody else. Whether there was one."""
    cohorts = Cohort.objects.filter(is_demo=True)
    there = cohorts.exists()
    made_up = list(
        Person.objects.filter(
            email__endswith=f"@{DOMAIN}", memberships__cohort__in=cohorts
        ).distinct()
    )
    Recheck.objects.filter(cohort__in=cohorts).delete()
    Grade.objects.filter(cohort__in=cohorts).delete()  # they hold on to their rubric points
    cohorts.delete()
    for person in made_up:
        runner.erase_person(person)
        lessons.erase_person(person)
        person.delete()
    return there


def _cohort(
    instructor: Person, assistants: list[Person], learners: list[Learner], now: datetime
) -> Cohort:
    begun = now - timedelta(days=work.DAYS_A_LESSON * 12 + 3)
    cohort = Cohort.objects.create(
        name=NAME, course=work.COURSE, zone=ZONE, is_demo=True, created_at=begun
    )
    rows = [Membership(cohort=cohort, person=instructor, role=Role.INSTRUCTOR, joined_at=begun)]
    rows += [
        Membership(cohort=cohort, person=person, role=Role.ASSISTANT, joined_at=begun)
        for person in assistants
    ]
    rows += [
        Membership(
            cohort=cohort, person=learner.person, joined_at=begun + timedelta(minutes=40 * place)
        )
        for place, learner in enumerate(learners)
    ]
    Membership.objects.bulk_create(rows)
    entries = [AuditEntry(cohort=cohort, actor=instructor, action="made", at=begun)]
    entries += [
        AuditEntry(
            cohort=cohort, actor=row.person, action="joined", subject=row.ref, at=row.joined_at
        )
        for row in rows
    ]
    AuditEntry.objects.bulk_create(entries)
    return cohort


def _deadlines(cohort: Cohort, course: Course, learners: list[Learner], now: datetime) -> None:
    """Past ones and ones to come; two learners have more time for one that is over."""
    zone = ZoneInfo(ZONE)
    begun = now - timedelta(days=work.DAYS_A_LESSON * len(course.lessons))
    rows = []
    for place, lesson in enumerate(course.lessons):
        day = (begun + timedelta(days=work.DAYS_A_LESSON * place + DAYS_OPEN)).astimezone(zone)
        at = day.replace(hour=23, minute=59, second=0, microsecond=0, fold=0)
        rows.append(
            Deadline(
                cohort=cohort, lesson=lesson.id, wall=at.strftime("%Y-%m-%dT%H:%M"), zone=ZONE,
                at=at,
            )
        )  # fmt: skip
    Deadline.objects.bulk_create(rows)
    over = [row for row in rows if row.at < now][-1]
    late = (now + timedelta(days=3)).astimezone(zone)
    late = late.replace(hour=12, minute=0, second=0, microsecond=0)
    Extension.objects.bulk_create(
        Extension(
            cohort=cohort, person=learner.person, lesson=over.lesson, zone=ZONE, at=late,
            wall=late.strftime("%Y-%m-%dT%H:%M"), reason=reason,
        )
        for learner, reason in zip(learners[:2], ("Was ill", "Away for an exam"), strict=True)
    )  # fmt: skip


def _work(
    course: Course,
    learners: list[Learner],
    viewer: Person,
    now: datetime,
    chance: random.Random,
) -> tuple[work.Work, int]:
    done, theatre = work.Work(), Theatre(viewer, chance)
    for moment in work.moments(learners, course, now, chance):
        run = theatre.run(moment)
        work.answer(done, moment, run, chance)
    done.save()
    return done, theatre.staged
