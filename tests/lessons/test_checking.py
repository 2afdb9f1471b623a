"""Answers are checked fairly: never guessed, never wrong by our fault."""

import pytest

from lessons import checking
from lessons.checking import Checked, Problem, Typed, Verdict, check, read
from lessons.content import structure as s

NUMBER = s.NumberField(
    "n",
    0.501953125,
    tolerance=s.Tolerance(0.0005),
    typical=(s.TypicalNumber(1.0, s.Tolerance(0.001), "by-n"),),
)
BYTES = s.NumberField("n", 240, accept=(228.9,), tolerance=s.Tolerance(relative=0.001), unit="MB")
ONE = s.ChoiceField("n", ("a", "b", "c"), ("a",), hints={"b": "not-b"})
MANY = s.ChoiceField("n", ("a", "b", "c"), ("a", "c"), multiple=True, hints={"b": "not-b"})
LEFT_OUT = s.ChoiceField("n", ("a", "b", "c"), ("a", "c"), multiple=True, hints={"c": "also-c"})
ORDER = s.OrderField(
    "n", ("x", "y", "z"), ("x", "y", "z"), typical=(s.TypicalOrder(("z", "y", "x"), "backwards"),)
)
PARTIAL = s.OrderField("n", ("x", "y", "z"), ("x", "y", "z"), before=(("x", "z"),))
TEXT = s.TextField("n", min=5, max=20, rubric=("r",))

RIGHT, WRONG = Checked(Verdict.RIGHT), Checked(Verdict.WRONG)


@pytest.mark.parametrize(
    ("field", "raw", "language", "verdict"),
    [
        (NUMBER, "0,502", "fr", RIGHT),
        (NUMBER, "257/512", "en", RIGHT),
        (NUMBER, "0.5024", "en", RIGHT),
        (NUMBER, "0.5025", "en", WRONG),
        (NUMBER, "1", "en", Checked(Verdict.WRONG, "by-n")),
        (BYTES, "240", "en", RIGHT),
        (BYTES, "240 Mo", "fr", RIGHT),
        (BYTES, "0,24 GB", "tr", RIGHT),
        (BYTES, "240000000 bytes", "en", RIGHT),
        (BYTES, "228.9 MB", "en", RIGHT),
        (BYTES, "228.9 MiB", "en", RIGHT),
        (BYTES, "480", "en", WRONG),
        (ONE, "a", "en", RIGHT),
        (ONE, "b", "en", Checked(Verdict.WRONG, "not-b")),
        (ONE, "c", "en", WRONG),
        (MANY, ["c", "a"], "en", RIGHT),
        (MANY, ["a"], "en", Checked(Verdict.WRONG, checking.INCOMPLETE)),
        (MANY, ["b"], "en", Checked(Verdict.WRONG, "not-b")),
        (LEFT_OUT, ["a"], "en", Checked(Verdict.WRONG, "also-c")),
        (LEFT_OUT, ["c"], "en", Checked(Verdict.WRONG, checking.INCOMPLETE)),
        (LEFT_OUT, ["b", "c"], "en", WRONG),
        (MANY, ["a", "b", "c"], "en", Checked(Verdict.WRONG, "not-b")),
        (ORDER, ["x", "y", "z"], "en", RIGHT),
        (ORDER, ["y", "x", "z"], "en", WRONG),
        (ORDER, ["z", "y", "x"], "en", Checked(Verdict.WRONG, "backwards")),
        (PARTIAL, ["y", "x", "z"], "en", RIGHT),
        (PARTIAL, ["z", "y", "x"], "en", WRONG),
        (TEXT, "long enough", "en", Checked(Verdict.WAITING)),
    ],
)
def test_what_was_typed_gets_its_verdict(
    field: s.Field, raw: str | list[str], language: str, verdict: Checked
) -> None:
    activity = s.Activity("a", (field,))
    reading = read(activity, {"n": Typed(raw)}, language)
    assert reading.problems == {}
    assert check(activity, reading.content) == {"n": verdict}


@pytest.mark.parametrize(
    ("field", "raw", "problem"),
    [
        (NUMBER, "", Problem("empty")),
        (NUMBER, "half", Problem("not-a-number")),
        (NUMBER, "1,234", Problem("unclear", readings=("1234", "1.234"))),
        (NUMBER, "5 MB", Problem("unit-not-asked", "MB")),
        (BYTES, "5 s", Problem("wrong-unit", "s")),
        (ONE, "", Problem("choose-one")),
        (ONE, "nonsense", Problem("choose-one")),
        (MANY, [], Problem("choose-some")),
        (ORDER, ["x", "y"], Problem("order-all")),
        (ORDER, ["x", "x", "y"], Problem("order-all")),
        (TEXT, "   ", Problem("empty-text")),
        (TEXT, "abc", Problem("too-short", "2")),
        (TEXT, "x" * 25, Problem("text-too-long", "5")),
    ],
)
def test_what_cannot_be_submitted_says_why(
    field: s.Field, raw: str | list[str], problem: Problem
) -> None:
    reading = read(s.Activity("a", (field,)), {"n": Typed(raw)}, "en")
    assert reading.problems == {"n": problem}
    assert reading.content["n"] == {"raw": raw}


def test_a_fault_of_ours_is_never_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> Checked:
        raise ZeroDivisionError

    monkeypatch.setattr(checking, "_check", broken)
    assert check(s.Activity("a", (NUMBER,)), {"n": {"raw": "1", "value": "1/1"}}) == {
        "n": Checked(Verdict.UNGRADED)
    }


def test_content_that_lost_its_value_is_ungraded() -> None:
    assert check(s.Activity("a", (NUMBER,)), {})["n"].verdict is Verdict.UNGRADED


@pytest.mark.parametrize("answer", [0.1, 0.3, 1e-6, 123456.789])
def test_a_key_is_the_decimal_that_was_written(answer: float) -> None:
    field = s.NumberField("n", answer)
    activity = s.Activity("a", (field,))
    reading = read(activity, {"n": Typed(repr(answer))}, "en")
    assert check(activity, reading.content)["n"].verdict is Verdict.RIGHT


def test_another_key_has_another_hash() -> None:
    first, second = s.Activity("a", (NUMBER,)), s.Activity("a", (BYTES,))
    assert checking.key_hash(first) != checking.key_hash(second)
    assert checking.key_hash(first) == checking.key_hash(s.Activity("a", (NUMBER,)))
