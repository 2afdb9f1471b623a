"""How a Run was made, for its reader. static/js/run/pieces.js says the same."""

from collections.abc import Mapping
from typing import Any

from runner.wording import Wording

TOOLS = {"torch": "torch", "triton": "Triton", "python": "Python"}


def made(facts: Mapping[str, Any], wording: Wording) -> list[str]:
    """Fact by fact; what is not known is left out."""
    if not facts:
        return []
    parts = [str(facts.get("device_name") or "")]
    if facts.get("interpreter"):
        parts.append(wording.say("interpreter"))
    if driver := facts.get("driver"):
        parts.append(wording.say("driver", version=driver))
    parts += [f"{name} {facts[key]}" for key, name in TOOLS.items() if facts.get(key)]
    if version := facts.get("version"):
        parts.append(wording.say("version", version=version))
    if facts.get("seed") not in (None, ""):
        parts.append(wording.say("made_seed", seed=str(facts["seed"])))
    if commit := facts.get("commit"):
        parts.append(wording.say("commit", commit=str(commit)[:10]))
    sandbox = str(facts.get("sandbox") or "none")
    parts.append(
        wording.say("no_sandbox") if sandbox == "none" else wording.say("sandbox", name=sandbox)
    )
    return [part for part in parts if part]
