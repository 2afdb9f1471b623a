"""Code coloured with three classes (k keyword, c comment, n name or number) and s for strings."""

import re
from html import escape

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String
from pygments.util import ClassNotFound

from lessons.content.faults import ContentError

_CLASSES = (
    (Name.Decorator, "c"),
    (Comment, "c"),
    (String.Doc, "c"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (Name.Function, "n"),
    (Name.Class, "n"),
    (Number, "n"),
    (String, "s"),
)
_LEXERS: dict[str, Lexer] = {}
# Comments that speak to a tool and not to a reader.
_TO_TOOLS = r"#\s*(?:fmt:|noqa\b|type:\s*ignore\b|pragma:|mypy:|ruff:|isort:|pylint:).*"
_OWN_LINE = re.compile(rf"^[ \t]*{_TO_TOOLS}\n?", re.MULTILINE)
_AT_THE_END = re.compile(rf"[ \t]+{_TO_TOOLS}$", re.MULTILINE)


def code_lines(code: str, language: str, mark: tuple[str, ...] = ()) -> str:
    """One `<span class="l">` a line, `hl` on those that hold a string of `mark`."""
    if language == "python":
        code = for_readers(code)
    html: list[str] = []
    for text, line in zip(code.split("\n"), _coloured(code, language), strict=True):
        lit = " hl" if any(part in text for part in mark) else ""
        html.append(f'<span class="l{lit}">{line or " "}</span>')
    return "".join(html)


def for_readers(code: str) -> str:
    """Without what is said to formatters, linters and type checkers only."""
    return _AT_THE_END.sub("", _OWN_LINE.sub("", code))


def code_block(code: str, language: str) -> str:
    return "\n".join(_coloured(code, language))


def _coloured(code: str, language: str) -> list[str]:
    lines = [""]
    for token, value in _lexer(language).get_tokens(code):
        css = next((name for kind, name in _CLASSES if token in kind), "")
        for index, piece in enumerate(value.split("\n")):
            if index:
                lines.append("")
            if piece:
                text = escape(piece, quote=False)
                lines[-1] += f'<span class="{css}">{text}</span>' if css else text
    texts = code.split("\n")
    if language in ("python", "py"):
        for index, text in enumerate(texts):
            if text.lstrip().startswith("@"):  # a decorator is one thing, dots and all
                lines[index] = f'<span class="c">{escape(text, quote=False)}</span>'
    return lines[: len(texts)]  # a lexer ends its last line


def _lexer(language: str) -> Lexer:
    if language not in _LEXERS:
        try:
            _LEXERS[language] = get_lexer_by_name(language or "text", stripnl=False)
        except ClassNotFound as error:
            raise ContentError(f"“{language}” is not a language Pygments knows.") from error
    return _LEXERS[language]
