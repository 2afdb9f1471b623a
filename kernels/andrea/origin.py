"""What a run was made with, kept beside its checkpoints: the same must resume it."""

from collections.abc import Mapping
from dataclasses import asdict
from types import ModuleType
from typing import Any

import torch

from kernels import machine
from kernels.andrea.config import Config
from kernels.andrea.corpus import Text
from kernels.andrea.operators import (
    embed_fast,
    grad_norm,
    layernorm,
    loss,
    loss_held,
    tiles,
)
from kernels.events import Note
from kernels.procedure import BadParameter

# Constants on which the order of a sum depends. What moves or changes single elements has others.
ORDERS: dict[ModuleType, tuple[str, ...]] = {
    embed_fast: ("PLACES",),
    grad_norm: ("MOST", "TILE"),
    layernorm: ("ZONES",),
    loss: ("COLUMNS", "LARGEST"),
    loss_held: ("NARROWEST", "WIDEST"),
    tiles: ("HELD",),
}
DECIDES = ("config", "corpus", "version")  # the bits of a run follow from these


def about(config: Config, corpus: Text, version: int, device: torch.device) -> dict[str, Any]:
    """JSON-safe. `tiles` are the kernel choices in force that decide the order of a sum."""
    return {
        "config": asdict(config),
        "corpus": {"name": corpus.name, "digest": corpus.digest, "tokens": len(corpus)},
        "version": version,
        "card": tiles.card_name(device),
        "tiles": choices(device),
        "torch": machine.package_version("torch"),
        "triton": machine.package_version("triton"),
    }


def choices(device: torch.device) -> dict[str, Any]:
    """What the card is given by the table, and what a module says for every card: how many parts a
    sum has, how long they are, and how many threads add one."""
    own = {
        f"{module.__name__.rpartition('.')[2]}.{name}": getattr(module, name)
        for module, names in ORDERS.items()
        for name in names
    }
    return {
        **asdict(tiles.card(device)),
        "multiprocessors": tiles.multiprocessors(device),
        **own,
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


def rounds_otherwise(card: str, tiles: Any, now: Mapping[str, Any]) -> Note | None:
    """What to say to a run that goes on where sums may have another order. "" and None: unknown."""
    if card not in ("", now["card"]):
        return Note("log.andrea.other-card", {"card": card})
    return Note("log.andrea.other-tiles") if tiles not in (None, now["tiles"]) else None


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
