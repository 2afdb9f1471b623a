"""Points: the machine's and the grader's, added up."""

from dataclasses import dataclass
from decimal import Decimal as D

import pytest

from classroom.scoring import Given, Marks, marks
from lessons.content.structure import Activity, NumberField, TextField


@dataclass
class Point:
    pk: int
    points: D
    is_retired: bool = False


MIXED = Activity("a", (NumberField("n", 1.0), NumberField("m", 2.0), TextField("t")))
TEXT = Activity("b", (TextField("t"),))
NUMBER = Activity("c", (NumberField("n", 1.0),))
RUBRIC = [Point(1, D(1)), Point(2, D("1.5")), Point(3, D(-1)), Point(4, D(2), True)]
RIGHT, WRONG = {"verdict": "right"}, {"verdict": "wrong"}
BROKEN, WAITS = {"verdict": "ungraded"}, {"verdict": "waiting"}
SENT = {"n": RIGHT, "m": WRONG, "t": WAITS}


@pytest.mark.parametrize(
    ("activity", "verdicts", "grade", "expected"),
    [
        (MIXED, None, None, Marks(None, D("4.5"))),
        (MIXED, SENT, None, Marks(D(1), D("4.5"), is_waiting=True)),
        (MIXED, SENT, Given(), Marks(D(1), D("4.5"))),
        (MIXED, SENT, Given([1, 2]), Marks(D("3.5"), D("4.5"))),
        (MIXED, SENT, Given([1, 3]), Marks(D(1), D("4.5"))),
        (MIXED, SENT, Given([3], D(-5)), Marks(D(0), D("4.5"))),
        (MIXED, SENT, Given([1, 2, 4]), Marks(D("4.5"), D("4.5"))),  # a retired one, kept
        (MIXED, SENT, Given([1, 2], D(3)), Marks(D("6.5"), D("4.5"))),
        (MIXED, SENT, Given([], D(99)), Marks(D(100), D("4.5"))),
        (MIXED, SENT, Given([1], is_ungradable=True), Marks(D(1), D(2), is_ungradable=True)),
        (
            MIXED,
            {"n": BROKEN, "m": RIGHT, "t": WAITS},
            Given([1]),
            Marks(D(2), D("3.5"), is_ungradable=True),
        ),
        (TEXT, {"t": WAITS}, None, Marks(None, D("2.5"), is_waiting=True)),
        (TEXT, {"t": WAITS}, Given([1]), Marks(D(1), D("2.5"))),
        (TEXT, {"t": WAITS}, Given(is_ungradable=True), Marks(None, D(0), is_ungradable=True)),
    ],
)
def test_marks_of_an_answer(
    activity: Activity, verdicts: dict[str, dict[str, str]] | None, grade: Given | None,
    expected: Marks,
) -> None:  # fmt: skip
    assert marks(activity, RUBRIC, verdicts, grade) == expected


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (RIGHT, Marks(D(1), D(1))),
        (WRONG, Marks(D(0), D(1))),
        (BROKEN, Marks(None, D(0), is_ungradable=True)),
    ],
)
def test_a_question_for_the_machine_waits_for_nobody(
    verdict: dict[str, str], expected: Marks
) -> None:
    assert marks(NUMBER, [], {"n": verdict}, None) == expected


def test_a_text_without_a_rubric_is_worth_one_point() -> None:
    assert marks(TEXT, [], {"t": WAITS}, None).possible == D(1)
