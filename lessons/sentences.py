"""Sentences about an answer, in the reader's language."""

from fractions import Fraction

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from lessons.checking import Problem, Verdict
from lessons.numbers import show_number


def problem_sentence(problem: Problem) -> str:
    """What stands in the way of submitting a field, and what to do about it."""
    what = problem.what
    counted = int(what) if what.isdecimal() else 0
    match problem.code:
        case "empty":
            return _("Write a number here.")
        case "not-a-number":
            return _("This cannot be read as a number. Write it like 12.5, 1.2e8 or 257/512.")
        case "too-long":
            return _("This is too long for a number.")
        case "unknown-unit":
            return _("The unit “%(unit)s” is not known here.") % {"unit": what}
        case "wrong-unit":
            return _("“%(unit)s” does not measure what is asked for.") % {"unit": what}
        case "unit-not-asked":
            return _("This number has no unit: leave “%(unit)s” out.") % {"unit": what}
        case "unclear":
            return _("This can be read in two ways. Which number do you mean?")
        case "choose-one":
            return _("Choose one of these.")
        case "choose-some":
            return _("Choose at least one of these.")
        case "order-all":
            return _("Put every line in its place.")
        case "empty-text":
            return _("Write your answer here.")
        case "too-short":
            return ngettext(
                "A little more, please: at least %(n)d more character.",
                "A little more, please: at least %(n)d more characters.",
                counted,
            ) % {"n": counted}
        case "text-too-long":
            return ngettext(
                "This is %(n)d character too long.", "This is %(n)d characters too long.", counted
            ) % {"n": counted}
    raise ValueError(f"no sentence for {problem.code}")


def verdict_word(verdict: str) -> str:
    return {
        Verdict.RIGHT: _("Right"),
        Verdict.WRONG: _("Not yet"),
        Verdict.WAITING: _("Waiting for an instructor"),
        Verdict.UNGRADED: _("Could not be checked"),
    }[Verdict(verdict)]


def verdict_sign(verdict: str) -> str:
    return {Verdict.RIGHT: "✓", Verdict.WRONG: "✗"}.get(Verdict(verdict), "·")


def reading(value: str, language: str) -> str:
    """One of the two readings of a number: 131,584 and 131.584 look alike to whoever is asked."""
    if "." in value:
        number = show_number(Fraction(value), language, 3)
        return _("%(number)s, with decimals") % {"number": number}
    return _("%(number)s, a whole number") % {"number": show_number(Fraction(value), language)}


def understood(shown: str) -> str:
    return _("Understood as %(number)s.") % {"number": shown}
