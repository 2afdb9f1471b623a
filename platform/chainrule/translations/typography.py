"""The typography that each language owes its readers."""

import re
from collections.abc import Iterator

THIN = "\u202f"  # narrow no-break space
# Not prose: tags, placeholders, addresses, clock times and ratios, `code`.
NOT_PROSE = re.compile(r"<[^>]*>|%\(\w+\)[a-z]|\{\w*(?::[^{}]*)?\}|\b\w+://\S*|\d:\d|`[^`]*`|&\w+;")

Rule = tuple[str, re.Pattern[str]]
EVERYWHERE: list[Rule] = [
    ("three full stops for an ellipsis (…)", re.compile(r"\.\.\.")),
    ("a straight apostrophe (’)", re.compile(r"'")),
    ("straight quotation marks", re.compile(r'"')),
    ("two spaces in a row", re.compile(r"(?<=\S)  +(?=\S)")),
]
RULES: dict[str, list[Rule]] = {
    "en": [],
    "fr": [
        ("no narrow no-break space before ; : ! ?", re.compile(rf"(?<![{THIN}?!])[;:!?](?=\s|$)")),
        ("no narrow no-break space inside « »", re.compile(rf"«(?!{THIN})|(?<!{THIN})»")),
        ("no no-break space before %", re.compile(r"(?<![\u202f\u00a0])%(?=\W|$)")),
        ("English quotation marks", re.compile(r"[“”]")),
    ],
    "tr": [
        ("a percent sign after its number (%35)", re.compile(r"[\d\ufffc][\s\u202f\u00a0]?%")),
        ("French quotation marks", re.compile(r"[«»]")),
        ("a space before punctuation", re.compile(r"[\s\u202f\u00a0][;:!?,](?=\s|$)")),
    ],
}


def typography_faults(language: str, text: str) -> Iterator[str]:
    """The rules of that language that the text breaks, in words."""
    # An object-replacement character keeps the place of what was left out.
    prose = NOT_PROSE.sub("\ufffc", text.replace("%%", "%"))
    for what, pattern in (*EVERYWHERE, *RULES[language]):
        if pattern.search(prose):
            yield what
