"""Units that a number may carry: how they are written, and what they are worth."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Unit:
    """`scale` turns a number in this unit into the base unit of its dimension."""

    name: str
    dimension: str
    scale: Fraction


def _table() -> dict[str, Unit]:
    units = [Unit("bytes", "bytes", Fraction(1)), Unit("percent", "percent", Fraction(1))]
    for power, letter in enumerate("kMGT", start=1):
        units.append(Unit(f"{letter}B", "bytes", Fraction(1000**power)))
        units.append(Unit(f"{letter.upper()}iB", "bytes", Fraction(1024**power)))
    units.append(Unit("seconds", "seconds", Fraction(1)))
    for power, letter in enumerate(("m", "µ", "n"), start=1):
        units.append(Unit(f"{letter}s", "seconds", Fraction(1, 1000**power)))
    return {unit.name: unit for unit in units}


UNITS = _table()

_SPELLINGS = {
    "bytes": "b byte bytes o octet octets bayt",
    "percent": "% ٪ percent pourcent yüzde",
    "seconds": "s sec second seconds seconde secondes sn saniye",
    "ms": "msn",
    "µs": "us μs",  # the second is the Greek letter
}


def _spellings() -> dict[str, str]:
    spelled = {name.casefold(): name for name in UNITS}
    for name in UNITS:
        if name.endswith("B"):  # French: ko, Mio
            spelled[f"{name[:-1]}o".casefold()] = name
    for name, words in _SPELLINGS.items():
        spelled |= {word.casefold(): name for word in words.split()}
    return spelled


_BY_SPELLING = _spellings()


def find_unit(written: str) -> Unit | None:
    """The unit so written, in English, French or Turkish; capitals do not matter."""
    name = _BY_SPELLING.get(written.strip().casefold())
    return UNITS[name] if name else None


def label(unit: str, language: str) -> str:
    """How the unit is written in the language: French counts in octets."""
    if unit == "percent":
        return "%"
    if language == "fr":
        if unit == "bytes":
            return "octets"
        if unit.endswith("B"):
            return f"{unit[:-1]}o"
    words = {"bytes": {"tr": "bayt"}, "seconds": {"en": "s", "fr": "s", "tr": "sn"}}
    return words.get(unit, {}).get(language, unit)
