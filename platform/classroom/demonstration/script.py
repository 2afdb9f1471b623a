"""What the made-up learners and graders write (texts.yaml)."""

import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from lessons.content.structure import Activity, TextField


@dataclass(frozen=True)
class Script:
    points: Mapping[str, Mapping[str, Mapping[str, str]]]  # by "activity.field", point, language
    thin: Mapping[str, list[str]]
    same: Mapping[str, str]
    comments: Mapping[str, list[str]]
    passage: str
    unreadable: str
    reasons: list[str]
    reply: str

    def points_of(self, activity: Activity, field: TextField) -> list[str]:
        """Those that somebody can earn here, in the order they are written."""
        return list(self.points.get(f"{activity.id}.{field.id}", {}))

    def text(
        self,
        activity: Activity,
        field: TextField,
        earned: Collection[str],
        language: str,
        chance: random.Random,
    ) -> str:
        """An answer that earns just these points."""
        known = self.points.get(f"{activity.id}.{field.id}", {})
        said = [known[point][language] for point in known if point in earned]
        text = ("\n" if known and said and said[0][:2] == "1." else " ").join(said)
        if not said or len(text) < field.min:
            thin = chance.choice(self.thin[language])
            text = f"{text} {thin}".strip()
        return text

    def sentence(self, activity: str, field: str, point: str, language: str) -> str:
        return self.points[f"{activity}.{field}"][point][language]


@cache
def script() -> Script:
    path = Path(__file__).with_name("texts.yaml")
    read: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return Script(**read)
