"""Answers made for demonstrations and tests are what they say they are."""

import random
from fractions import Fraction

import pytest

from classroom import filling
from lessons import checking
from lessons.content.structure import Activity
from tests.classroom import factories

LANGUAGES = ("en", "fr", "tr")
EVERY = [
    (activity, language)
    for course in ("rmsnorm", "andrea")
    for activity in factories.activities(course)
    for language in LANGUAGES
]


def verdicts(
    activity: Activity, typed: dict[str, checking.Typed], language: str
) -> list[checking.Verdict]:
    reading = checking.read(activity, typed, language)
    assert reading.problems == {}, f"{activity.id} {language}"
    return [found.verdict for found in checking.check(activity, reading.content).values()]


def test_a_right_answer_is_right_in_every_language() -> None:
    for activity, language in EVERY:
        found = verdicts(activity, filling.right(activity, language), language)
        assert set(found) <= {checking.Verdict.RIGHT, checking.Verdict.WAITING}, activity.id


def test_a_wrong_answer_has_one_field_wrong_and_no_more() -> None:
    chance = random.Random(5)
    for activity, language in EVERY:
        found = verdicts(activity, filling.wrong(activity, language, chance=chance), language)
        only_text = set(found) == {checking.Verdict.WAITING}
        assert found.count(checking.Verdict.WRONG) == (0 if only_text else 1), activity.id


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_are_typed_as_the_language_writes_them(language: str) -> None:
    for value in (0.501953125, 131584, 131.584, -1.4004683749, 1e-6, 0.00101):
        unlike = (1000 * Fraction(str(value))).__eq__  # what would be asked about, were it unclear
        found = checking.read_number(filling.number(value, language), language, fits=unlike)
        assert isinstance(found, checking.Read)
        assert float(found.value) == float(Fraction(f"{value:.10g}"))


@pytest.mark.django_db
def test_a_room_is_filled_as_if_everybody_had_sent_their_answers() -> None:
    room = factories.a_room(learners=3)
    asked = factories.activities()[:4]
    assert factories.fill(room, asked, tries=2) == 12
    rows = factories.Revision.objects.filter(answer__person__in=room.learners)
    assert rows.count() == 24
    single = factories.submit(room.learner, asked[0].id, typed={"layers": "15"})
    assert single.number == 3 and single.verdicts["layers"]["hint"] == "still-fits"
