// A training that is over, seen once more as it went: the same pieces drawn from what was told up
// to a step, which runs ahead faster than it did. Nothing is asked of the server.
import { el, write } from "../../dom.js";
import { countUpTo, curveOf } from "./facts.js";

const SECONDS = 15;

export function drawReplay(host, panel) {
  const { wording } = panel;
  const button = el("button", { type: "button", class: "quiet" }, wording.say("replay"));
  const at = el("span", { class: "placed" });
  const place = el("div", { class: "row replay", hidden: true }, button, at);
  host.append(place);
  let frame = 0;

  function stop() {
    cancelAnimationFrame(frame);
    frame = 0;
    panel.replayed = null;
    write(button, wording.say("replay"));
    write(at, "");
    panel.render(false);
  }

  function play() {
    const { state } = panel;
    const [first, last] = spanOf(state);
    const began = performance.now();
    write(button, wording.say("replay_end"));
    frame = requestAnimationFrame(function next(now) {
      const step = first + ((now - began) / 1000 / SECONDS) * (last - first);
      if (step >= last || panel.state !== state) return stop();
      const done = Math.max(first, Math.floor(step));
      panel.replayed = upTo(state, done);
      write(at, wording.say("step_of", { done, total: last }));
      panel.render(true);
      frame = requestAnimationFrame(next);
    });
  }

  button.addEventListener("click", () => (frame ? stop() : play()));
  return () => {
    const [first, last] = spanOf(panel.state);
    place.hidden = panel.run.state !== "ended" || last - first < 2;
  };
}

function spanOf(state) {
  const { steps } = curveOf(state, "loss");
  return [steps[0] ?? 0, steps.at(-1) ?? 0];
}

/** The state as it was when that step was made. */
function upTo(state, step) {
  const metrics = new Map();
  for (const [name, metric] of state.metrics) {
    const curves = new Map();
    for (const [series, curve] of metric.curves) {
      const keep = countUpTo(curve.steps, step);
      if (keep) curves.set(series, { steps: curve.steps.slice(0, keep), values: curve.values.slice(0, keep) });
    }
    if (curves.size || metric.lone.size) metrics.set(name, { ...metric, curves });
  }
  const told = (list) => list.filter((one) => one.step <= step);
  return {
    ...state,
    metrics,
    samples: told(state.samples),
    phases: told(state.phases),
    marks: told(state.marks),
    artifacts: state.artifacts.filter(({ name }) => Number(/^step_(\d+)\.bin$/.exec(name)?.[1] ?? Infinity) <= step),
    progress: state.progress && { ...state.progress, done: step },
  };
}
