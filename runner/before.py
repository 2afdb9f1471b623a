"""What was told before a Run began: losses and phases of the Runs that it goes on from.

A Run that resumes another tells only its own steps; its chart shows the whole training.
"""

from typing import Any

from runner import api
from runner.api import Reach, RunNotFound, RunView
from runner.curves import Curve, Curves, Earlier, following
from runner.stored import LOSSES

MOST_RUNS = 4  # of a chain, each of which is read


def before(run: RunView, viewer: Any) -> Earlier:
    """The loss up to where this Run starts, as far back as its reader may see."""
    found, reach = Earlier(), Reach()
    start = run.resumes
    for _ in range(MOST_RUNS):
        if start is None:
            break
        try:
            earlier = api.get(start.run_id, viewer)
        except RunNotFound:  # erased since, or somebody else's by now
            break
        told = losses(earlier, viewer, start.step, reach)
        found = Earlier(joined(told.curves, found.curves), following(told.phases, found.phases))
        start = earlier.resumes
    found.is_whole = not reach.ended
    return found


def losses(run: RunView, viewer: Any, until: int, reach: Reach) -> Earlier:
    """Of one Run, up to that step."""
    told = Earlier()
    for event in api.losses_within(reach, run.id, viewer, until):
        data = event["data"]
        if event["kind"] == "metric":
            told.curves.add(data)
            continue
        note = data["note"]
        match note["code"]:
            case "log.andrea.phase":
                phase = note["params"]["phase"], note["params"]["step"]
                told.phases = following(told.phases, [phase])
            case "log.resumed-after-restart":
                told.cut(note["params"]["step"])
            case "log.restarted":
                told = Earlier()
    told.cut(until)
    return told


def joined(first: Curves, then: Curves) -> Curves:
    """Both, one after the other."""
    whole = Curves()
    for name in LOSSES:
        parts = [curve for curves in (first, then) if (curve := curves.get(name))]
        if parts:
            whole.all[name, ""] = Curve(
                name,
                steps=[step for part in parts for step in part.steps],
                values=[value for part in parts for value in part.values],
            )
    return whole
