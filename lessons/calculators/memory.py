"""Every byte of a training run, by what it is for, and the cards that hold it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from kernels.andrea.config import Precision
from kernels.andrea.layout import parameter_count
from kernels.andrea.names import ANDREA_NAMES
from kernels.andrea.plan import BESIDE_ON_GPU, plan
from kernels.procedures.andrea.memory import largest_batch
from lessons.calculators import models
from lessons.calculators.entries import Entry
from lessons.calculators.sizes import Segment, human, stacked
from lessons.numbers import show_number, show_quantity

GB = 10**9
CARDS = (8, 16, 24, 80)  # GB
VERSION = 1  # of the operators: as taught

ENTRIES = (
    models.PRESET,
    Entry(
        "precision",
        gettext_lazy("Products read"),
        str(Precision.BF16),
        (
            (str(Precision.FP32), "FP32"),
            (str(Precision.FP16), "FP16"),
            (str(Precision.BF16), "BF16"),
        ),
    ),
    Entry("batch", gettext_lazy("Batch B (sequences)"), "8", high=32_768),
    Entry("micro_batches", gettext_lazy("Micro-batches a step"), "1", high=1024),
    models.TIED,
    models.VOCABULARY,
    models.WIDTH,
    models.HEADS,
    models.LAYERS,
    models.CONTEXT,
)


@dataclass(frozen=True)
class Row:
    kind: str  # gives the colour of its segment
    name: str
    bytes: str
    size: str
    share: str


@dataclass(frozen=True)
class Card:
    label: str
    holds: bool
    segments: tuple[Segment, ...]
    sentence: str
    largest: str  # batch


@dataclass(frozen=True)
class Memory:
    sentence: str
    weights: str
    rows: tuple[Row, ...]
    total: str
    total_size: str
    bar: tuple[Segment, ...]
    cards: tuple[Card, ...]


def compute(values: Mapping[str, Any], language: str) -> Memory:
    config = models.config_of(values, language)
    needed = plan(config, VERSION)
    owners = needed.by_owner()
    largest = {card: largest_batch(config, VERSION, room(card)) for card in CARDS}
    return Memory(
        sentence=sentence(needed.bytes, language),
        weights=show_number(parameter_count(config), language),
        rows=tuple(row(kind, size, needed.bytes, language) for kind, size in owners.items()),
        total=show_number(needed.bytes, language),
        total_size=human(needed.bytes, language),
        bar=stacked(owners, needed.bytes),
        cards=tuple(card(size, owners, needed.bytes, largest[size], language) for size in CARDS),
    )


def room(card: int) -> int:
    """What a card has for the plan: the engine sets some aside for CUDA and its kernels."""
    return card * GB - BESIDE_ON_GPU


def row(kind: str, size: int, total: int, language: str) -> Row:
    return Row(
        kind=kind,
        name=_(ANDREA_NAMES[f"name.{kind}"]),
        bytes=show_number(size, language),
        size=human(size, language),
        share=show_quantity(100 * size / total, "percent", language, 1),
    )


def card(size: int, owners: Mapping[str, int], total: int, largest: int, language: str) -> Card:
    left = room(size) - total
    holds = left >= 0
    words = {"size": human(abs(left), language)}
    return Card(
        label=show_quantity(size, "GB", language),
        holds=holds,
        segments=stacked(owners, room(size)),
        sentence=_("%(size)s left") % words if holds else _("%(size)s too little") % words,
        largest=show_number(largest, language),
    )


def sentence(total: int, language: str) -> str:
    """How much is needed, and which cards hold it."""
    needs = _("The plan needs %(size)s, and CUDA with its kernels %(beside)s beside it.") % {
        "size": human(total, language),
        "beside": show_quantity(BESIDE_ON_GPU / 2**20, "MiB", language),
    }
    holding = [size for size in CARDS if total <= room(size)]
    if not holding:
        return needs + " " + _("None of these cards holds it.")
    smallest = show_quantity(holding[0], "GB", language)
    if len(holding) == 1:
        return needs + " " + _("Only the card with %(size)s holds it.") % {"size": smallest}
    if len(holding) == len(CARDS):
        return needs + " " + _("Every one of these cards holds it.")
    return needs + " " + _("Cards with %(size)s or more hold it.") % {"size": smallest}
