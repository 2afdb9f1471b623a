"""The grading desk over HTTP, for tests: an answer opened, and the form a browser would send."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Person
from classroom.models import RubricPoint
from tests.classroom import factories
from tests.classroom.factories import Room, a_room, client_of


@pytest.fixture
def text() -> str:
    """An activity with a text field and others beside it."""
    return next(
        a.id
        for a in factories.activities()
        if len(a.fields) > 1 and any(type(f).__name__ == "TextField" for f in a.fields)
    )


@pytest.fixture
def room() -> Room:
    return a_room(learners=4, assistants=2)


def address(room: Room, name: str, *more: object) -> str:
    return reverse(f"classroom:{name}", args=[room.cohort.id, *more])


def form(page: str) -> dict[str, Any]:
    """The fields of the desk's form that a browser would send without a change."""
    inner = page.split("data-judgement", 1)[1].split("</form>", 1)[0].split("<template", 1)[0]
    inner = re.sub(r"<noscript>.*?</noscript>", "", inner, flags=re.DOTALL)
    fields: dict[str, Any] = {}
    for tag in re.findall(r"<input[^>]*>", inner):
        name = re.search(r'name="([^"]+)"', tag)
        value = re.search(r'value="([^"]*)"', tag)
        if name and not ('type="checkbox"' in tag and " checked" not in tag):
            fields.setdefault(name[1], []).append(value[1] if value else "")
    return fields | {"do": "next"}


def points_of(room: Room, activity: str) -> list[RubricPoint]:
    return list(RubricPoint.objects.filter(cohort=room.cohort, activity=activity))


def desk(
    room: Room, learner: Person, activity: str, grader: Person | None = None
) -> tuple[Client, str, str]:
    """A grader who has opened the learner's answer: their client, its address, its page."""
    client = client_of(grader or room.instructor)
    where = address(room, "grade", activity, room.ref(learner))
    return client, where, client.get(where).content.decode()
