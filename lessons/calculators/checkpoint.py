"""The bytes of one checkpoint file, part by part."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext

from kernels.andrea.checkpoint_size import HEADER, LARGEST_COUNT, file_size
from kernels.andrea.layout import parameter_count
from kernels.artifacts import checkpoint_name
from lessons.calculators import models
from lessons.calculators.entries import Entry, Refused
from lessons.calculators.sizes import Segment, human, stacked
from lessons.numbers import show_number

ENTRIES = (
    models.PRESET,
    models.TIED,
    models.VOCABULARY,
    models.WIDTH,
    models.LAYERS,
    models.CONTEXT,
    Entry(
        "weights",
        gettext_lazy("Or: a number of weights n"),
        high=LARGEST_COUNT,
        optional=True,
        hint=gettext_lazy("empty: counted from the model"),
    ),
    Entry("step", gettext_lazy("Saved after step"), "100", low=0, high=9_999_999),
)


@dataclass(frozen=True)
class Part:
    kind: str
    name: str
    begins: str
    bytes: str


@dataclass(frozen=True)
class CheckpointFile:
    sentence: str
    name: str
    weights: str
    parts: tuple[Part, ...]
    total: str
    total_size: str
    bar: tuple[Segment, ...]


def compute(values: Mapping[str, Any], language: str) -> CheckpointFile:
    count = values["weights"] or counted(values, language)
    strip = 4 * count
    sizes = {"header": HEADER.size, "weights": strip, "m": strip, "v": strip}
    names = {
        "header": pgettext("calculator", "header: step and n"),
        "weights": pgettext("calculator", "weights"),
        "m": "m",
        "v": "v",
    }
    parts, begins = [], 0
    for kind, size in sizes.items():
        shown = show_number(begins, language), show_number(size, language)
        parts.append(Part(kind, names[kind], *shown))
        begins += size
    total = file_size(count)
    return CheckpointFile(
        sentence=ngettext(
            "%(name)s: %(bytes)s bytes, %(size)s, for %(weights)s weight.",
            "%(name)s: %(bytes)s bytes, %(size)s, for %(weights)s weights.",
            count,
        )
        % {
            "name": checkpoint_name(values["step"]),
            "bytes": show_number(total, language),
            "size": human(total, language),
            "weights": show_number(count, language),
        },
        name=checkpoint_name(values["step"]),
        weights=show_number(count, language),
        parts=tuple(parts),
        total=show_number(total, language),
        total_size=human(total, language),
        bar=stacked(sizes, total),
    )


def counted(values: Mapping[str, Any], language: str) -> int:
    """The weights of the model described. Raises Refused where the format cannot count them."""
    shape = {key: value for key, value in values.items() if key not in ("weights", "step")}
    # The heads share the width among themselves; however many they are, n is the same.
    count = parameter_count(models.config_of({**shape, "heads": 1}, language))
    if count > LARGEST_COUNT:
        raise Refused(
            "width",
            _("This model has %(weights)s weights; the file counts to %(most)s at most.")
            % {
                "weights": show_number(count, language),
                "most": show_number(LARGEST_COUNT, language),
            },
        )
    return count
