"""Numbers and sentences in the reader's language, as the page's own script writes them."""

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cache
from typing import Any

from babel import Locale

from kernels.marking import Counted
from runner.words import words

SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
SPECIAL = {"nan": "NaN", "inf": "∞", "-inf": "−∞"}


def number(value: Any, language: str, digits: int = 7) -> str:
    """`value` to that many significant digits; tiny and huge ones as a power of ten.

    Four-digit whole numbers keep together (N = 4096), longer ones are grouped.
    """
    if isinstance(value, str):
        return SPECIAL.get(value, value)
    if isinstance(value, int) or value.is_integer():
        return decimal(Decimal(value), language)
    if value != value or value in (float("inf"), float("-inf")):
        return SPECIAL[str(value)]
    if value and not 1e-4 <= abs(value) < 1e9:
        mantissa, exponent = f"{value:.{min(digits, 3) - 1}e}".split("e")
        power = str(int(exponent)).translate(SUPERSCRIPTS)
        return f"{decimal(Decimal(mantissa).normalize(), language)} × 10{power}"
    return decimal(Decimal(f"{value:.{digits}g}"), language)


def digits(value: float, count: int) -> float:
    """To so many significant digits; a half goes up, as a browser rounds."""
    exact = Decimal(value)
    return float(Context(prec=count, rounding=ROUND_HALF_UP).create_decimal(exact))


def decimal(value: Decimal, language: str) -> str:
    """Written out with the language's own signs; a page may hold hundreds of numbers."""
    point, group = separators(language)
    whole, _, rest = f"{abs(value):f}".partition(".")
    if len(whole) > 4:
        whole = f"{int(whole):,}".replace(",", group)
    rest = rest.rstrip("0")
    sign = "−" if value < 0 else ""
    return f"{sign}{whole}{point}{rest}" if rest else f"{sign}{whole}"


@cache
def separators(language: str) -> tuple[str, str]:
    symbols = Locale.parse(language).number_symbols["latn"]
    return symbols["decimal"], symbols["group"]


class Wording:
    """The words and messages of one language, and how numbers stand in them."""

    def __init__(self, language: str, messages: Mapping[str, str]) -> None:
        self.language = language
        self.messages = messages
        self.words = words(language)

    def number(self, value: Any, digits: int = 7) -> str:
        return number(value, self.language, digits)

    def seconds(self, value: float) -> str:
        point, _group = separators(self.language)
        return f"{value:.1f}".replace(".", point) + " s"

    def say(self, key: str, **params: Any) -> str:
        """One of our own words, filled; a counted one is chosen by `n`."""
        text = self.words[key]
        if isinstance(text, dict):
            text = text["one" if singular(params["n"], self.language) else "other"]
        return self.fill(text, params)

    def note(self, note: Mapping[str, Any] | None) -> str:
        """A Note's sentence; a code without a template shows itself and what it carried."""
        if not note:
            return ""
        params = note.get("params", {})
        template = self.messages.get(note["code"])
        if template is None:
            return " ".join([note["code"], *(f"{k}={self.number(v)}" for k, v in params.items())])
        if isinstance(template, Counted) and singular(params.get(template.by), self.language):
            template = template.one
        return self.fill(template, params)

    def named(self, code: str, otherwise: str) -> str:
        """The name of a column, metric or table, or its key where it has none."""
        return self.messages.get(code, otherwise)

    def unit(self, code: str | None) -> str:
        return self.named(f"unit.{code}", code) if code else ""

    def named_value(self, value: Any, digits: int = 7) -> str:
        """A label or a cell: by its name where it has one, a number as numbers are written."""
        if isinstance(value, str):
            return self.messages.get(f"name.{value}", self.number(value))
        return self.number(value, digits)

    def cell(self, value: Any, digits: int = 7) -> str:
        """The same, where nothing may stand."""
        return "–" if value is None else self.named_value(value, digits)

    def fill(self, template: str, params: Mapping[str, Any]) -> str:
        for name, value in params.items():
            shown = phase(value, self) if name == "phase" else self.number(value, 6)
            template = template.replace("{" + name + "}", shown)
        return template


def phase(name: str, wording: Wording) -> str:
    """What a phase of a training is called."""
    return wording.named(f"phase.{name}", name)


def singular(n: Any, language: str) -> bool:
    return n == 1 or language == "fr" and isinstance(n, int | float) and 0 <= n < 2
