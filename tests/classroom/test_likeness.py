"""Answers that say the same, across languages and ways of writing."""

from typing import Any

import pytest

from classroom.likeness import likeness, normal_text
from lessons import checking
from lessons.checking import Typed
from lessons.content.structure import (
    Activity,
    ChoiceField,
    NumberField,
    OrderField,
    TextField,
)

NUMBER = Activity("n", (NumberField("x", 1.0, unit="bytes"),))
RATIO = Activity("r", (NumberField("x", 0.5),))
CHOICE = Activity("c", (ChoiceField("x", ("a", "b", "c"), ("a", "b"), multiple=True),))
ORDER = Activity("o", (OrderField("x", ("a", "b"), ("a", "b")),))
TEXT = Activity("t", (TextField("x"),))


def of(activity: Activity, raw: str | list[str], language: str = "en") -> str:
    reading = checking.read(activity, {"x": Typed(raw)}, language)
    assert not reading.problems
    content: dict[str, dict[str, Any]] = reading.content
    return likeness(activity, content, language)


@pytest.mark.parametrize(
    ("activity", "one", "other"),
    [
        (NUMBER, ("131584", "en"), ("131\u202f584", "fr")),
        (NUMBER, ("128.5 KiB", "en"), ("128,5 Kio", "fr")),
        (NUMBER, ("131,584.0", "en"), ("131.584,0", "tr")),
        (RATIO, ("0.5", "en"), ("1/2", "fr")),
        (RATIO, ("0,50", "tr"), ("5e-1", "en")),
        (CHOICE, (["b", "a"], "en"), (["a", "b"], "tr")),
        (ORDER, (["b", "a"], "en"), (["b", "a"], "fr")),
        (TEXT, ("The Mean.", "en"), ("  the\nmean ", "en")),
        (TEXT, ("“Café”", "fr"), ("cafe\u0301 !", "fr")),
        (TEXT, ("IŞIK", "tr"), ("ışık", "tr")),
        (TEXT, ("İyi", "tr"), ("iyi", "tr")),
    ],
)
def test_these_say_the_same(activity: Activity, one: Any, other: Any) -> None:
    assert of(activity, *one) == of(activity, *other)


@pytest.mark.parametrize(
    ("activity", "one", "other"),
    [
        (NUMBER, ("131584", "en"), ("131585", "en")),
        (CHOICE, (["a"], "en"), (["a", "b"], "en")),
        (ORDER, (["a", "b"], "en"), (["b", "a"], "en")),
        (TEXT, ("-1", "en"), ("1", "en")),
        (TEXT, ("f(x)", "en"), ("f(x", "en")),
        (TEXT, ("IŞIK", "tr"), ("işik", "tr")),
        (TEXT, ("N = 1", "en"), ("N ≠ 1", "en")),
    ],
)
def test_these_do_not(activity: Activity, one: Any, other: Any) -> None:
    assert of(activity, *one) != of(activity, *other)


def test_only_turkish_folds_as_turkish() -> None:
    assert normal_text("I", "en") == "i"
    assert normal_text("I", "tr") == "ı"
