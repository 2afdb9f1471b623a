"""Letters for matching: case and accents folded, the Turkish dotless ı and dotted İ included."""

import unicodedata

_TURKIC = str.maketrans({"I": "ı", "İ": "i"})


def casefold(text: str, language: str) -> str:
    """Case folded as the language does: in Turkish and Azeri I is the capital of ı, İ of i."""
    text = unicodedata.normalize("NFC", text)
    if language in ("tr", "az"):
        text = text.translate(_TURKIC)
    return unicodedata.normalize("NFC", text.casefold())


def fold(text: str, language: str) -> tuple[str, list[int]]:
    """Casefolded without accents, ı as i; and for each letter its place in `text`."""
    letters: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        for letter in unicodedata.normalize("NFKD", casefold(char, language)):
            if not unicodedata.combining(letter):
                letters.append("i" if letter == "ı" else letter)
                places.append(place)
    return "".join(letters), places
