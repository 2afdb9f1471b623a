"""Numbers as people type them, in the three languages."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from lessons.numbers import Read, Unclear, Unread, read_number, show_number, show_quantity
from lessons.units import UNITS, find_unit, label

EVERYWHERE = [
    ("257", "257"),
    ("12,5", "12.5"),
    ("12.5", "12.5"),
    ("0,502", "0.502"),  # no thousands begin with 0
    ("0.502", "0.502"),
    (",5", "0.5"),
    (".5", "0.5"),
    ("5.", "5"),
    ("1234,5", "1234.5"),
    ("1234.567", "1234.567"),  # four digits are no group
    ("1,2345", "1.2345"),
    ("1,234.5", "1234.5"),
    ("1.234,5", "1234.5"),
    ("1,234,567", "1234567"),
    ("1.234.567", "1234567"),
    ("1.234.567,25", "1234567.25"),
    ("120 000 000", "120000000"),
    ("120\u202f000\u202f000", "120000000"),  # narrow no-break space
    ("120\u00a0000\u00a0000", "120000000"),
    ("120\u2009000\u2009000", "120000000"),  # thin space
    ("1 234,5", "1234.5"),
    ("1 234.5", "1234.5"),
    ("1’234’567", "1234567"),
    ("-3", "-3"),
    ("−3", "-3"),  # U+2212
    ("–0,0905", "-0.0905"),
    ("+7", "7"),
    ("− 3", "-3"),
    ("1.2e8", "120000000"),
    ("1,2e8", "120000000"),
    ("1,2E8", "120000000"),
    ("1.2e-3", "0.0012"),
    ("1,2·10⁸", "120000000"),
    ("1.2×10^8", "120000000"),
    ("1,2 x 10^8", "120000000"),
    ("1.2*10**8", "120000000"),
    ("10⁸", "100000000"),
    ("5,96·10⁻⁸", "0.0000000596"),
    ("2^10", "1024"),
    ("2⁻³", "0.125"),
    ("1/4", "0.25"),
    ("257/512", "0.501953125"),
    ("257⁄512", "0.501953125"),  # fraction slash
    ("٢٥٧", "257"),  # Arabic-Indic
    ("۲۵۷", "257"),  # Persian
    ("२५७", "257"),  # Devanagari
    ("٢٥٧٫٥", "257.5"),  # with the Arabic decimal sign
    ("２５７", "257"),  # full width
    ("≈ 0,5", "0.5"),
    ("~12", "12"),
    ("  42  ", "42"),
]
DECIDED_BY_LANGUAGE = [
    ("422,024", "en", "422024"),
    ("422.024", "tr", "422024"),
    ("422.024", "fr", "422.024"),  # the point of the numeric keypad
    ("1,234e8", "en", "123400000"),  # a mantissa has decimals, no thousands
    ("1.234·10⁸", "tr", "123400000"),
    ("1,234/5", "en", "246.8"),
    ("1,234/5,678", "en", f"{Fraction(1234, 5678)}"),
    ("1,234", "fr", "1.234"),
    ("1,234", "tr", "1.234"),
    ("1.234", "en", "1.234"),
    ("131,584", "fr", "131.584"),
]
UNCLEAR = [  # what was typed, where, how large it should be
    ("1,234", "en", 1.2),
    ("1.234", "en", 1300),
    ("131,584", "en", 128.5),
    ("422.024", "en", 422_024),
    ("1,234", "fr", 1000),
    ("1.234", "fr", 1000),
    ("422,024", "fr", 422_024),
    ("422,024", "tr", 422_024),
    ("1.234", "tr", 1.4),
    ("-1.234", "tr", -1.4),
    ("1.200", "tr", 1.2),
    ("131.584 bayt", "fr", 131_584),
    ("1,234e3", "en", 1_234_000),
]
NOT_NUMBERS = [
    "abc", "1,23,4", "1.2.3", "1 23", "12 34", "--3", "1e", "e8", "10^", "1/0", "1/2/3",
    "1e999999999", "10^99999", ".", ",", "1,,2", "NaN", "inf", "0x10", "१२ ३", "1,2,3.4.5",
    "$5", "<b>1</b>", "1;2",
]  # fmt: skip


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
@pytest.mark.parametrize(("raw", "value"), EVERYWHERE)
def test_these_read_the_same_in_every_language(raw: str, value: str, language: str) -> None:
    assert read_number(raw, language) == Read(Fraction(value), None)


@pytest.mark.parametrize(("raw", "language", "value"), DECIDED_BY_LANGUAGE)
def test_the_language_decides_what_its_own_decimal_sign_is(
    raw: str, language: str, value: str
) -> None:
    assert read_number(raw, language) == Read(Fraction(value), None)


def about(size: float) -> Callable[[Fraction], bool]:
    return lambda value: abs(size) / 30 < abs(value) < abs(size) * 30


@pytest.mark.parametrize(("raw", "language", "size"), UNCLEAR)
def test_a_number_a_thousand_times_off_is_asked_about_and_never_guessed(
    raw: str, language: str, size: float
) -> None:
    unit = "bytes" if "bayt" in raw else None
    found = read_number(raw, language, unit, fits=about(size))
    assert isinstance(found, Unclear)
    values = [read_number(raw, language, unit, reading) for reading in found.readings]
    assert all(isinstance(value, Read) for value in values)
    whole, broken = (value.value for value in values if isinstance(value, Read))
    assert whole == 1000 * broken
    assert about(size)(whole) != about(size)(broken)
    usual = values[found.readings.index(found.usual)]
    assert usual == read_number(raw, language, unit)
    assert isinstance(usual, Read) and not about(size)(usual.value)


@pytest.mark.parametrize("size", [422_024, 1, 1e12])
@pytest.mark.parametrize(("raw", "language"), [("422,024", "en"), ("422.024", "tr")])
def test_the_language_s_own_thousands_are_not_asked_about(
    raw: str, language: str, size: float
) -> None:
    """Where they fit, and where neither reading does."""
    assert read_number(raw, language, fits=about(size)) == Read(Fraction(422_024), None)


def test_a_reading_that_was_not_offered_is_not_taken() -> None:
    found = read_number("1,234", "en", reading="0.501953125", fits=about(1))
    assert isinstance(found, Unclear)


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
@pytest.mark.parametrize("raw", NOT_NUMBERS)
def test_what_is_no_number_is_not_guessed(raw: str, language: str) -> None:
    assert isinstance(read_number(raw, language), Unread)


@pytest.mark.parametrize(
    ("raw", "language", "asked", "value"),
    [
        ("240 MB", "en", "bytes", "240000000"),
        ("240MB", "en", "bytes", "240000000"),
        ("228.9 MiB", "en", "bytes", "240019046.4"),
        ("0.24 GB", "en", "bytes", "240000000"),
        ("0,24 Go", "fr", "bytes", "240000000"),
        ("240 Mo", "fr", "bytes", "240000000"),
        ("128,5 Kio", "fr", "bytes", "131584"),
        ("128,5 KiB", "tr", "bytes", "131584"),
        ("131 584 octets", "fr", "bytes", "131584"),
        ("131584 o", "fr", "bytes", "131584"),
        ("131584", "en", "bytes", "131584"),
        ("131584 bayt", "tr", "bytes", "131584"),
        ("960 mb", "en", "MB", "960"),
        ("0.96 GB", "en", "MB", "960"),
        ("70,71 µs", "fr", "µs", "70.71"),
        ("70.71 μs", "en", "µs", "70.71"),  # the Greek letter
        ("70.71 us", "en", "µs", "70.71"),
        ("0.07071 ms", "en", "µs", "70.71"),
        ("3 sn", "tr", "seconds", "3"),
        ("35 %", "en", "percent", "35"),
        ("35\u202f%", "fr", "percent", "35"),
        ("%35", "tr", "percent", "35"),
        ("% 35,5", "tr", "percent", "35.5"),
        ("35", "en", "percent", "35"),
    ],
)
def test_units_are_understood_in_each_language(
    raw: str, language: str, asked: str, value: str
) -> None:
    found = read_number(raw, language, asked)
    assert isinstance(found, Read)
    assert found.value == Fraction(value)


@pytest.mark.parametrize(
    ("raw", "asked", "reason"),
    [
        ("", None, "empty"),
        ("   ", None, "empty"),
        ("1" * 81, None, "too-long"),
        ("1²" * 10_000, None, "too-long"),
        ("1e400", None, "not-a-number"),  # no page could show it
        ("9e299 TB", "bytes", "not-a-number"),
        ("5 parsecs", "seconds", "unknown-unit"),
        ("5 MB", "seconds", "wrong-unit"),
        ("5 MB", None, "unit-not-asked"),
        ("35 %", None, "unit-not-asked"),
        ("five", None, "not-a-number"),
    ],
)
def test_what_cannot_be_read_says_why(raw: str, asked: str | None, reason: str) -> None:
    found = read_number(raw, "en", asked)
    assert isinstance(found, Unread)
    assert found.reason == reason


@pytest.mark.parametrize(
    ("value", "decimals", "en", "fr", "tr"),
    [
        (0.501953125, None, "0.501953125", "0,501953125", "0,501953125"),
        (0.501953125, 4, "0.5020", "0,5020", "0,5020"),
        (131584, None, "131,584", "131\u202f584", "131.584"),
        (4096, None, "4096", "4096", "4096"),
        (-1.4, None, "−1.4", "−1,4", "−1,4"),
        (1.19e-7, None, "1.19·10⁻⁷", "1,19·10⁻⁷", "1,19·10⁻⁷"),
        (0, None, "0", "0", "0"),
        (1, 0, "1", "1", "1"),
    ],
)
def test_numbers_are_shown_as_the_language_writes_them(
    value: float, decimals: int | None, en: str, fr: str, tr: str
) -> None:
    assert [show_number(value, language, decimals) for language in ("en", "fr", "tr")] == [
        en,
        fr,
        tr,
    ]


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
@pytest.mark.parametrize(
    "value", ["0.501953125", "131584", "422024", "1234567.25", "-0.0905", "12", "0.0012"]
)
def test_what_is_shown_can_be_typed_back(value: str, language: str) -> None:
    shown = show_number(Fraction(value), language)
    found = read_number(shown, language)
    assert found == Read(Fraction(value), None)


def test_a_quantity_is_shown_with_its_unit() -> None:
    assert show_quantity(240, "MB", "fr") == "240\u00a0Mo"
    assert show_quantity(131584, "bytes", "tr") == "131.584\u00a0bayt"
    assert [show_quantity(35, "percent", lang) for lang in ("en", "fr", "tr")] == [
        "35%",
        "35\u202f%",
        "%35",
    ]


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
def test_every_unit_has_a_sign_of_the_language(language: str) -> None:
    assert label("percent", language) == "%"
    own = {unit: label(unit, language) for unit in UNITS}
    assert all(find_unit(sign) == UNITS[unit] for unit, sign in own.items())
