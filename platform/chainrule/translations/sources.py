"""Every string that the sources mark for translation."""

from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.extract import extract
from babel.messages.pofile import escape
from django.utils.translation.template import templatize

PYTHON_FOLDERS = ("platform", "lessons", "runner", "kernels")
KEYWORDS: dict[str, Any] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
    "counted": (2, 3),  # of kernels.marking
}

Id = str | tuple[str, str]  # a pair where the text has a plural
Key = tuple[str, Id]  # context ("" for none) and text


def marked(base: Path) -> set[Key]:
    """The marked strings of every module and template under `base`."""
    found: set[Key] = set()
    for folder in PYTHON_FOLDERS:
        for file in sorted((base / folder).rglob("*.py")):
            found.update(in_python(file.read_text()))
    for file in sorted((base / "templates").rglob("*")):
        if file.suffix in {".html", ".txt"}:
            found.update(in_template(file.read_text()))
    return found


def in_python(source: str) -> Iterator[Key]:
    lines = BytesIO(source.encode())
    options = {"encoding": "utf-8"}
    for _line, text, _comments, context in extract("python", lines, KEYWORDS, (), options):
        yield context or "", _id(text)


def in_template(source: str) -> Iterator[Key]:
    """A template's strings: templatize makes calls of its tags and noise of everything else.

    Babel reads the result as Python, to which indentation would mean something.
    """
    return in_python("\n".join(line.strip() for line in templatize(source).splitlines()))


def _id(text: str | Iterable[str]) -> Id:
    return text if isinstance(text, str) else tuple(text)[:2]  # type: ignore[return-value]


def shown(key: Key) -> str:
    """A string as its catalogue writes it, for messages to people."""
    context, text = key
    words = text if isinstance(text, str) else text[0]
    return f"{escape(words)} ({context})" if context else escape(words)
