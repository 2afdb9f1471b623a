"""Cohorts, people, answers and Runs for the classroom's tests.

room = a_room(learners=3)
revision = submit(room.learners[0], "what-drift", wrong=True)
fill(room, ACTIVITIES)             # in bulk: 500 learners x 20 questions take a few seconds
run = a_run(room.learners[0], step="two-sizes", lesson="forward")
"""

import random
import secrets
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from django.test import Client
from django.utils import timezone

from accounts.models import Person
from classroom import filling
from classroom.models import Cohort, Grade, GradePoint, Membership, Role, RubricPoint
from lessons import answers
from lessons.checking import Typed
from lessons.content.library import library
from lessons.content.structure import Activity, Lesson, Step
from lessons.models import Answer, Revision, State, Visit
from runner.models import Run
from tests.runner import rows

COURSE = "rmsnorm"
_numbers = count(1)
_HERE = secrets.token_hex(3)  # several processes may fill one database


@dataclass
class Room:
    """A cohort with everybody in it; its first instructor is `instructor`."""

    cohort: Cohort
    instructors: list[Person] = field(default_factory=list)
    assistants: list[Person] = field(default_factory=list)
    learners: list[Person] = field(default_factory=list)

    @property
    def instructor(self) -> Person:
        return self.instructors[0]

    @property
    def assistant(self) -> Person:
        return self.assistants[0]

    @property
    def learner(self) -> Person:
        return self.learners[0]

    def membership(self, person: Person) -> Membership:
        return Membership.objects.get(cohort=self.cohort, person=person)

    def ref(self, person: Person) -> str:
        return self.membership(person).ref


def a_person(name: str = "", language: str = "en", email: str | None = None) -> Person:
    """An account without a password (nobody hashes one 500 times): sign in with `client_of`."""
    number = next(_numbers)
    person = Person(
        email=email or f"person{number}.{_HERE}@example.org",
        name=name or f"Person {number}",
        language=language,
    )
    person.set_unusable_password()
    person.save(force_insert=True)
    return person


def a_guest(language: str = "en") -> Person:
    return Person.objects.create_guest(language)


def client_of(person: Person | None, **options: Any) -> Client:
    """A client signed in as that person; None is a visitor."""
    client = Client(**options)
    if person is not None:
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


def a_room(*, learners: int = 2, assistants: int = 1, instructors: int = 1, **fields: Any) -> Room:
    """`fields` go to the Cohort: course, is_anonymous, release, zone, …"""
    cohort = Cohort.objects.create(**{"name": "Autumn", "course": COURSE} | fields)
    room = Room(cohort)
    for people, role, many in (
        (room.instructors, Role.INSTRUCTOR, instructors),
        (room.assistants, Role.ASSISTANT, assistants),
        (room.learners, Role.LEARNER, learners),
    ):
        people += _people(many, str(role))
        Membership.objects.bulk_create(
            Membership(cohort=cohort, person=person, role=role) for person in people
        )
    return room


def join(room: Room, person: Person, role: Role = Role.LEARNER) -> Membership:
    people = {Role.INSTRUCTOR: room.instructors, Role.ASSISTANT: room.assistants}
    people.get(role, room.learners).append(person)
    return Membership.objects.create(cohort=room.cohort, person=person, role=role)


def activities(course: str = COURSE) -> list[Activity]:
    """Every Activity of the course, in its order."""
    steps = library().shelves[course].course.steps()
    return [step.activity for _, step in steps if step.activity is not None]


def place_of(activity: str, course: str = COURSE) -> tuple[Lesson, Step]:
    for lesson, step in library().shelves[course].course.steps():
        if step.activity is not None and step.activity.id == activity:
            return lesson, step
    raise LookupError(activity)


def an_activity(name: str, course: str = COURSE) -> Activity:
    activity = place_of(name, course)[1].activity
    assert activity is not None
    return activity


def submit(
    person: Person,
    activity: str,
    *,
    wrong: bool = False,
    typed: Mapping[str, str | list[str]] | None = None,
    text: str = filling.TEXT,
    language: str = "en",
    run: Run | None = None,
    at: datetime | None = None,
    course: str = COURSE,
) -> Revision:
    """Handed in as a page would; `typed` replaces single fields, `at` moves it in time."""
    asked = an_activity(activity, course)
    made = (filling.wrong if wrong else filling.right)(asked, language, text)
    made |= {name: Typed(raw) for name, raw in (typed or {}).items()}
    answer = Answer.objects.filter(person=person, course=course, activity=activity).first()
    base = answer.version if answer else 0
    run_id = run.id if run else None
    answers.submit(person, course, asked, made, base, uuid.uuid4(), language, run_id)
    row = Revision.objects.filter(
        answer__person=person, answer__course=course, answer__activity=activity,
        state=State.SUBMITTED,
    ).last()  # fmt: skip
    assert row is not None
    if at is not None:
        Revision.objects.filter(pk=row.pk).update(created_at=at, saved_at=at, submitted_at=at)
        row.refresh_from_db()
    return row


def draft(
    person: Person,
    activity: str,
    *,
    text: str = filling.TEXT,
    language: str = "en",
    course: str = COURSE,
) -> Revision:
    """Typed and not handed in."""
    asked = an_activity(activity, course)
    answer = Answer.objects.filter(person=person, course=course, activity=activity).first()
    typed = filling.right(asked, language, text)
    base = answer.version if answer else 0
    answers.save_draft(person, course, asked, typed, base, language)
    return Revision.objects.get(
        answer__person=person, answer__course=course, answer__activity=activity,
        state=State.DRAFT,
    )  # fmt: skip


def fill(
    room: Room,
    asked: Sequence[Activity] | None = None,
    *,
    share_wrong: float = 0.3,
    languages: Sequence[str] = ("en", "fr", "tr"),
    tries: int = 1,
    at: datetime | None = None,
    seed: int = 1,
) -> int:
    """One Answer a learner and Activity (all of the course's by default), each with `tries`
    revisions, a minute between them; the earlier ones wrong. How many Answers it made."""
    chance = random.Random(seed)
    asked = asked if asked is not None else activities(room.cohort.course)
    end = at or timezone.now()
    made: list[Answer] = []
    revisions: list[Revision] = []
    for place, person in enumerate(room.learners):
        language = languages[place % len(languages)]
        for activity in asked:
            answer = Answer(
                person=person, course=room.cohort.course, activity=activity.id, version=tries
            )
            made.append(answer)
            for number in range(1, tries + 1):
                fails = number < tries or chance.random() < share_wrong
                text = f"{filling.TEXT} ({chance.randrange(40)})"
                typed = (
                    filling.wrong(activity, language, text, chance)
                    if fails
                    else filling.right(activity, language, text)
                )
                when = end - timedelta(minutes=tries - number)
                revisions.append(
                    filling.submitted(
                        answer, activity, typed, when, language=language, number=number
                    )
                )
    Answer.objects.bulk_create(made, batch_size=1000)
    Revision.objects.bulk_create(revisions, batch_size=500)
    return len(made)


def visit(
    person: Person, lesson: str, step: str, at: datetime | None = None, course: str = COURSE
) -> Visit:
    return Visit.objects.create(
        person=person, course=course, lesson=lesson, step=step, at=at or timezone.now()
    )


def grade(
    room: Room,
    revision: Revision,
    points: Iterable[RubricPoint] = (),
    *,
    is_published: bool = True,
    **fields: Any,
) -> Grade:
    """`fields` go to the Grade: comment, adjustment, is_ungradable, grader, …"""
    values = {"grader": room.instructor, "published_at": timezone.now() if is_published else None}
    row = Grade.objects.create(cohort=room.cohort, revision=revision, **values | fields)
    GradePoint.objects.bulk_create(GradePoint(grade=row, point=point) for point in points)
    return row


def a_run(
    person: Person,
    *,
    lesson: str = "forward",
    step: str = "two-sizes",
    outcome: str = "passed",
    course: str = COURSE,
    **fields: Any,
) -> Run:
    """An ended Run of that step, without Events (`tests.runner.rows.tell` adds some)."""
    return rows.an_ended_run(
        person, course=course, lesson=lesson, step=step, outcome=outcome, **fields
    )


def _people(many: int, name: str) -> list[Person]:
    people = []
    for _ in range(many):
        number = next(_numbers)
        person = Person(
            email=f"{name}{number}.{_HERE}@example.org", name=f"{name.title()} {number}"
        )
        person.set_unusable_password()
        people.append(person)
    return Person.objects.bulk_create(people)
