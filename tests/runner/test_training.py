"""A training told in words and small pictures, and packed for the live view."""

from typing import Any

import pytest

from runner import api
from runner.api import ArtifactView
from runner.charts import MOST_POINTS, thinned
from runner.curves import Curve, Curves
from runner.packing import Told
from runner.story import Story, tell
from runner.training import Training, look
from runner.wording import Wording, digits
from tests.browser.trained import Said, metric, note, trained


def events(said: list[Said]) -> list[dict[str, Any]]:
    return [
        {"seq": seq, "kind": kind, "at": "2026-11-30T12:00:00.000Z", "data": data}
        for seq, (kind, data) in enumerate(said, start=1)
    ]


def wording(language: str = "en") -> Wording:
    return Wording(language, api.messages(language))


def story(said: list[Said], language: str = "en") -> Story:
    return tell(events(said), None, wording(language))


def seen(said: list[Said], files: list[ArtifactView] | None = None, **more: str) -> Training:
    return look(story(said, **more), files or [], wording(**more))


def file(step: int, kept: bool = True) -> ArtifactView:
    return ArtifactView(f"step_{step:06d}.bin", "application/octet-stream", 400_000, "0" * 64, kept)


CLIP = note("log.andrea.schedule", steps=4, warmup=2, clip=1.0)
NORMS = [metric("norm", value, step) for step, value in enumerate((0.5, 1.0, 1.5, 2.0), start=1)]


def test_clipped_steps_are_counted_in_words() -> None:
    assert seen([CLIP, *NORMS]).clipped == "Clipped in 2 of 4 steps."
    assert seen([CLIP, *NORMS], language="fr").clipped == "Écrêtage dans 2 pas sur 4."


def test_where_not_every_norm_is_told_the_count_says_so() -> None:
    losses = [metric("loss", 3.0, step) for step in range(1, 41)]
    assert "of the 4 steps whose norm is told" in seen([CLIP, *losses, *NORMS]).clipped


def test_a_run_without_a_threshold_says_that_nothing_is_clipped() -> None:
    none = note("log.andrea.schedule", steps=4, warmup=2, clip=0)
    assert seen([none, *NORMS]).clipped == "Nothing is clipped in this Run."
    assert seen(NORMS).clipped == ""  # not known yet


def test_a_norm_that_is_no_number_is_a_gap_and_not_counted() -> None:
    odd: Any = "inf"
    told = story([CLIP, *NORMS, metric("norm", odd, 5)])
    curve = told.curves.get("norm")
    assert curve is not None and curve.values[-1] is None
    assert look(told, [], wording()).clipped == "Clipped in 2 of 5 steps."


def test_the_best_checkpoint_has_the_lowest_smoothed_loss_of_them() -> None:
    said: list[Said] = []
    for step, ema in ((1, 3.0), (2, 2.0), (3, 2.5), (4, 1.0)):
        said.append(metric("ema", ema, step))
        if step < 4:
            said.append(("artifact", file(step).data()))
    checkpoints = seen(said, [file(1, kept=False), file(2), file(3)]).checkpoints
    assert [c.step for c in checkpoints] == [1, 2, 3]
    assert [c.best for c in checkpoints] == [False, True, False]
    assert [c.kept for c in checkpoints] == [False, True, True]
    assert checkpoints[1].loss == "smoothed loss 2" and checkpoints[1].size == "0.4 MB"


def test_after_a_lost_worker_what_comes_again_stands_once() -> None:
    told = story(trained(300, lost_at=257))
    for name in ("loss", "ema", "norm"):
        curve = told.curves.get(name)
        assert curve is not None and curve.steps == list(range(1, 301))
    assert [sample["step"] for sample in told.samples] == [100, 200, 300]
    assert [(mark.kind, mark.step, mark.attempt) for mark in told.marks] == [("restart", 200, 2)]


def test_after_a_lost_worker_the_plan_stands_once() -> None:
    plan: Said = ("table", {"name": "plan", "columns": [{"key": "bytes"}], "rows": [[8]]})
    lost = note("log.resumed-after-restart", attempt=2, step=40, file="step_000040.bin")
    assert len(story([plan, lost, plan]).tables) == 1
    assert len(story([plan, plan]).tables) == 2  # what a Procedure says twice is shown twice


def test_a_run_that_begins_anew_forgets_all_but_its_log() -> None:
    said = trained(20)
    told = story([*said, note("log.restarted", attempt=2), metric("loss", 5.0, 1)])
    curve = told.curves.get("loss")
    assert curve is not None and curve.steps == [1]
    assert told.phases == [] and not told.schedule and len(told.log) > 2


def test_where_a_run_goes_on_from_another_is_marked() -> None:
    training = seen([note("log.andrea.resumed", step=60, file="step_000060.bin")])
    assert training.marks == ("Step 60: goes on from step_000060.bin.",)


def test_phases_are_named_and_begin_somewhere() -> None:
    assert seen(trained(60)).phases[:2] == (("random", "from step 1"), ("frequency", "from step 9"))


def test_a_sample_says_its_four_parts_and_whether_it_passes() -> None:
    low, high = seen(trained(200)).samples
    assert (low.passed, high.passed) == (False, True)
    assert low.verdict == "28 of 100 points: it fails, below 30"
    assert [part.said for part in high.parts] == [
        "Different word pairs: 31.5 of 35", "Different word triples: 33.3 of 35",
        "English words: 10 of 20", "Variety of characters: 7.5 of 10",
    ]  # fmt: skip
    assert [(part.x, part.room) for part in high.parts] == [(0, 35), (35, 35), (70, 20), (90, 10)]


def test_without_telemetry_a_sentence_stands_for_its_charts() -> None:
    alone, measured = seen(trained(50)), seen(trained(50, telemetry=True))
    assert "No telemetry" in alone.telemetry and len(alone.gauges) == 3
    assert measured.telemetry == "" and len(measured.gauges) == 7
    power = next(chart for chart in measured.gauges if chart.unit == "W")
    assert power.level_word == "limit 700"


def test_a_chart_says_in_words_what_it_shows() -> None:
    loss = seen(trained(300)).loss
    assert loss is not None
    assert loss.says.startswith("Loss each step 1.") and "smoothed" in loss.says
    assert [band.name for band in loss.bands] == ["random", "frequency", "structure", "coherence"]


def test_a_spike_survives_the_thinning() -> None:
    points = [(step, 1.0) for step in range(10_000)]
    points[4321] = (4321, 99.0)
    kept = thinned(points)
    assert len(kept) <= MOST_POINTS + 2 and (4321, 99.0) in kept
    assert list(kept) == sorted(kept)


def test_points_are_packed_as_columns_and_everything_else_stays() -> None:
    said = trained(300)
    told = events(said)
    kept = Told()
    data = kept.packed(tell(kept.passing(told), None, wording()).curves)
    kinds = [event["kind"] for event in data["events"]]
    assert "metric" not in kinds and kinds.count("progress") == 1
    assert data["seq"] == len(said)
    loss = next(curve for curve in data["curves"] if curve["name"] == "loss")
    assert loss["steps"] == list(range(1, 301))


def test_a_curve_is_cut_and_read_by_step() -> None:
    curve = Curve("loss")
    for step in (2, 4, 6):
        curve.add(step, step / 2)
    assert [curve.at(step) for step in (1, 2, 5, 9)] == [None, 1.0, 2.0, 3.0]
    curve.cut(4)
    assert (curve.steps, curve.last) == ([2, 4], 2.0)
    curves = Curves()
    curves.add({"name": "loss", "step": 5, "value": 1.0})
    curves.cut(4)
    assert list(curves) == []


@pytest.mark.parametrize(
    ("value", "count", "rounded"), [(82.25, 3, 82.3), (0.5, 3, 0.5), (1234.5, 4, 1235.0)]
)
def test_a_half_goes_up_as_in_a_browser(value: float, count: int, rounded: float) -> None:
    assert digits(value, count) == rounded
