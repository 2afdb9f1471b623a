// Two trainings laid over each other: each metric once, with a curve of either Run. What each has
// told is in its panel below; this draws it again as it grows.
import { panels } from "../run.js";
import { el } from "../dom.js";
import { createChart } from "./training/chart.js";
import { GAUGES, readable } from "./training/charts.js";
import { rangeOf, wholeCurve } from "./training/facts.js";

const LETTERS = ["A", "B"];
const REDRAW_MS = 250;

class Overlay {
  constructor(host) {
    [{ wording: this.wording, shared: { plot: this.plot } }] = panels;
    this.loss = el("div", {});
    this.gauges = el("div", { class: "gauges" });
    host.replaceChildren(this.loss, this.gauges);
    this.charts = new Map();
    this.draw();
    document.addEventListener("run-told", () => {
      this.timer ||= setTimeout(() => this.draw(), REDRAW_MS);
    });
  }

  draw() {
    this.timer = 0;
    const ranges = panels.map((panel) => rangeOf(panel.state, panel));
    this.range = [Math.min(...ranges.map(([first]) => first)), Math.max(...ranges.map(([, last]) => last))];
    const { wording } = this;
    const smoothed = (run) => wording.say("overlay_smoothed", { run });
    this.update("loss", this.loss, true, [
      ...pair("loss", "a", (letter) => letter),
      ...pair("ema", "s", smoothed),
    ]);
    for (const name of GAUGES) this.update(name, this.gauges, false, pair(name, "s", (letter) => letter));
  }

  update(name, host, tall, curves) {
    if (!curves.length) return;
    if (!this.charts.has(name)) this.charts.set(name, createChart(host, this.wording, this.plot, tall));
    const shown = curves.map((curve) => ({ ...curve, ...readable(curve, curve, this.wording) }));
    this.charts.get(name).update({
      title: this.wording.named(`metric.${name}`, name),
      unit: shown[0].unit,
      curves: shown,
      range: this.range,
    });
  }
}

/** The curves of that metric, of those that have it. */
function pair(name, tone, label) {
  return panels.flatMap(({ state, before }, index) => {
    const curve = wholeCurve(state, before, name);
    const unit = state.metrics.get(name)?.unit ?? null;
    return curve.steps.length ? [{ name: label(LETTERS[index]), tone: `${tone}${index}`, unit, ...curve }] : [];
  });
}

/** Both panels fetch what draws a training; by then they hold their states. */
function whenOpen() {
  if (panels.length !== 2 || panels.some(({ state }) => !state)) return;
  document.removeEventListener("run-told", whenOpen);
  new Overlay(document.querySelector("[data-overlay] [data-charts]"));
}

document.addEventListener("run-told", whenOpen);
whenOpen();
