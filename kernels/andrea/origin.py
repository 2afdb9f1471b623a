"""What a run was made with, kept beside its checkpoints: the same must resume it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import torch

from kernels import machine
from kernels.andrea.config import Config
from kernels.andrea.corpus import Text
from kernels.andrea.operators import tiles
from kernels.procedure import BadParameter

DECIDES = ("config", "corpus", "version")  # the bits of a run follow from these


def about(config: Config, corpus: Text, version: int, device: torch.device) -> dict[str, Any]:
    """JSON-safe. `tiles` are the kernel choices in force: they decide the order of sums."""
    return {
        "config": asdict(config),
        "corpus": {"name": corpus.name, "digest": corpus.digest, "tokens": len(corpus)},
        "version": version,
        "card": tiles.card_name(device),
        "tiles": asdict(tiles.card(device)),
        "torch": machine.package_version("torch"),
        "triton": machine.package_version("triton"),
    }


def require_same(stored: Mapping[str, Any], now: Mapping[str, Any], key: str) -> None:
    """Refuse to mix two runs. Raises BadParameter that names the first difference.

    A folder without a run accepts any.
    """
    for part in DECIDES:
        if part not in stored:
            continue
        for name, was, given in differences(part, stored[part], now[part]):
            accepted = "the same, or polish = true" if key == "resume" else "an empty folder"
            raise BadParameter(
                f"{key}: the run there was made with {name} = {was!r}, not {plain(given)!r}; "
                f"accepted: {accepted}."
            )


def differences(part: str, stored: Any, now: Any) -> list[tuple[str, Any, Any]]:
    if not isinstance(now, dict):
        return [(part, stored, now)] if stored != now else []
    prefix = "" if part == "config" else f"{part}."
    return [
        (prefix + name, stored.get(name), value)
        for name, value in now.items()
        if stored.get(name) != value
    ]


def plain(value: Any) -> Any:
    """Without the class of an enum."""
    return str(value) if isinstance(value, str) else value
