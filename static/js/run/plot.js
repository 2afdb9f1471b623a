// uPlot, fetched only when there is a curve to draw, and what all its charts have in common.
import { el } from "../dom.js";

/** How far apart the steps named on an axis may lie: there is no half step. */
const APART = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap((size) => [size, 2 * size, 5 * size]);

let loading = null;

/** The library; `plot` says where its two files are. */
export function library(plot) {
  loading ??= new Promise((resolve, reject) => {
    const script = el("script", { src: plot.script });
    script.onload = () => resolve(window.uPlot);
    script.onerror = reject;
    document.head.append(el("link", { rel: "stylesheet", href: plot.style }), script);
  });
  return loading;
}

/** Runs `redraw` when the page turns from light to dark or back: canvases keep their colours. */
export function onTheme(redraw) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

/** Whether the page is being printed: paper is white, whatever the screen is. */
export const paper = { under: false };

/** Runs `redraw` before the page goes to paper and after. */
export function onPaper(redraw) {
  const turn = (under) => () => {
    paper.under = under;
    redraw();
  };
  addEventListener("beforeprint", turn(true));
  addEventListener("afterprint", turn(false));
}

/** Colours of the tokens as they are now, and the font that words in a chart are set in. */
export function inksOf(box) {
  const probe = el("span", { hidden: true });
  if (paper.under) probe.style.colorScheme = "light";
  box.append(probe);
  const read = (name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const names = ["forward", "backward", "ink", "soft", "line", "mark", "fail"];
  const inks = Object.fromEntries(names.map((name) => [name, read(`--${name}`)]));
  probe.remove();
  return { ...inks, font: `11.5px ${getComputedStyle(box).fontFamily}` };
}

/** `compact`: for a chart that is not high. */
export function axesOf(inks, wording, compact = false) {
  const axis = {
    stroke: inks.soft,
    font: inks.font,
    grid: { stroke: inks.line, width: 1 },
    ticks: { show: false },
    values: (_, values) => values.map((value) => wording.number(value, 4)),
  };
  const steps = { ...axis, grid: { show: false }, incrs: APART };
  const values = { ...axis, size: 62 };
  return compact ? [{ ...steps, size: 24 }, { ...values, space: 26 }] : [{ ...steps, size: 32 }, values];
}
