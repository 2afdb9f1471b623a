"""The second door to Runs, for pages that have a bench: its panel, and how its numbers are written.

`runner.api` is the first; nothing else of `runner` is imported from above.
"""

from runner.panel import Panel, step_panel
from runner.wording import number

__all__ = ["Panel", "number", "step_panel"]
