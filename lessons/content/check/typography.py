"""The small signs, right in each language."""

import re
from collections.abc import Iterator

from lessons.content.check.blocks import folders
from lessons.content.check.literals import prose_only, without_versions
from lessons.content.faults import Fault
from lessons.content.library import Shelf

Rule = tuple[re.Pattern[str], str]

_EVERYWHERE: list[Rule] = [
    (re.compile(r"'"), "a straight apostrophe; write ’"),
    (re.compile(r'"'), "a straight quotation mark; write the language’s own"),
    (re.compile(r"\.\.\."), "three dots; write …"),
    (re.compile(r"<[a-zA-Z/!]"), "raw HTML is not allowed"),
    (re.compile(r"!\["), "an image; use a figure"),
]
_RULES: dict[str, list[Rule]] = {
    "en": [(re.compile(r"[«»]"), "guillemets; write “ ”")],
    "fr": [
        (re.compile(r"[^\s\u202f!?][;!?]|[ \u00a0][;!?]"), "write U+202F before ; ! ?"),
        (re.compile(r"[ \u00a0]:(?=\s|$)|[^\s\u202f]:(?=\s|$)"), "write U+202F before :"),
        (re.compile(r"«(?!\u202f)"), "write U+202F after «"),
        (re.compile(r"(?<!\u202f)»"), "write U+202F before »"),
        (re.compile(r"[“”]"), "English quotation marks; write « »"),
        (re.compile(r"\d\.\d"), "a decimal point; write a comma"),
        (re.compile(r"\d,\d{3},\d"), "thousands with commas; write U+202F"),
        (re.compile(r"\d[ \u00a0]\d{3}\b"), "thousands with an ordinary space; write U+202F"),
        (re.compile(r"\d(?:[ \u00a0])?%"), "write U+202F before %"),
    ],
    "tr": [
        (re.compile(r"[«»]"), "guillemets; write “ ”"),
        (re.compile(r"\d[ \u00a0\u202f]?%"), "write the percent sign first: %35"),
        (re.compile(r"\d,\d{3},\d"), "thousands with commas; write dots"),
        (
            re.compile(r"(?<![\d.])(?:\d+\.(?!\d{3}(?!\d))\d+|0\.\d+)"),
            "a decimal point; write a comma",
        ),
    ],
}


def typography_faults(shelf: Shelf) -> Iterator[Fault]:
    for folder in folders(shelf):
        for language in folder.texts.languages:
            for block in folder.texts.blocks[language].values():
                for sentence in mistakes(block.text, language):
                    yield Fault(folder.file(language), block.id, sentence)
                if _is_title(block.id) and "\n" in block.text.strip():
                    yield Fault(folder.file(language), block.id, "a title is one line.")


def mistakes(text: str, language: str) -> Iterator[str]:
    """A sentence for each rule that the prose breaks, with the place quoted."""
    prose = without_versions(prose_only(text))
    for pattern, sentence in [*_EVERYWHERE, *_RULES.get(language, [])]:
        match = pattern.search(prose)
        if match:
            around = prose[max(0, match.start() - 18) : match.end() + 12]
            quoted = " ".join(around.replace("\ufffc", "▯").split("\n"))
            yield f"{sentence} (at “{quoted.strip(' ')}”)."


def _is_title(block: str) -> bool:
    return block.rpartition("/")[2] in ("title", "ask.title")
