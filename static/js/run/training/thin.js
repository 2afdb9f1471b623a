// Thousands of points for hundreds of columns: of each column the lowest and the highest stay, so
// that no spike is lost. Curves then share one axis of steps, as uPlot wants it.

/**
 * The points with a step from `first` to `last`, at most two for each of `columns`, in order.
 * What fits is left as it is. A null, where a value was no number, stays a gap.
 */
export function thinned({ steps, values }, first, last, columns) {
  if (steps.length <= 2 * columns) return { steps, values };
  const scale = columns / Math.max(1, last - first);
  const out = { steps: [], values: [] };
  let column = -1;
  let low = -1;
  let high = -1;
  const flush = () => {
    if (low < 0) return;
    const [one, two] = low <= high ? [low, high] : [high, low];
    out.steps.push(steps[one]);
    out.values.push(values[one]);
    if (two === one) return;
    out.steps.push(steps[two]);
    out.values.push(values[two]);
  };
  for (let index = 0; index < steps.length; index += 1) {
    const here = Math.floor((steps[index] - first) * scale);
    const value = values[index];
    if (here !== column || value === null) {
      flush();
      column = here;
      low = high = -1;
    }
    if (value === null) {
      out.steps.push(steps[index]);
      out.values.push(null);
    } else if (low < 0) low = high = index;
    else if (value < values[low]) low = index;
    else if (value > values[high]) high = index;
  }
  flush();
  return out;
}

/** [steps, values, values, …]: undefined where a curve says nothing of that step. */
export function aligned(curves) {
  const [first] = curves;
  if (curves.every(({ steps }) => steps === first.steps || same(steps, first.steps))) {
    return [first.steps, ...curves.map(({ values }) => values)];
  }
  const places = curves.map(() => 0);
  const rows = [[], ...curves.map(() => [])];
  for (;;) {
    const next = Math.min(...curves.map(({ steps }, n) => steps[places[n]] ?? Infinity));
    if (next === Infinity) return rows;
    rows[0].push(next);
    curves.forEach(({ steps, values }, n) => {
      const here = steps[places[n]] === next;
      rows[n + 1].push(here ? values[places[n]] : undefined);
      while (steps[places[n]] === next) places[n] += 1;
    });
  }
}

function same(one, other) {
  return one.length === other.length && one.every((step, index) => step === other[index]);
}

/** The lowest and the highest value of these curves; null where there is none. */
export function extent(curves) {
  let low = Infinity;
  let high = -Infinity;
  for (const { values } of curves) {
    for (const value of values) {
      if (value === null) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low <= high ? [low, high] : null;
}
