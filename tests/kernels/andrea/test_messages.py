"""Every code that the engine's Procedures say has a sentence."""

import re
from pathlib import Path

from kernels.messages import MESSAGES

ROOT = Path(__file__).resolve().parents[3] / "kernels"
FOLDERS = (ROOT / "andrea", ROOT / "procedures" / "andrea")
TEXT = "\n".join(
    path.read_text(encoding="utf-8") for folder in FOLDERS for path in folder.rglob("*.py")
)


def test_every_note_metric_column_and_table_has_a_sentence() -> None:
    codes = set(re.findall(r'Note\(\s*"([a-z0-9.-]+)"', TEXT))
    codes |= {f"column.{key}" for key in re.findall(r'Column\(\s*"([a-z0-9-]+)"', TEXT)}
    codes |= {f"table.{name}" for name in re.findall(r'\bTable\(\s*"([a-z0-9-]+)"', TEXT)}
    codes |= {f"metric.{name}" for name in re.findall(r'Metric\(\s*"([a-z0-9-]+)"', TEXT)}
    assert len(codes) > 30
    assert codes - set(MESSAGES) == set()
