"""Numbers as people type them, in any language: read, shown as understood, asked when unclear.

What decides is the reader's language: `422,024` is 422024 to an English reader and 422.024 to a
French or Turkish one; `422.024` is 422024 to a Turkish reader. People also type what they see in
code, or the signs of another language: where the language's reading is out of all proportion and
the other one, a thousand times more or less, is not, the page asks. The text typed is always kept
beside the number read.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from lessons.units import UNITS, Unit, find_unit, label

LONGEST = 80
_HIGHEST_EXPONENT = 400
_LARGEST = 10**300  # beyond it a float cannot show it
_SEPARATORS = {"en": (".", ","), "fr": (",", "\u202f"), "tr": (",", ".")}  # decimal, thousands
_SPACES = " \u00a0\u202f\u2009\u2007\u2006\u2008\u200a\u205f'’"
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺"
_SIMPLE = str.maketrans(
    {"−": "-", "–": "-", "‐": "-", "‑": "-", "﹣": "-", "－": "-", "＋": "+", "⁄": "/", "÷": "/"}
    | {"×": "*", "·": "*", "⋅": "*", "∙": "*", "✕": "*", "٫": ".", "٬": "\u202f", "٪": "%"}
    | {"．": ".", "，": ","}
)
_FORM = re.compile(
    r"""(?P<sign>[-+]?)\s*
    (?P<body>\d[\d.,\s'’]*?|[.,]\d+)?
    (?:\s*(?:[eE](?P<e>[-+]?\d+)|(?P<times>[*x]?)\s*(?P<base>10|2)\s*(?:\^|\*\*)\s*(?P<power>[-+]?\d+)))?
    (?:\s*/\s*(?P<under>\d[\d.,\s'’]*?))?
    \s*(?P<unit>%|[^\W\d_][\w]*)?""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Read:
    """A number understood; `value` is in the unit that the field asked for."""

    value: Fraction
    unit: str | None


@dataclass(frozen=True)
class Unclear:
    """Two readings of one text, in plain notation (1234 and 1.234): the person chooses."""

    readings: tuple[str, str]
    usual: str  # the one that the language gives


@dataclass(frozen=True)
class Unread:
    """Why the text is no number, as a code that the page turns into a sentence."""

    reason: str  # empty, not-a-number, too-long, unknown-unit, wrong-unit, unit-not-asked
    what: str = ""


def read_number(
    raw: str,
    language: str,
    unit: str | None = None,
    reading: str = "",
    fits: Callable[[Fraction], bool] | None = None,
) -> Read | Unclear | Unread:
    """What `raw` says in `language`; a number typed without a unit is taken in `unit`.

    `fits` tells a value (in `unit`) that can be meant from one that cannot; without it the language
    alone decides. `reading` is the choice made among the readings of an Unclear number.
    """
    if len(raw.strip()) > LONGEST:  # before anything looks at it letter by letter
        return Unread("too-long")
    text = _normal(raw)
    if not text:
        return Unread("empty")
    percent_first = text.startswith("%")  # %35, as in Turkish
    match = _FORM.fullmatch(text[1:].strip() + "%" if percent_first else text)
    if match is None or not (match["body"] or match["base"]):
        return Unread("not-a-number")
    if match["body"] and match["base"] and not match["times"]:
        return Unread("not-a-number")
    found = _unit(match["unit"], unit)
    if isinstance(found, Unread):
        return found
    scientific = bool(match["e"] or match["base"])
    body = _digits(match["body"] or "1", language, scientific)
    under = _digits(match["under"] or "1", language, scientific)
    if isinstance(body, Unread):
        return body
    if isinstance(under, Unread):
        return under
    usual = _value(match, body.usual, under.usual, found, unit)
    if (body.other is None) == (under.other is None):  # of 1.234/5.678 the quotient is one
        return usual
    other = _value(match, body.other or body.usual, under.other or under.usual, found, unit)
    return _chosen(body if body.other else under, usual, other, reading, fits)


def _chosen(
    digits: "_Digits",
    usual: Read | Unread,
    other: Read | Unread,
    reading: str,
    fits: Callable[[Fraction], bool] | None,
) -> Read | Unclear | Unread:
    """The reading that was chosen; else the language's, unless only the other one fits."""
    assert digits.other is not None
    whole, broken = max(digits.usual, digits.other), min(digits.usual, digits.other)
    names = (f"{whole}", f"{float(broken):.3f}")
    mine = names[digits.usual == broken]
    if reading in names:
        return usual if reading == mine else other
    if not fits or not isinstance(usual, Read) or not isinstance(other, Read):
        return usual
    if fits(usual.value) or not fits(other.value):
        return usual
    return Unclear(names, mine)


def _value(
    match: re.Match[str], body: Fraction, under: Fraction, typed: Unit | None, unit: str | None
) -> Read | Unread:
    exponent = int(match["e"] or match["power"] or 0)
    if abs(exponent) > _HIGHEST_EXPONENT:
        return Unread("not-a-number")
    if under == 0:
        return Unread("not-a-number")
    value = body * Fraction(int(match["base"] or 10)) ** exponent / under
    if match["sign"] == "-":
        value = -value
    if typed and unit:
        value = value * typed.scale / UNITS[unit].scale
    if abs(value) > _LARGEST:
        return Unread("not-a-number")
    return Read(value, typed.name if typed else unit)


def _normal(raw: str) -> str:
    """ASCII digits and signs; superscripts as ^n; an approximation sign in front dropped."""
    text = ""
    for char in unicodedata.normalize("NFC", raw).strip():
        if char in _SUPERSCRIPTS:
            text += ("" if text and text[-1] in "^-+" or _raised(text) else "^") + (
                {"⁻": "-", "⁺": "+"}.get(char) or str(unicodedata.digit(char))
            )
        else:
            digit = unicodedata.decimal(char, None)
            text += char if digit is None else str(digit)
    text = text.translate(_SIMPLE).strip()
    return text.lstrip("≈~=").strip()


def _raised(text: str) -> bool:
    """Whether the text ends in the digits of an exponent begun by a superscript."""
    return re.search(r"\^[-+]?\d*$", text) is not None


def _unit(written: str | None, asked: str | None) -> Unit | None | Unread:
    if written is None:
        return None
    found = find_unit(written)
    if found is None:
        return Unread("unknown-unit", written)
    if asked is None:
        return Unread("unit-not-asked", written)
    if found.dimension != UNITS[asked].dimension:
        return Unread("wrong-unit", written)
    return found


@dataclass(frozen=True)
class _Digits:
    """What digits say in the language, and what else they may say, 1000 times more or less."""

    usual: Fraction
    other: Fraction | None = None


def _digits(body: str, language: str, scientific: bool) -> _Digits | Unread:
    """Digits with separators, read as the language writes them."""
    text = body.strip(_SPACES)
    if any(space in text for space in _SPACES):
        text = _without_spaces(text)
        if not text:
            return Unread("not-a-number")
        return _certain(_plain(text, "," if "," in text else "."))
    dots, commas = text.count("."), text.count(",")
    if dots and commas:
        return _certain(_grouped(text, text[max(text.rfind("."), text.rfind(","))]))
    separator = "." if dots else ","
    if dots + commas == 0:
        return _Digits(Fraction(text))
    if dots + commas > 1:
        return _certain(_grouped(text, "," if dots else "."))
    if not re.fullmatch(r"[1-9]\d{0,2}[.,]\d{3}", text):
        return _certain(_plain(text, separator))  # 0,502 or 12,5: no thousands look like that
    whole, broken = Fraction(text.replace(separator, "")), Fraction(text.replace(",", "."))
    _decimal, thousands = _SEPARATORS.get(language, _SEPARATORS["en"])
    grouped = separator == thousands and not scientific  # in 1.234e8 it is a decimal sign
    return _Digits(whole, broken) if grouped else _Digits(broken, whole)


def _certain(value: Fraction | Unread) -> _Digits | Unread:
    return value if isinstance(value, Unread) else _Digits(value)


def _without_spaces(text: str) -> str:
    """`120 000 000` and `1 234,5` without their spaces; empty when those group no thousands."""
    tidy = re.sub(rf"[{_SPACES}]", " ", text)
    whole = re.split(r"[.,]", tidy, maxsplit=1)[0]
    rest = tidy[len(whole) :]
    if not re.fullmatch(r"\d{1,3}( \d{3})+", whole) or rest.count(".") + rest.count(",") > 1:
        return "" if whole.strip().count(" ") or rest.count(" ") > 3 else tidy.replace(" ", "")
    return tidy.replace(" ", "")


def _grouped(text: str, decimal: str) -> Fraction | Unread:
    """Several separators: `decimal` ends the whole part, the other one groups by three."""
    thousands = "," if decimal == "." else "."
    whole, _, rest = text.partition(decimal)
    if not re.fullmatch(rf"\d{{1,3}}({re.escape(thousands)}\d{{3}})+", whole):
        return Unread("not-a-number")
    if rest and not rest.isdigit():
        return Unread("not-a-number")
    return Fraction(f"{whole.replace(thousands, '')}.{rest or 0}")


def _plain(text: str, decimal: str) -> Fraction | Unread:
    text = text.replace(decimal, ".")
    if not re.fullmatch(r"\d*\.?\d*", text) or text == ".":
        return Unread("not-a-number")
    return Fraction(text.strip(".") if text.endswith(".") else f"0{text}")


def decimal_sign(language: str) -> str:
    return _SEPARATORS.get(language, _SEPARATORS["en"])[0]


def show_number(value: Fraction | float, language: str, decimals: int | None = None) -> str:
    """The number as the language writes it: at most 10 significant digits, or `decimals`."""
    decimal, thousands = _SEPARATORS.get(language, _SEPARATORS["en"])
    exact = float(value)
    size = abs(exact)
    if size and (size >= 1e15 or size < 1e-4) and decimals is None:
        mantissa, _, exponent = f"{exact:.9e}".partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".").replace(".", decimal)
        return f"{mantissa.replace('-', '−')}·10{_raise(int(exponent))}"
    if decimals is None:
        decimals = max(0, 10 - len(str(int(size))))
        text = f"{exact:,.{decimals}f}".rstrip("0").rstrip(".") if decimals else f"{exact:,.0f}"
    else:
        text = f"{exact:,.{decimals}f}"
    if size < 10_000:  # N = 4096: four digits keep together
        text = text.replace(",", "")
    signs = {",": thousands, ".": decimal, "-": "−"}
    return "".join(signs.get(char, char) for char in text)


def show_quantity(
    value: Fraction | float, unit: str | None, language: str, decimals: int | None = None
) -> str:
    """The number with its unit: 240 Mo in French, %35 in Turkish."""
    number = show_number(value, language, decimals)
    if unit is None:
        return number
    if unit == "percent":
        return {"en": f"{number}%", "tr": f"%{number}"}.get(language, f"{number}\u202f%")
    return f"{number}\u00a0{label(unit, language)}"


def _raise(exponent: int) -> str:
    return str(exponent).translate(str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"))
