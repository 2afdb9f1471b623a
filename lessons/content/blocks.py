"""Language files: Markdown cut into blocks by `<!-- block … -->` and `<!-- step … -->` lines."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lessons.content.faults import Fault

_MARKER = re.compile(r"^<!--\s*(?P<kind>block|step)\s+(?P<id>\S+?)(?:\s+of=(?P<of>\S+))?\s*-->\s*$")
_COMMENT = re.compile(r"^\s*<!--")
_ID = re.compile(r"[a-z0-9]+(?:[-._][a-z0-9]+)*", re.IGNORECASE)


@dataclass(frozen=True)
class Block:
    id: str  # "<step>/<block>", or "<block>" above the first step
    text: str
    of: str | None  # hash of the source block it was translated from
    line: int  # of its marker, counted from 1

    @property
    def hash(self) -> str:
        return block_hash(self.text)


def block_hash(text: str) -> str:
    """First 8 hex digits of the SHA-256 of the text: NFC, no trailing spaces, stripped."""
    lines = unicodedata.normalize("NFC", text).splitlines()
    tidy = "\n".join(line.rstrip() for line in lines).strip()
    return hashlib.sha256(tidy.encode()).hexdigest()[:8]


def read_blocks(path: Path, file: str, faults: list[Fault]) -> Mapping[str, Block]:
    """The blocks of a language file by id; a file that is not there has none."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError:
        faults.append(Fault(file, "", "the file is not UTF-8."))
        return {}
    return _Cutter(file, faults).cut(unicodedata.normalize("NFC", text).splitlines())


class _Cutter:
    def __init__(self, file: str, faults: list[Fault]) -> None:
        self.file, self.faults = file, faults
        self.blocks: dict[str, Block] = {}
        self.step = ""
        self.open: tuple[str, str | None, int] | None = None
        self.lines: list[str] = []

    def cut(self, lines: list[str]) -> Mapping[str, Block]:
        fenced = False
        for number, line in enumerate(lines, start=1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            marker = None if fenced else _MARKER.match(line)
            if marker:
                self._close()
                self._mark(marker, number)
            elif _COMMENT.match(line) and not fenced:
                self._fault(
                    number, "write <!-- block id --> or <!-- step id -->; no other comment."
                )
            elif self.open is None and line.strip():
                self._fault(number, "this text stands in no block.")
            else:
                self.lines.append(line)
        self._close()
        return self.blocks

    def _mark(self, marker: re.Match[str], number: int) -> None:
        name = marker["id"]
        if not _ID.fullmatch(name):
            self._fault(number, f"“{name}” is not an id.")
        if marker["kind"] == "step":
            self.step = name
            return
        block_id = f"{self.step}/{name}" if self.step else name
        if block_id in self.blocks:
            self._fault(number, f"the block “{block_id}” stands twice.")
        self.open = (block_id, marker["of"], number)

    def _close(self) -> None:
        if self.open is not None:
            block_id, of, line = self.open
            text = "\n".join(self.lines).strip("\n")
            if not text.strip():
                self._fault(line, f"the block “{block_id}” is empty.")
            self.blocks.setdefault(block_id, Block(block_id, text, of, line))
        self.open, self.lines = None, []

    def _fault(self, line: int, sentence: str) -> None:
        self.faults.append(Fault(self.file, f"line {line}", sentence))


def stamp(text: str, hashes: Mapping[str, str], *, again: bool = False) -> tuple[str, list[str]]:
    """Write `of=<hash of the source block>` into the markers of a translation.

    Markers that carry a hash keep it unless `again`, so that a stale block stays visible.
    Returns the new text and the ids of the blocks stamped.
    """
    step, stamped, fenced, lines = "", [], False, []
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        marker = None if fenced else _MARKER.match(line)
        if marker and marker["kind"] == "step":
            step = marker["id"]
        elif marker:
            block_id = f"{step}/{marker['id']}" if step else marker["id"]
            due = hashes.get(block_id)
            if due and marker["of"] != due and (again or marker["of"] is None):
                stamped.append(block_id)
                line = f"<!-- block {marker['id']} of={due} -->"
        lines.append(line)
    return "\n".join(lines) + "\n", stamped
