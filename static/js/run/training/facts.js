// What the Events of a training come to: pure functions of the state, as runner/training.py has
// them. No DOM here.

const CHECKPOINT = /^step_(\d{6,10})\.bin$/;
const NOTHING = { steps: [], values: [] };

/** The curve of that metric, or one without a point. */
export function curveOf(state, name, series = "") {
  return state.metrics.get(name)?.curves.get(series) ?? NOTHING;
}

/** The loss of that name, with what the Runs that this one goes on from told before. */
export function wholeCurve(state, before, name) {
  const curve = curveOf(state, name);
  const earlier = before?.curves.find((one) => one.name === name);
  if (!earlier) return curve;
  return { steps: [...earlier.steps, ...curve.steps], values: [...earlier.values, ...curve.values] };
}

/** The phases of the loss, with those before. Who goes on says once more in which one it is: that
    is none of its own. */
export function wholePhases({ phases }, before) {
  const earlier = before?.phases ?? [];
  const same = earlier.length && earlier.at(-1).phase === phases[0]?.phase;
  return [...earlier, ...phases.slice(same ? 1 : 0)];
}

/** How many of these steps, which only grow, come no later than that one. */
export function countUpTo(steps, step) {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle] <= step) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The value at that step, or the last one before; null where there is none. */
export function valueAt({ steps, values }, step) {
  const count = countUpTo(steps, step);
  return count ? values[count - 1] : null;
}

/** Every checkpoint by step, with its smoothed loss; the best has the lowest, the later of two. */
export function checkpointsOf(state, run) {
  const smooth = curveOf(state, "ema");
  const found = new Map();
  for (const file of state.artifacts) {
    const step = Number(CHECKPOINT.exec(file.name)?.[1] ?? NaN);
    if (Number.isNaN(step)) continue;
    const kept = file.kept !== false && (run.kept?.[file.name] ?? !run.recording);
    found.set(step, { step, name: file.name, bytes: file.bytes, kept, loss: valueAt(smooth, step), best: false });
  }
  const all = [...found.values()].sort((one, other) => one.step - other.step);
  let best = null;
  for (const one of all) if (one.loss !== null && (best === null || one.loss <= best.loss)) best = one;
  if (best) best.best = true;
  return all;
}

/** In words how often the norm was above the threshold, of the steps that told it. */
export function clippedSaid(state, wording) {
  const norm = curveOf(state, "norm");
  const clip = state.schedule?.clip;
  if (!norm.steps.length || clip === undefined) return "";
  if (!clip) return wording.say("no_clipping");
  let over = 0;
  for (const value of norm.values) if (value !== null && value > clip) over += 1;
  const every = curveOf(state, "loss").steps.length <= norm.steps.length;
  return wording.say(every ? "clipped" : "clipped_of_told", { over, n: norm.steps.length });
}

/** Up to which step a Run goes that resumes this one, unless told otherwise. */
export function longer(state) {
  const { done = 0, total = 0 } = state.progress ?? {};
  return done < total ? total : 2 * total;
}

/**
 * The steps that the charts show: all there are, once the Run is over. While it goes on the axis
 * doubles as it fills, so that curves grow to the right and do not shrink with every point.
 */
export function rangeOf(told, { over, before, replayed, state: whole }) {
  const state = replayed ? whole : told; // a replay fills the axis of all of it
  const { steps } = curveOf(state, "loss");
  const first = before?.curves[0]?.steps[0] ?? steps[0] ?? 0;
  const last = Math.max(steps.at(-1) ?? 1, first + 1);
  const total = state.progress?.total ?? last;
  if (over || total <= last) return [first, last];
  let end = total - first;
  while (end / 2 >= Math.max(last - first, 8)) end /= 2;
  return [first, first + end];
}
