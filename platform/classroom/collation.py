"""Names in the order that readers of a language expect."""

import unicodedata

# Turkish has letters between ours: each right after the one it looks like, ı before i.
_TURKISH = {"ç": "c\uffff", "ğ": "g\uffff", "ı": "h\uffff", "ö": "o\uffff", "ş": "s\uffff",
            "ü": "u\uffff"}  # fmt: skip


def collation_key(text: str, language: str) -> tuple[str, str]:
    """Accents and capitals decide only between names that are otherwise the same."""
    if language == "tr":
        lowered = unicodedata.normalize("NFC", text).replace("İ", "i").replace("I", "ı").lower()
        spread = "".join(_TURKISH.get(letter, letter) for letter in lowered)
        return _bare(spread), text
    return _bare(text), text


def _bare(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(part for part in parts if not unicodedata.combining(part))
