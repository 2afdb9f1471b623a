"""What must be the same in every language: numbers, code, formulas, links, placeholders."""

import re
from collections import Counter
from collections.abc import Iterator

_FENCE = re.compile(r"^(```+)[^\n]*\n(.*?)^\1\s*$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_MATH = re.compile(r"(?<![\\$])\$(\$?)(.+?)(?<!\\)\$\1", re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)[^)]*\)")
_PLACEHOLDER = re.compile(r"\{[a-z_.:]+\}")
_VERSION = re.compile(
    r"\b(?:Triton|PyTorch|torch|Python|CUDA|Django|Linux)[\s\u00a0\u202f]\d+(\.\d+)+"
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SUPERSCRIPT = re.compile(r"⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
# Digits with the thousands separator of the language, then its decimal sign and more digits.
_NUMBERS = {
    "en": re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"),
    "fr": re.compile(r"(?:\d{1,3}(?:[\u202f\u00a0]\d{3})+|\d+)(?:,\d+)?"),
    "tr": re.compile(r"(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?"),
}
# One language may write a small number out where another writes a digit.
_WORDS = {
    "en": (
        "no|zero|nought one|ones|once|first two|twice|both|second|half|pair three|third "
        "four|fourth|quarter five six seven eight nine ten"
    ).split(),
    "fr": (
        "zéro|aucun|aucune|nul un|une|uns deux|demi|moitié|double trois|tiers "
        "quatre|quart cinq six sept huit neuf dix"
    ).split(),
    "tr": (
        "sıfır|hiç bir|tek|ilk iki|ikişer|yarı|çift üç dört|çeyrek beş altı yedi sekiz dokuz on"
    ).split(),
}
_THOUSANDS = {"en": ",", "fr": "\u202f\u00a0", "tr": "."}


def differences(source: str, source_language: str, text: str, language: str) -> Iterator[str]:
    """A sentence for each kind of literal that the translation changed."""
    ours, theirs = Literals(source, source_language), Literals(text, language)
    for name in ("code", "formulas", "links", "placeholders", "numbers"):
        here, there = getattr(theirs, name), getattr(ours, name)
        lost, added = there - here, here - there
        if name == "numbers":
            lost = Counter({n: c for n, c in lost.items() if not _spelled(n, text, language)})
            added = Counter(
                {n: c for n, c in added.items() if not _spelled(n, source, source_language)}
            )
        if lost or added:
            said = [f"lost {_list(lost)}"] * bool(lost) + [f"added {_list(added)}"] * bool(added)
            yield f"{name} differ from the source: {', '.join(said)}."


class Literals:
    """The literals of one block; numbers counted, the rest as sets."""

    def __init__(self, text: str, language: str) -> None:
        fences = _FENCE.findall(text)
        text = _FENCE.sub(" ", text)
        self.code = {code.strip() for _, code in _CODE.findall(text)}
        self.code |= {body for _, body in fences}
        text = _CODE.sub(" ", text)
        self.formulas = {re.sub(r"\s+", "", body) for _, body in _MATH.findall(text)}
        text = _MATH.sub(" ", text)
        self.links = set(_LINK.findall(text))
        text = _LINK.sub("] ", text)
        self.placeholders = set(_PLACEHOLDER.findall(text))
        self.numbers = Counter(_numbers(text, language))


def prose_only(text: str) -> str:
    """The text with code, formulas and link targets taken out."""
    for pattern in (_FENCE, _CODE, _MATH):
        text = pattern.sub("\ufffc", text)
    return _LINK.sub("]", text)


def without_versions(text: str) -> str:
    """`Triton 3.6` is a name, not a number: its dot stays in every language."""
    return _VERSION.sub("\ufffc", text)


def _numbers(text: str, language: str) -> Iterator[str]:
    text = without_versions(text)
    for power in _SUPERSCRIPT.findall(text):
        yield "^" + power.translate(_SUPERSCRIPTS)
    thousands = _THOUSANDS.get(language, "")
    for found in _NUMBERS.get(language, _NUMBERS["en"]).findall(text):
        plain = "".join(char for char in found if char not in thousands)
        yield plain.replace(",", ".")


def _spelled(number: str, text: str, language: str) -> bool:
    """Whether a text writes this small number out; in Turkish a suffix may follow."""
    if not number.isdecimal() or int(number) > 10 or language not in _WORDS:
        return False
    end = r"\w*" if language == "tr" else r"\b"
    words = _WORDS[language][int(number)]
    return re.search(rf"\b(?:{words}){end}", text.lower()) is not None


def _list(items: Counter[str] | set[str]) -> str:
    names = items.elements() if isinstance(items, Counter) else items
    return ", ".join(f"“{' '.join(name.split())}”" for name in sorted(names))
