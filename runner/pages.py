"""The second door to Runs, for pages that have a bench: its panel, how its numbers are written,
and why a Run was not taken.

`runner.api` is the first; nothing else of `runner` is imported from above.
"""

from runner.panel import Panel, step_panel
from runner.refusals import REFUSED, Refusal, refusal
from runner.wording import number

__all__ = ["REFUSED", "Panel", "Refusal", "number", "refusal", "step_panel"]
