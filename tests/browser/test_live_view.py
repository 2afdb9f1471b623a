"""The live view: its reducer, and that it says what the server says of the same Run."""

import json
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from runner.packing import Told
from runner.story import tell
from runner.wording import Wording
from tests.browser.conftest import signed_in
from tests.browser.trained import trained
from tests.stack import Stack

EVENTS = [
    {"seq": 1, "kind": "log", "at": "", "data": {"note": {"code": "made", "params": {"seed": 1}}}},
    {"seq": 2, "kind": "progress", "at": "", "data": {"done": 1, "total": 2}},
    {"seq": 3, "kind": "case", "at": "", "data": {"id": "a", "verdict": "passed"}},
    {"seq": 4, "kind": "case", "at": "", "data": {"id": "b", "verdict": "failed"}},
    {"seq": 5, "kind": "metric", "at": "", "data": {"name": "m", "value": 1.5}},
    {
        "seq": 6,
        "kind": "metric",
        "at": "",
        "data": {"name": "l", "series": "k", "step": 1, "value": 2},
    },
    {
        "seq": 7,
        "kind": "metric",
        "at": "",
        "data": {"name": "l", "series": "k", "step": 2, "value": 1},
    },
    {"seq": 8, "kind": "log", "at": "", "data": {"text": "a line"}},
    {"seq": 9, "kind": "unheard-of", "at": "", "data": {}},
    {"seq": 10, "kind": "outcome", "at": "", "data": {"outcome": "failed"}},
]
REDUCE = """async (batches) => {
    const { advance, blank } = await import("/static/js/run/reducer.js");
    let state = blank();
    for (const batch of batches) state = advance(state, batch);
    const plain = (_, value) => value instanceof Map ? [...value.entries()] : value;
    return JSON.stringify(state, plain);
}"""


def reduced(page: Page, *batches: list[dict[str, Any]]) -> dict[str, Any]:
    page.goto("/en/")
    state: dict[str, Any] = json.loads(page.evaluate(REDUCE, list(batches)))
    return state


def test_old_state_and_new_events_make_the_same_state_as_all_of_them(page: Page) -> None:
    whole = reduced(page, EVENTS)
    assert reduced(page, *[[event] for event in EVENTS]) == whole
    assert reduced(page, EVENTS[:4], EVENTS[4:]) == whole
    assert (whole["passed"], whole["failed"], whole["failure"]["id"]) == (1, 1, "b")


def test_what_comes_twice_counts_once(page: Page) -> None:
    assert reduced(page, EVENTS[:6], EVENTS[2:], EVENTS) == reduced(page, EVENTS)


def test_a_gap_is_not_stepped_over(page: Page) -> None:
    state = reduced(page, EVENTS[:3], EVENTS[5:])
    assert state["seq"] == 3 and state["outcome"] is None


RESTORE = """async (told) => {
    const { restored } = await import("/static/js/run/reducer.js");
    const plain = (_, value) => value instanceof Map ? [...value.entries()] : value;
    return JSON.stringify(restored(told), plain);
}"""


@pytest.mark.parametrize("lost_at", [0, 257])
def test_what_the_server_has_packed_is_the_same_state(page: Page, lost_at: int) -> None:
    events = [
        {"seq": seq, "kind": kind, "at": "", "data": data}
        for seq, (kind, data) in enumerate(trained(300, lost_at=lost_at), start=1)
    ]
    told = Told()
    curves = tell(told.passing(events), None, Wording("en", {})).curves
    whole = reduced(page, events)
    state = json.loads(page.evaluate(RESTORE, told.packed(curves)))
    assert state == whole
    assert reduced(page, events[:700], events[700:]) == whole


def test_a_run_that_begins_anew_forgets_what_it_said(page: Page) -> None:
    note = {"code": "log.restarted", "params": {"attempt": 2}}
    anew = {"seq": 10, "kind": "log", "at": "", "data": {"note": note, "level": "warning"}}
    state = reduced(page, [*EVENTS[:9], anew])
    assert (state["cases"], state["metrics"], state["era"]) == ([], [], 1)
    assert [line.get("text") for line in state["log"]] == ["a line", None]
    assert state["made"] == {"seed": 1}


def test_an_older_state_is_left_as_it_was(page: Page) -> None:
    page.goto("/en/")
    same = page.evaluate(
        """async (events) => {
            const { advance, blank } = await import("/static/js/run/reducer.js");
            const steps = (state) => state.metrics.get("l").curves.get("k").steps.length;
            const old = advance(blank(), events.slice(0, 6));
            const next = advance(old, events);
            return steps(old) === 1 && steps(next) === 2 && old.outcome === null;
        }""",
        EVENTS,
    )
    assert same is True


SAID = """() => {
    const text = (node) => node.textContent.replace(/\\s+/g, " ").trim();
    const all = (where) => [...document.querySelectorAll(where)].map(text);
    const labels = [...document.querySelectorAll(".cell")].map((cell) => cell.ariaLabel);
    return {
        labels, verdict: all("[data-verdict]"), said: all(".said").filter(Boolean),
        lines: all(".caseline"), cases: all(".case strong, .case dt, .case dd, .case p"),
        numbers: all(".numbers > div"),
        tables: all("table.data th, table.data td, table.data caption"),
        samples: all(".sample"), log: all(".log > :not([hidden])"), made: all(".made"),
        device: all("[data-device]"), elapsed: all("[data-elapsed]"),
    };
}"""


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
@pytest.mark.parametrize("name", ["passed", "failed", "out_of_memory", "table", "recording"])
def test_a_script_says_what_the_server_said(
    browser: Browser, stack: Stack, made: dict[str, Any], name: str, language: str
) -> None:
    address = f"/{language}/runs/{made['runs'][name]}/"
    said = []
    for scripts in (False, True):
        session = made["sessions"].get(name, made["sessions"]["passed"])
        context = signed_in(browser, stack, session, java_script_enabled=scripts)
        page = context.new_page()
        page.goto(address)
        if scripts:
            expect(page.locator(".said")).not_to_be_empty()
        said.append(page.evaluate(SAID))
        context.close()
    assert said[1] == said[0]


def test_a_training_of_thousands_of_events_is_drawn_as_one_curve(
    browser: Browser, stack: Stack, made: dict[str, Any]
) -> None:
    context = signed_in(browser, stack, made["sessions"]["training"])
    page = context.new_page()
    page.goto(f"/en/runs/{made['runs']['training']}/")
    expect(page.locator(".chart canvas")).to_have_count(1)
    expect(page.locator(".chart figcaption")).to_contain_text("kernel 0.00066667")
    context.close()


def test_without_a_curve_the_library_for_curves_is_not_fetched(
    browser: Browser, stack: Stack, made: dict[str, Any]
) -> None:
    context = signed_in(browser, stack, made["sessions"]["failed"])
    page = context.new_page()
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.goto(f"/en/runs/{made['runs']['failed']}/", wait_until="networkidle")
    assert not [url for url in fetched if "uPlot" in url or "htmx" in url]
    context.close()


def test_a_file_that_comes_again_is_listed_once_and_one_let_go_has_no_link(page: Page) -> None:
    page.goto("/en/")
    files = [
        {"name": "step_000010.bin", "bytes": 8},
        {"name": "micro.loss.json", "bytes": 20},
        {"name": "step_000020.bin", "bytes": 8},
        {"name": "micro.loss.json", "bytes": 40},
        {"name": "step_000010.bin", "bytes": 8, "kept": False},
    ]
    listed = page.evaluate(
        """async (files) => {
            const { drawFiles } = await import("/static/js/run/pieces.js");
            const host = document.createElement("div");
            const wording = { language: "en", say: (word) => word };
            let kept = null;
            const update = drawFiles(host, wording, (name) => `/files/${name}`, () => kept);
            const seen = () => Array.from(host.querySelectorAll("li"), (item) =>
                [item.firstChild.textContent, item.querySelector("a")?.getAttribute("href") ?? null,
                 item.lastChild.textContent]);
            update({ artifacts: files.slice(0, 3) });
            update({ artifacts: files });
            const first = seen();
            kept = { "step_000020.bin": false };
            update({ artifacts: files });
            return [first, seen()];
        }""",
        files,
    )
    gone = ["step_000010.bin · not_kept", None, "8 byte"]
    loss = ["micro.loss.json", "/files/micro.loss.json", "40 byte"]
    last = ["step_000020.bin", "/files/step_000020.bin", "8 byte"]
    assert listed[0] == [gone, loss, last]
    assert listed[1] == [gone, loss, ["step_000020.bin · not_kept", None, "8 byte"]]


def test_a_phase_told_once_more_after_a_restart_is_no_new_one(page: Page) -> None:
    def log(seq: int, code: str, **params: Any) -> dict[str, Any]:
        note = {"code": code, "params": params}
        return {"seq": seq, "kind": "log", "at": "", "data": {"note": note}}

    restart = {"attempt": 2, "step": 20, "file": "step_000020.bin"}
    events = [
        log(1, "log.andrea.phase", phase="random", step=1),
        log(2, "log.andrea.phase", phase="frequency", step=11),
        log(3, "log.andrea.phase", phase="structure", step=25),
        log(4, "log.resumed-after-restart", **restart),
        log(5, "log.andrea.phase", phase="frequency", step=21),
        log(6, "log.andrea.phase", phase="structure", step=25),
    ]
    due = [("random", 1), ("frequency", 11), ("structure", 25)]
    assert [(p["phase"], p["step"]) for p in reduced(page, events)["phases"]] == due
    assert tell(events, None, Wording("en", {})).phases == due
