"""Functions of the repository, shown in lessons as they stand in their files."""

import ast
import textwrap
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from lessons.content.faults import ContentError

SOURCES = (".py", ".yaml", ".cpp", ".md", ".txt")  # text, and written by hand
SHOWN = ("kernels", "configs")  # the only folders a lesson may show


def source_text(path: str, symbol: str) -> str:
    """The text of a function, class or constant with its decorators and the comment above it."""
    file = source_file(path)
    stat = file.stat()
    found = _symbols(file, stat.st_mtime_ns).get(symbol)
    if found is None:
        raise ContentError(f"{path} has no “{symbol}”.")
    return found


def source_file(path: str) -> Path:
    """The file of that path, if it is one that lessons may show."""
    base = Path(settings.BASE_DIR)
    file = (base / path.replace("\x00", "")).resolve()
    inside = any(file.is_relative_to(base / folder) for folder in SHOWN)
    if not inside or file.suffix not in SOURCES or not file.is_file():
        raise ContentError(f"there is no file {path} to show (only in {', '.join(SHOWN)}).")
    return file


@lru_cache(maxsize=64)
def _symbols(file: Path, changed: int) -> dict[str, str]:
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ContentError(f"{file.name} is not valid Python: {error.msg}.") from error
    found: dict[str, str] = {}
    _collect(tree.body, "", lines, found)
    return found


def _collect(body: list[ast.stmt], prefix: str, lines: list[str], found: dict[str, str]) -> None:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            found[prefix + node.name] = _cut(lines, first, node.end_lineno)
            if isinstance(node, ast.ClassDef):
                _collect(node.body, f"{node.name}.", lines, found)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    found[prefix + target.id] = _cut(lines, node.lineno, node.end_lineno)


def _cut(lines: list[str], first: int, last: int | None) -> str:
    while first > 1 and lines[first - 2].lstrip().startswith("#"):
        first -= 1
    return textwrap.dedent("\n".join(lines[first - 1 : last]))
