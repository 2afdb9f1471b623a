// One chart of a training: curves on a canvas, with the threshold they are read against, places
// where the Run went on, and the phases beneath. Its caption says in words what the curves have
// come to: it is also what a screen reader gets. runner/charts.py draws the same, coarser.
import { el, set, write } from "../../dom.js";
import { axesOf, inksOf, library, onPaper, onTheme, paper } from "../plot.js";
import { aligned, extent, thinned } from "./thin.js";

/** How each tone of a curve is drawn; the first of two lies below the second. */
const LINES = {
  raw: (inks) => ({ stroke: inks.soft, width: 1, alpha: 0.55 }),
  ema: (inks) => ({ stroke: inks.forward, width: 2.25 }),
  s0: (inks) => ({ stroke: inks.forward, width: 1.75 }),
  s1: (inks) => ({ stroke: inks.backward, width: 1.75, dash: [7, 4] }), // so that both are seen where they agree
  a0: (inks) => ({ stroke: inks.forward, width: 1, alpha: 0.4 }),
  a1: (inks) => ({ stroke: inks.backward, width: 1, alpha: 0.4 }),
};
const MOST_DOTS = 2000;

/**
 * A chart in `host`. `update(model)` draws
 * {title, unit, curves: [{name, tone, steps, values}], range, level, levelSaid, marks, bands, dots}:
 * `level` is a threshold, `dots` marks what lies above it, `bands` are [{name, step}].
 */
export function createChart(host, wording, plot, tall = false) {
  const caption = el("figcaption", {});
  const box = el("div", { class: "plot", role: "img" });
  const figure = el("figure", { class: `chart${tall ? " tall" : ""}` }, caption, box);
  host.append(figure);
  const say = sayer(caption, box, wording);
  let chart = null;
  let model = null;
  let drawn = "";
  let seen = true;
  let late = false;

  /** Once drawn, only while it can be seen; it catches up when it comes into sight. */
  function redraw() {
    late = !seen && chart !== null && !paper.under;
    if (late || !model || !box.clientWidth) return;
    const columns = Math.max(60, box.clientWidth - 70);
    const curves = model.curves.map((curve) => thinned(curve, ...model.range, columns));
    model.extent = reach(extent(curves), model.level);
    const data = aligned(curves);
    const shape = model.curves.map(({ tone }) => tone).join();
    if (chart && drawn === shape) return chart.setData(data);
    chart?.destroy();
    drawn = shape;
    chart = new window.uPlot(options(box, () => model, wording, tall), data, box);
  }

  new IntersectionObserver((entries) => {
    seen = entries.at(-1).isIntersecting;
    if (seen && late) redraw();
  }, { rootMargin: "120px" }).observe(box);
  new ResizeObserver(() => {
    if (!chart || !box.clientWidth) return;
    chart.setSize({ width: box.clientWidth, height: box.clientHeight });
    redraw();
  }).observe(box);
  const anew = () => {
    drawn = "";
    redraw();
  };
  onTheme(anew);
  onPaper(anew);

  return {
    figure,
    update(next) {
      // Out of sight it may be resized before it is drawn anew: with the reach it had.
      model = { extent: model?.extent, ...next };
      say(next);
      library(plot).then(redraw, () => {});
    },
  };
}

/** With room above and below; as far as the threshold, unless it lies far above. */
function reach(found, level) {
  let [low, high] = found ?? [0, 1];
  if (level && level <= high + 2 * (high - low || high || 1)) {
    low = Math.min(low, level);
    high = Math.max(high, level);
  }
  const room = (high - low) * 0.04 || Math.abs(high) * 0.04 || 1;
  return [low < 0 ? low - room : Math.max(0, low - room), high + room];
}

function sayer(caption, box, wording) {
  const title = el("strong", {});
  const level = el("span", { class: "level" });
  const keys = [];
  caption.append(title, level);
  return ({ title: name, unit, curves, levelSaid }) => {
    write(title, unit ? `${name} (${wording.unit(unit)})` : name);
    curves.forEach(({ name: curve, tone, values }, index) => {
      keys[index] ??= level.parentNode.insertBefore(el("span", {}), level);
      set(keys[index], { class: `key ${tone}` });
      write(keys[index], `${curve} ${wording.number(values.at(-1), 5)}`.trim());
    });
    write(level, levelSaid ?? "");
    const parts = [title, ...keys, level].map((node) => node.textContent);
    const all = parts.filter(Boolean).join(" ");
    if (box.getAttribute("aria-label") !== all) set(box, { "aria-label": all });
  };
}

function options(box, model, wording, tall) {
  const inks = inksOf(box);
  return {
    width: box.clientWidth,
    height: box.clientHeight,
    cursor: { show: false },
    legend: { show: false },
    padding: [tall ? 20 : 8, 22, 0, 0],
    scales: {
      x: { time: false, range: () => model().range },
      y: { range: () => model().extent },
    },
    axes: axesOf(inks, wording, !tall),
    series: [{}, ...model().curves.map(({ tone }) => ({ ...LINES[tone](inks), points: { show: false } }))],
    hooks: {
      drawClear: [(chart) => shade(chart, model(), inks)],
      draw: [(chart) => annotate(chart, model(), inks)],
    },
  };
}

/** Every second phase on a tinted ground; a name where there is room for it. */
function shade(chart, { bands = [], range }, inks) {
  if (!bands.length) return;
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.font = scaled(inks.font, ratio);
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  bands.forEach(({ name, step }, index) => {
    const from = Math.max(bbox.left, chart.valToPos(Math.max(step, range[0]), "x", true));
    const to = Math.min(bbox.left + bbox.width, chart.valToPos(bands[index + 1]?.step ?? range[1], "x", true));
    if (index % 2) {
      ctx.fillStyle = inks.mark;
      ctx.fillRect(from, bbox.top, to - from, bbox.height);
    }
    if (ctx.measureText(name).width + 6 * ratio > to - from) return;
    ctx.fillStyle = inks.soft;
    ctx.fillText(name, from + 3 * ratio, bbox.top - 6 * ratio);
  });
  ctx.restore();
}

/** The threshold, what lies above it, and where the Run went on from a checkpoint. */
function annotate(chart, { level, marks = [], dots, curves, range, extent: [low, high] }, inks) {
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  const line = (x0, y0, x1, y1, dash) => {
    ctx.setLineDash(dash.map((length) => length * ratio));
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
    ctx.stroke();
  };
  ctx.save();
  ctx.lineWidth = 1.25 * ratio;
  if (level && level >= low && level <= high) {
    const y = chart.valToPos(level, "y", true);
    ctx.strokeStyle = inks.backward;
    line(bbox.left, y, bbox.left + bbox.width, y, [5, 4]);
    if (dots) above(chart, curves[0], level, inks, ratio);
  }
  ctx.strokeStyle = inks.ink;
  for (const step of marks) {
    if (step < range[0] || step > range[1]) continue;
    const x = chart.valToPos(step, "x", true);
    line(x, bbox.top, x, bbox.top + bbox.height, [2, 3]);
  }
  ctx.restore();
}

/** A dot on every point above the threshold: shape, not colour alone, tells them apart. */
function above(chart, { steps, values }, level, inks, ratio) {
  const { ctx } = chart;
  const radius = 2.25 * ratio;
  let drawn = 0;
  ctx.fillStyle = inks.backward;
  ctx.beginPath();
  for (let index = values.length - 1; index >= 0 && drawn < MOST_DOTS; index -= 1) {
    const value = values[index];
    if (value === null || value <= level) continue;
    const x = chart.valToPos(steps[index], "x", true);
    const y = chart.valToPos(value, "y", true);
    ctx.moveTo(x + radius, y);
    ctx.arc(x, y, radius, 0, 2 * Math.PI);
    drawn += 1;
  }
  ctx.fill();
}

function scaled(font, ratio) {
  return font.replace(/^[\d.]+/, (size) => String(Number(size) * ratio));
}
