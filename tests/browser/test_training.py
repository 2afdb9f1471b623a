"""A training on its page: watched, saved, stopped, resumed and proved; laid over another one;
and on paper; the same without a script."""

import json
import re
import subprocess
import sys
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.browser.conftest import Open, ended, signed_in
from tests.browser.trained import PHASES
from tests.stack import ROOT, Stack


def test_it_is_watched_saved_stopped_resumed_and_proved(browser: Browser, stack: Stack) -> None:
    command = [sys.executable, "-m", "tests.browser.submitted"]
    done = subprocess.run(command, cwd=ROOT, env=stack.env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    started = json.loads(done.stdout)
    context = signed_in(browser, stack, started["session"])
    page = context.new_page()
    page.goto(f"/en/runs/{started['run']}/")

    expect(page.locator(".chart.tall .key.ema")).to_contain_text("smoothed", timeout=60_000)
    expect(page.locator("[data-verdict]")).to_have_text(re.compile(r"^Step \d+ of 400$"))
    expect(page.locator("[data-stop]")).to_have_text("Stop and save")
    expect(page.locator(".clipped")).to_have_text(re.compile(r"Clipped in \d+ of \d+ steps\."))
    expect(page.locator(".telemetry")).to_contain_text("No telemetry")
    expect(page.locator(".samples .sample pre")).to_be_visible()

    page.locator("[data-checkpoint]").click()
    expect(page.locator(".notch")).to_have_count(1, timeout=20_000)
    expect(page.locator("form[data-lead]:visible")).to_have_count(0)  # not while it runs
    page.locator("[data-stop]").click()
    ended(page)
    expect(page.locator(".said")).to_contain_text("holds what is needed")
    expect(page.locator(".notch")).to_have_count(2)
    stopped_at = int(re.findall(r"after step (\d+)", page.locator(".said").inner_text())[0])

    until = stopped_at + 4
    page.locator("input[name=steps]").fill(str(until))
    page.locator("form[data-lead=resume] button").click()
    page.locator(".resumes").wait_for(timeout=20_000)
    expect(page.locator(".resumes")).to_contain_text(f"after step {stopped_at}")
    expect(page.locator(".resumes a")).to_have_attribute("href", f"/en/runs/{started['run']}/")
    ended(page)
    expect(page.locator("[data-verdict]")).to_have_text("✓ Passed")
    expect(page.locator(".places li")).to_have_text(
        f"Step {stopped_at}: goes on from step_{stopped_at:06d}.bin."
    )

    page.locator("form[data-lead=prove] button").click()
    title = "Stopped, resumed, the same to the bit"
    expect(page.locator("h1")).to_have_text(title, timeout=20_000)
    ended(page)
    expect(page.locator("[data-verdict]")).to_have_text("✓ Passed")
    straight, resumed = (
        page.locator(f"table.data tbody td:nth-child({column})").all_inner_texts()
        for column in (2, 3)
    )
    assert len(straight) == 10 and straight == resumed
    expect(page.locator(".caseline .sign").first).to_have_text("✓")
    context.close()


SAID = """() => {
    const text = (node) => node.textContent.replace(/\\s+/g, " ").trim();
    const all = (where) => [...document.querySelectorAll(where)].filter(
        (node) => !node.closest("[hidden], details")).map(text);
    return {
        verdict: all("[data-verdict]"), said: all(".said"), places: all(".places li"),
        charts: all(".chart figcaption").map((said) => said.replace(/ /g, "")).sort(),
        labels: [...document.querySelectorAll(".chart .plot")].map((plot) => plot.ariaLabel).sort(),
        phases: all(".phases li, .phases p"), clipped: all(".clipped"),
        telemetry: all(".telemetry"), last: all(".kept li").slice(-1), sample: all(".sample"),
        prove: all(".prove"), numbers: all(".numbers > div"), elapsed: all("[data-elapsed]"),
    };
}"""


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
@pytest.mark.parametrize("name", ["trained", "lost", "long", "resumed"])
def test_a_script_says_what_the_server_said(opened: Open, name: str, language: str) -> None:
    without = opened(name, language, java_script_enabled=False).evaluate(SAID)
    page = opened(name, language)
    page.locator(".rail").wait_for()
    assert page.evaluate(SAID) == without
    assert len(without["charts"]) >= 4 and without["phases"] and without["sample"]


def test_where_a_worker_was_lost_is_marked_and_said(opened: Open) -> None:
    page = opened("lost")
    expect(page.locator(".places li")).to_have_count(1)
    expect(page.locator(".places")).to_contain_text("Step 200: the worker was lost here")
    steps = page.evaluate(STEPS_OF_LOSS)
    assert steps == list(range(1, 301))  # those after the checkpoint were made once more


STEPS_OF_LOSS = """() => {
    const told = JSON.parse(document.querySelector("[data-panel] > script").textContent).told;
    return told.curves.find((curve) => curve.name === "loss").steps;
}"""


def test_a_training_that_was_lost_says_how_long_all_of_it_took(opened: Open) -> None:
    page = opened("lost")
    expect(page.locator("[data-elapsed]")).to_have_text("64.0 s, of them 4.0 s in attempt 2")


def test_a_training_that_goes_on_is_shown_with_what_came_before(opened: Open) -> None:
    page = opened("resumed")
    expect(page.locator(".phases li")).to_have_text(
        [f"{name} from step {step}" for name, step in PHASES]
    )
    expect(page.locator(".places li")).to_have_count(1)


def test_a_script_says_too_where_what_came_before_is_not_drawn_whole(opened: Open) -> None:
    page = opened("resumed")
    said = page.get_by_text("The Runs before told more than is read here")
    expect(page.locator(".chart canvas").first).to_be_visible()
    expect(said).to_have_count(0)

    def cut(route: Route) -> None:
        answer = route.fetch()
        told = answer.text()
        assert '"whole": true' in told
        route.fulfill(response=answer, body=told.replace('"whole": true', '"whole": false'))

    page.route(page.url, cut)
    page.reload()
    expect(page.locator(".chart canvas").first).to_be_visible()
    expect(said).to_be_visible()


def test_checkpoints_are_walked_by_keyboard(opened: Open) -> None:
    page = opened("long")
    rail = page.get_by_role("slider", name="Checkpoints")
    rail.focus()
    expect(rail).to_have_attribute("aria-valuetext", re.compile("^Step 10,000, smoothed loss"))
    expect(page.locator(".kept a")).to_have_attribute("href", re.compile("step_010000.bin$"))
    expect(page.locator(".kept button")).to_contain_text("Resume from here")
    page.keyboard.press("ArrowLeft")
    expect(rail).to_have_attribute("aria-valuetext", re.compile("^Step 9900"))
    page.keyboard.press("Home")
    expect(rail).to_have_attribute("aria-valuetext", re.compile("^Step 100, .*no longer kept"))
    expect(page.locator(".kept")).to_contain_text("no longer kept")
    expect(page.locator(".kept a, .kept button")).to_have_count(0)
    expect(page.locator(".notch.best")).to_have_count(1)


def test_samples_are_stepped_through_by_button_and_by_key(opened: Open) -> None:
    page = opened("trained")
    label = page.locator(".sample strong")
    expect(label).to_have_count(1)  # all of them stand there until the script has drawn
    expect(label).to_have_text("Step 300")
    page.get_by_role("button", name="Previous").click()
    expect(label).to_have_text("Step 200")
    page.keyboard.press("ArrowLeft")
    expect(label).to_have_text("Step 100")
    expect(page.locator(".sample")).to_contain_text("it fails, below 30")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    expect(label).to_have_text("Step 200")
    expect(page.locator(".parts li")).to_have_count(4)


def test_a_training_that_is_over_is_seen_once_more(opened: Open) -> None:
    page = opened("lost")
    expect(page.locator(".notch")).to_have_count(3)
    page.get_by_role("button", name="Replay").click()
    expect(page.locator(".replay .placed")).to_have_text(re.compile(r"^Step \d+ of 300$"))
    expect(page.locator(".notch")).to_have_count(0)  # none yet, at its beginning
    expect(page.locator(".phases li")).not_to_have_count(4)
    expect(page.locator(".notch")).to_have_count(1, timeout=20_000)
    page.get_by_role("button", name="End the replay").click()
    expect(page.locator(".notch")).to_have_count(3)
    expect(page.locator(".phases li")).to_have_count(4)


def test_two_trainings_are_laid_over_each_other(
    browser: Browser, stack: Stack, made: dict[str, Any]
) -> None:
    runs = made["runs"]
    said = []
    for scripts in (False, True):
        session = made["sessions"]["trained"]
        context = signed_in(browser, stack, session, java_script_enabled=scripts)
        page = context.new_page()
        page.goto(f"/en/runs/compare/?a={runs['trained']}&b={runs['lost']}")
        expect(page.locator("[data-overlay] tbody tr")).to_have_count(2)
        expect(page.locator("[data-overlay] tbody")).to_contain_text("weight decay")
        if scripts:
            expect(page.locator("[data-overlay] .chart canvas").first).to_be_attached()
        said.append(page.locator("[data-overlay] .plot").evaluate_all(
            "all => all.map((plot) => plot.ariaLabel)"
        ))  # fmt: skip
        context.close()
    assert said[0] == said[1]
    assert said[0][0].startswith("Loss A ") and "B, smoothed" in said[0][0]


@pytest.mark.parametrize("script", [True, False])
def test_on_paper_its_curves_are_seen_and_nothing_waits_to_be_pressed(
    opened: Open, script: bool
) -> None:
    page = opened("trained", java_script_enabled=script, color_scheme="dark")
    if script:
        page.locator(".chart.tall canvas").wait_for()
    page.emulate_media(media="print")
    charts = page.locator(".chart .plot")
    assert charts.count() > 3
    for chart in charts.all():
        box = chart.bounding_box()
        assert box and box["height"] > 100
    pressed = "button, input, select, summary, .replay, .stepper, .rail"
    assert not any(one.is_visible() for one in page.locator(pressed).all())
