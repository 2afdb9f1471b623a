"""The entries that describe a model, and the configuration they make: a preset and its changes."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from kernels.andrea.config import PRESETS, Config, preset
from lessons.calculators.entries import Entry, Refused
from lessons.numbers import show_number

MOST_DIVISORS = 4  # named in a refusal

PRESET = Entry("config", gettext_lazy("Model"), "120M", tuple((name, name) for name in PRESETS))
VOCABULARY = Entry("vocabulary", gettext_lazy("Vocabulary V"), high=1_000_000, optional=True)
WIDTH = Entry("width", gettext_lazy("Width d"), high=16_384, optional=True)
HEADS = Entry("heads", gettext_lazy("Heads"), high=256, optional=True)
LAYERS = Entry("layers", gettext_lazy("Layers L"), high=128, optional=True)
CONTEXT = Entry("context", gettext_lazy("Context T"), high=131_072, optional=True)
TIED = Entry(
    "tied",
    gettext_lazy("Output head"),
    "yes",
    (("yes", gettext_lazy("tied")), ("no", gettext_lazy("untied"))),
)


def hints(values: Mapping[str, Any], language: str) -> dict[str, str]:
    """What an entry that is left empty stands for."""
    if not values.get("config"):
        return {}
    plain = preset(values["config"])
    return {
        entry.name: empty(getattr(plain, entry.name), language)
        for entry in (VOCABULARY, WIDTH, HEADS, LAYERS, CONTEXT)
    }


def empty(value: int, language: str) -> str:
    return _("empty: %(value)s") % {"value": show_number(value, language)}


def config_of(values: Mapping[str, Any], language: str) -> Config:
    """The preset with every entry in its place that was filled in.

    Raises Refused where the heads do not divide the width.
    """
    changes = {key: value for key, value in values.items() if value is not None and key != "config"}
    if "tied" in changes:
        changes["tied"] = changes["tied"] == "yes"
    plain = preset(values["config"])
    width, heads = changes.get("width", plain.width), changes.get("heads", plain.heads)
    if width % heads:
        raise Refused("heads", heads_sentence(width, heads, language))
    return preset(values["config"], changes)


def heads_sentence(width: int, heads: int, language: str) -> str:
    """Names the numbers of heads nearest to `heads` that do divide the width."""
    divisors = [n for n in range(1, min(width, int(HEADS.high)) + 1) if width % n == 0]
    near = sorted(sorted(divisors, key=lambda n: abs(n - heads))[:MOST_DIVISORS])
    return _("%(heads)s heads do not divide a width of %(width)s. These would: %(near)s.") % {
        "heads": show_number(heads, language),
        "width": show_number(width, language),
        "near": "; ".join(show_number(n, language) for n in near),
    }
