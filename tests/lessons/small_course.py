"""The small course that the lessons are tested with, without a fault as it is written.

Its files are data/small: two lessons, four steps, three languages.
"""

import re
import shutil
from pathlib import Path

from lessons.content.check import check
from lessons.content.library import Shelf, read_shelf

DATA = Path(__file__).parent / "data"


class SmallCourse:
    def __init__(self, root: Path) -> None:
        shutil.copytree(DATA, root)
        self.root = root

    def write(self, file: str, text: str) -> None:
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def read(self, file: str) -> str:
        return (self.root / file).read_text(encoding="utf-8")

    def change(self, file: str, old: str, new: str) -> None:
        text = self.read(file)
        assert old in text, f"{file} does not hold {old!r}"
        self.write(file, text.replace(old, new, 1))

    def remove_block(self, file: str, block: str) -> None:
        """The first block of that name, with its marker."""
        pattern = rf"<!-- block {re.escape(block)}( of=\w+)? -->\n.*?(?=<!-- |\Z)"
        text, count = re.subn(pattern, "", self.read(file), count=1, flags=re.DOTALL)
        assert count, f"{file} has no block {block}"
        self.write(file, text)

    def shelf(self) -> Shelf:
        return read_shelf(self.root / "small")

    def faults(self) -> list[str]:
        return [str(fault) for fault in check(self.shelf())]
