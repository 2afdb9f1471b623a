"""The entries that describe a model, and the configuration they make: a preset and its changes."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from kernels.andrea.config import PRESETS, Config, preset
from lessons.calculators.entries import Entry, Refused
from lessons.numbers import show_number

AS_PRESET = gettext_lazy("empty: as the preset")
MOST_DIVISORS = 4  # named in a refusal

PRESET = Entry("config", gettext_lazy("Model"), "120M", tuple((name, name) for name in PRESETS))
VOCABULARY = Entry(
    "vocabulary", gettext_lazy("Vocabulary V"), high=1_000_000, optional=True, hint=AS_PRESET
)
WIDTH = Entry("width", gettext_lazy("Width d"), high=16_384, optional=True, hint=AS_PRESET)
HEADS = Entry("heads", gettext_lazy("Heads"), high=256, optional=True, hint=AS_PRESET)
LAYERS = Entry("layers", gettext_lazy("Layers L"), high=128, optional=True, hint=AS_PRESET)
CONTEXT = Entry("context", gettext_lazy("Context T"), high=131_072, optional=True, hint=AS_PRESET)
TIED = Entry(
    "tied",
    gettext_lazy("Head"),
    "yes",
    (("yes", gettext_lazy("tied to the token table")), ("no", gettext_lazy("a table of its own"))),
)


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
