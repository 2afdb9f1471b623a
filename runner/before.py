"""What was told before a Run began: the losses of the Runs that it goes on from.

A Run that resumes another tells only its own steps; its chart shows the whole training.
"""

from typing import Any

from runner import api, limits
from runner.api import RunNotFound, RunView
from runner.curves import Curve, Curves

SHOWN = ("loss", "ema")
MOST_RUNS = 4  # of a chain, each of which is read


def before(run: RunView, viewer: Any) -> Curves:
    """The loss up to where this Run starts, as far back as its reader may see."""
    curves = Curves()
    start = run.resumes
    for _ in range(MOST_RUNS):
        if start is None:
            break
        try:
            earlier = api.get(start.run_id, viewer)
        except RunNotFound:  # erased since, or somebody else's by now
            break
        told = losses(earlier, viewer)
        told.cut(start.step)
        curves = joined(told, curves)
        start = earlier.resumes
    return curves


def losses(run: RunView, viewer: Any) -> Curves:
    curves = Curves()
    for event in api.events_after(run.id, viewer, 0, limits.MAX_EVENTS):
        data = event["data"]
        if event["kind"] == "metric" and data["name"] in SHOWN and data.get("step") is not None:
            curves.add(data)
        elif (data.get("note") or {}).get("code") == "log.resumed-after-restart":
            curves.cut(data["note"]["params"]["step"])
        elif (data.get("note") or {}).get("code") == "log.restarted":
            curves = Curves()
    return curves


def joined(first: Curves, then: Curves) -> Curves:
    """Both, one after the other."""
    whole = Curves()
    for name in SHOWN:
        parts = [curve for curves in (first, then) if (curve := curves.get(name))]
        if parts:
            whole.all[name, ""] = Curve(
                name,
                steps=[step for part in parts for step in part.steps],
                values=[value for part in parts for value in part.values],
            )
    return whole
