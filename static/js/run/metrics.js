// Metrics: a lone number is set as a figure, one with steps as a curve.
import { el, write } from "../dom.js";
import { axesOf, inksOf, library, onTheme } from "./plot.js";

/** Without `plot` the curves are drawn elsewhere, and only lone numbers here. */
export function drawMetrics(host, wording, plot) {
  const numbers = el("dl", { class: "numbers", hidden: true });
  const curves = el("div");
  host.append(curves, numbers);
  const figures = new Map();
  const charts = new Map();
  let drawn = null;

  function lone(name, series, value, unit) {
    const key = `${name}\n${series}`;
    if (!figures.has(key)) {
      const text = el("span", {});
      const shown = wording.unit(unit);
      const label = [wording.named(`metric.${name}`, name), series && wording.namedValue(series)];
      numbers.append(
        el(
          "div",
          {},
          el("dt", {}, label.filter(Boolean).join(" · ")),
          el("dd", {}, text, shown ? el("small", {}, ` ${shown}`) : null),
        ),
      );
      numbers.hidden = false;
      figures.set(key, text);
    }
    write(figures.get(key), wording.number(value));
    reveal(name, series, wording.number(value));
  }

  return function update(state) {
    if (state.metrics === drawn) return;
    drawn = state.metrics;
    for (const [name, metric] of drawn) {
      for (const [series, value] of metric.lone) lone(name, series, value, metric.unit);
      if (!plot || !metric.curves.size) continue;
      if (!charts.has(name)) charts.set(name, drawChart(curves, name, wording, plot));
      charts.get(name)(metric);
    }
  };
}

/** Where a hypothesis on the page waits for this number, it is set beside it. */
function reveal(name, series, text) {
  for (const place of document.querySelectorAll("[data-reveal]")) {
    if (place.dataset.reveal === name || place.dataset.reveal === `${name}:${series}`) write(place, text);
  }
}

function drawChart(host, name, wording, plot) {
  const caption = el("figcaption", {});
  const box = el("div", { class: "plot", role: "img" });
  host.append(el("figure", { class: "chart" }, caption, box));
  const title = wording.named(`metric.${name}`, name);
  let chart = null;
  let latest = null;
  let shown = 0;

  function redraw() {
    if (!latest) return;
    const data = aligned(latest.curves);
    if (chart && shown === latest.curves.size) chart.setData(data);
    else {
      chart?.destroy();
      shown = latest.curves.size;
      chart = new window.uPlot(options(box, caption, latest, wording), data, box);
    }
  }

  const resized = new ResizeObserver(() => chart?.setSize({ width: box.clientWidth, height: 190 }));
  resized.observe(box);
  onTheme(() => {
    shown = 0;
    redraw();
  });

  return function update(metric) {
    latest = metric;
    label(caption, box, title, metric, wording);
    library(plot).then(redraw, () => {});
  };
}

/** The caption says in words what the curves end at: it is also what a screen reader gets. */
function label(caption, box, title, metric, wording) {
  const unit = metric.unit ? ` (${wording.unit(metric.unit)})` : "";
  const keys = [...metric.curves].map(([series, curve], index) => {
    const name = series ? `${wording.namedValue(series)} ` : "";
    return el("span", { class: `key ${tone(series, index)}` }, `${name}${wording.number(curve.values.at(-1), 5)}`);
  });
  caption.replaceChildren(el("strong", {}, title + unit), ...keys);
  box.setAttribute("aria-label", caption.textContent);
}

/** Blue flows forward and vermilion back; the kernel is blue against a dashed reference. */
const TONES = { kernel: "s0", forward: "s0", backward: "s1", reference: "s2" };

function tone(series, index) {
  return TONES[series] ?? `s${index % 4}`;
}

/** Curves may have steps of their own: one shared axis, null where a curve has no point. */
function aligned(curves) {
  const all = [...curves.values()];
  const first = all[0].steps;
  const same = all.every((curve) => curve.steps.length === first.length && curve.steps.at(-1) === first.at(-1));
  if (same) return [first, ...all.map((curve) => curve.values)];
  const steps = [...new Set(all.flatMap((curve) => curve.steps))].sort((a, b) => a - b);
  return [
    steps,
    ...all.map((curve) => {
      const known = new Map(curve.steps.map((step, index) => [step, curve.values[index]]));
      return steps.map((step) => known.get(step) ?? null);
    }),
  ];
}

function options(box, caption, metric, wording) {
  const keys = [...caption.querySelectorAll(".key")];
  return {
    width: box.clientWidth,
    height: 190,
    cursor: { show: false },
    legend: { show: false },
    scales: { x: { time: false } },
    axes: axesOf(inksOf(box), wording),
    series: [
      {},
      ...[...metric.curves.keys()].map((series, index) => ({
        label: series,
        stroke: getComputedStyle(keys[index], "::before").borderTopColor,
        width: 1.75,
        dash: tone(series, index) === "s2" ? [5, 4] : undefined,
        points: { show: false },
      })),
    ],
  };
}
