"""A submission against its key as it is now, from the text that was typed.

A key may have been mended in its unit as well as in its value, so numbers are read again: as the
person chose where they were asked, else as their language writes them. What
can no longer be read (an option that is gone, a field that is new) could not be checked: that is
ours, and never wrong.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lessons import checking
from lessons.checking import Checked, Typed, Verdict
from lessons.content.structure import Activity, TextField

Verdicts = Mapping[str, Mapping[str, str]]
Content = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Rechecked:
    content: Content  # as typed, with the values read now
    verdicts: Verdicts


def recheck(activity: Activity, content: Content, language: str) -> Rechecked:
    """What a revision's content gets now. The texts typed stay what they were."""
    typed = {name: Typed(given["raw"], given.get("reading", "")) for name, given in content.items()}
    reading = checking.read(activity, typed, language, asks=False)
    verdicts = checking.check(
        activity, {k: v for k, v in reading.content.items() if k not in reading.problems}
    )
    waiting = {item.id for item in activity.fields if isinstance(item, TextField)}
    for name in reading.problems:
        verdicts[name] = Checked(Verdict.WAITING if name in waiting else Verdict.UNGRADED)
    kept = dict(content)  # fields that the Activity no longer has stay in what was sent
    kept |= {name: reading.content[name] for name in content if name in reading.content}
    return Rechecked(kept, {name: found.to_json() for name, found in verdicts.items()})
