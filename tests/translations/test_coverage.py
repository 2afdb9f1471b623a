"""Nothing that a reader sees is left out of the catalogues."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

TEMPLATES = sorted((settings.BASE_DIR / "templates").rglob("*.html"))
SCRIPTS = sorted((settings.BASE_DIR / "static" / "js").rglob("*.js"))
MARKED = re.compile(r"\{% blocktranslate.*?endblocktranslate %\}", re.DOTALL)
COMMENT = re.compile(r"\{% comment.*?endcomment %\}|\{#.*?#\}", re.DOTALL)
TAG = re.compile(r"\{[%{].*?[%}]\}", re.DOTALL)
TWO_WORDS = re.compile(r"[A-Za-z]{2,}[,:]? +[a-z]{2,}")
SPOKEN = {"aria-label", "aria-description", "alt", "title", "placeholder"}
STRING = re.compile(r"""(["'`])((?:(?!\1)[^\\\n]|\\.)*)\1""")


class Spoken(HTMLParser):
    """Collects the text and the attributes of a template that a reader sees or hears."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.words += [value for name, value in attrs if name in SPOKEN and value]


def named(file: Path) -> str:
    return str(file.relative_to(settings.BASE_DIR))


@pytest.mark.parametrize("template", TEMPLATES, ids=named)
def test_a_template_says_nothing_that_is_not_marked(template: Path) -> None:
    text = template.read_text()
    for pattern in (MARKED, COMMENT, TAG):
        text = pattern.sub("¦", text)
    reader = Spoken()
    reader.feed(text)
    assert [words.strip() for words in reader.words if TWO_WORDS.search(words)] == []


@pytest.mark.parametrize("script", SCRIPTS, ids=named)
def test_a_script_holds_no_sentence_of_its_own(script: Path) -> None:
    """Scripts take their words from the page, where the server has translated them."""
    text = re.sub(r"/\*.*?\*/", "", script.read_text(), flags=re.DOTALL)
    code = [line for line in text.splitlines() if not re.search(r"^\s*//|throw |console\.", line)]
    sentence = re.compile(r"^[A-Z][a-z]+ [a-z]+|[a-z]+ [a-z]+ [a-z]+[.…]?$")
    strings = [match[1] for line in code for match in STRING.findall(line)]
    assert [text for text in strings if sentence.search(text)] == []


def test_every_string_is_translated_as_it_should_be() -> None:
    call_command("translations", "check")
