"""The courses that the site ships: without a fault, and without a key on the page."""

from html import unescape
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.utils.html import strip_tags

from lessons.content.check import check
from lessons.content.library import Shelf, read_shelf
from lessons.content.prose import plain

FOLDERS = sorted(path.parent for path in Path(settings.COURSES_DIR).glob("*/course.yaml"))


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def shelf(request: pytest.FixtureRequest) -> Shelf:
    return read_shelf(request.param)


def test_a_course_has_no_fault(shelf: Shelf) -> None:
    assert [str(fault) for fault in check(shelf)] == []


@pytest.mark.django_db
def test_nothing_that_gives_the_answer_away_is_on_a_page_before_it(shelf: Shelf) -> None:
    client = Client()
    for lesson in shelf.course.lessons:
        address = f"/en/{shelf.course.id}/{lesson.id}"
        paper = words(client, f"{address}/print/")
        for step in lesson.steps:
            page = words(client, f"{address}/{step.id}/")
            for secret in secrets(shelf, lesson.id, step.id):
                assert secret not in page, f"{step.id}: {secret}"
                assert secret not in paper, f"{lesson.id}: {secret}"


def secrets(shelf: Shelf, lesson: str, step: str) -> list[str]:
    """Hints, rubric points and explanations, each up to its first formula."""
    blocks = shelf.lesson_texts[lesson].blocks["en"].values()
    texts = [
        block.text
        for block in blocks
        if block.id == f"{step}/ask.explain"
        or (
            block.id.startswith(f"{step}/ask.") and (".hint." in block.id or ".rubric." in block.id)
        )
    ]
    return [text for text in (plain(text.split("$")[0]) for text in texts) if len(text) > 20]


def words(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return " ".join(unescape(strip_tags(response.content.decode())).split())
