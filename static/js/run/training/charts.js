// The charts of a training: the loss above, raw and smoothed, then one small chart a gauge. The
// loss is drawn with every frame, the gauges a few times a second.
import { el, write } from "../../dom.js";
import { createChart } from "./chart.js";
import { clippedSaid, curveOf, rangeOf, wholeCurve, wholePhases } from "./facts.js";

export const GAUGES = [
  "learning-rate", "norm", "loss-scale", "tokens-per-second", "memory", "gpu-use", "gpu-power",
  "gpu-temperature", "host-load",
];
const GAUGE_MS = 250;
const BYTES = new Set(["B", "bytes"]);

export function drawLoss(host, panel) {
  const { wording, shared } = panel;
  const chart = createChart(host, wording, shared.plot, true);
  let drawn = null;
  return function update(state) {
    chart.figure.hidden = !curveOf(state, "loss").steps.length;
    const finished = panel.over;
    if (chart.figure.hidden || (state.metrics === drawn?.metrics && finished === drawn.finished)) return;
    drawn = { metrics: state.metrics, finished };
    chart.update({
      title: wording.named("metric.loss", "loss"),
      unit: state.metrics.get("loss").unit,
      curves: [
        { name: wording.say("each_step"), tone: "raw", ...wholeCurve(state, panel.before, "loss") },
        { name: wording.say("smoothed"), tone: "ema", ...wholeCurve(state, panel.before, "ema") },
      ].filter(({ steps }) => steps.length),
      range: rangeOf(state, panel),
      marks: state.marks.map(({ step }) => step),
      bands: wholePhases(state, panel.before).map(({ phase, step }) => ({ name: wording.phase(phase), step })),
    });
  };
}

export function drawGauges(host, panel) {
  const { wording, shared } = panel;
  const board = host.appendChild(el("div", { class: "gauges" }));
  const clipped = host.appendChild(el("p", { class: "hint clipped" }));
  const telemetry = host.appendChild(el("p", { class: "hint telemetry", hidden: true }));
  const charts = new Map();
  const drawn = new Map();
  let timer = 0;
  let latest = null;

  function draw() {
    timer = 0;
    const state = latest;
    for (const name of GAUGES) {
      const metric = state.metrics.get(name);
      if (!metric?.curves.size || drawn.get(name) === metric) continue;
      drawn.set(name, metric);
      if (!charts.has(name)) charts.set(name, createChart(placeOf(name), wording, shared.plot));
      charts.get(name).update(model(state, name, metric, panel));
    }
    write(clipped, clippedSaid(state, wording));
    telemetry.hidden = !state.noTelemetry;
    if (state.noTelemetry) write(telemetry, wording.named("log.andrea.no-telemetry", ""));
  }

  /** In the order of the list, whichever is told first. */
  function placeOf(name) {
    const place = el("div", {});
    const after = GAUGES.slice(GAUGES.indexOf(name) + 1).find((other) => charts.has(other));
    board.insertBefore(place, after ? charts.get(after).figure.parentNode : null);
    return place;
  }

  return function update(state, live) {
    latest = state;
    if (!live || (panel.over && !panel.replayed)) {
      clearTimeout(timer);
      drawn.clear();
      draw();
    } else timer ||= setTimeout(draw, GAUGE_MS);
  };
}

function model(state, name, metric, panel) {
  const { wording } = panel;
  const curve = readable(metric, curveOf(state, name), wording);
  const level = levelOf(state, name);
  const warm = name === "learning-rate" ? state.schedule?.warmup : 0;
  return {
    title: wording.named(`metric.${name}`, name),
    unit: curve.unit,
    curves: [{ name: "", tone: "s0", steps: curve.steps, values: curve.values }],
    range: rangeOf(state, panel),
    level,
    levelSaid: level ? wording.say(`level_${name}`, { level }) : warm ? wording.say("warm_up", { step: warm }) : "",
    marks: state.marks.map(({ step }) => step),
    dots: name === "norm",
  };
}

/** Bytes as megabytes: nine digits cannot be compared at a glance. */
export function readable({ unit }, { steps, values }, wording) {
  if (!BYTES.has(unit)) return { unit, steps, values };
  return { unit: wording.say("megabytes"), steps, values: values.map((value) => value === null ? null : value / 1e6) };
}

/** The line that a gauge is read against. */
function levelOf(state, name) {
  if (name === "norm") return state.schedule?.clip || null;
  return name === "gpu-power" ? state.powerLimit : null;
}
