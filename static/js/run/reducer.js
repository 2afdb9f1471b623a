// What a Run has said: a pure function from Events to a state. No DOM here.
// runner/story.py tells the same story on the server; a test holds both together.

const LOG_LINES = 1000;

export function blank() {
  return {
    seq: 0,
    cases: [],
    passed: 0,
    failed: 0,
    failure: null,
    progress: null,
    metrics: new Map(),
    tables: [],
    pictures: [],
    samples: [],
    artifacts: [],
    filed: 0, // seq of the last file
    log: [],
    logCut: 0,
    made: null,
    outcome: null,
    era: 0, // how often the Run began anew
    // Of a training
    schedule: null,
    phases: [],
    marks: [], // where it went on from a checkpoint
    powerLimit: null,
    noTelemetry: false,
  };
}

/** The state that runner/packing.py has packed: some Events, and curves as columns. */
export function restored({ seq, events, curves }) {
  const state = { ...blank(), owned: new Set() };
  for (const envelope of events) {
    state.seq = envelope.seq;
    reducers[envelope.kind]?.(state, envelope.data, envelope.at);
  }
  for (const { name, series, unit, steps, values } of curves) {
    const metric = state.metrics.get(name) ?? { unit, lone: new Map(), curves: new Map() };
    metric.curves.set(series, { steps, values });
    state.metrics.set(name, metric);
  }
  state.seq = seq;
  delete state.owned;
  return state;
}

/**
 * The state after these envelopes. Those it has are dropped; it stops before a gap, so that
 * whoever follows can ask again from `seq`. What did not change keeps its identity.
 */
export function advance(state, envelopes) {
  let next = null;
  for (const envelope of envelopes) {
    const seq = (next ?? state).seq;
    if (envelope.seq <= seq) continue;
    if (envelope.seq > seq + 1) break;
    next ??= { ...state, owned: new Set() };
    next.seq = envelope.seq;
    reducers[envelope.kind]?.(next, envelope.data, envelope.at);
  }
  if (!next) return state;
  delete next.owned;
  return next;
}

const reducers = {
  case(state, data) {
    own(state, "cases").push(data);
    if (data.verdict === "passed") state.passed += 1;
    else {
      state.failed += 1;
      state.failure ??= data;
    }
  },
  progress(state, data) {
    state.progress = data;
  },
  metric(state, data) {
    const metrics = own(state, "metrics");
    const metric = metrics.get(data.name) ?? { unit: data.unit ?? null, lone: new Map(), curves: new Map() };
    const series = data.series ?? "";
    const copy = { unit: metric.unit, lone: metric.lone, curves: metric.curves };
    if (data.step === undefined) copy.lone = new Map(metric.lone).set(series, data.value);
    else copy.curves = extended(state, metric.curves, series, data);
    metrics.set(data.name, copy);
  },
  table(state, data) {
    // A training that goes on after a restart says its plan again; it is shown once.
    const restarted = state.marks.some((mark) => mark.kind === "restart");
    if (!(restarted && state.tables.some((known) => known.name === data.name))) own(state, "tables").push(data);
  },
  figure: (state, data) => void own(state, "pictures").push(data),
  sample: (state, data) => void own(state, "samples").push(data),
  artifact(state, data) {
    own(state, "artifacts").push(data);
    state.filed = state.seq;
  },
  log(state, data, at) {
    if (data.note?.code === "made") {
      state.made = data.note.params;
      return;
    }
    learn[data.note?.code]?.(state, data.note.params);
    const log = own(state, "log");
    log.push({ ...data, at });
    if (log.length > LOG_LINES) {
      state.logCut += log.length - LOG_LINES;
      log.splice(0, log.length - LOG_LINES);
    }
  },
  outcome(state, data) {
    state.outcome = data;
  },
};

/** What a line of the log tells, of a training above all. */
const learn = {
  "log.restarted"(state) {
    const { seq, log, logCut, made, era, owned } = state;
    Object.assign(state, blank(), { seq, log, logCut, made, era: era + 1 });
    owned.clear();
  },
  "log.resumed-after-restart"(state, { step, file, attempt }) {
    cut(state, step);
    own(state, "marks").push({ kind: "restart", step, file, attempt });
  },
  // After a restart the training says so as well; it is one place, marked once.
  "log.andrea.resumed"(state, { step, file }) {
    if (state.marks.some((mark) => mark.step === step)) return;
    own(state, "marks").push({ kind: "resume", step, file, attempt: 0 });
  },
  "log.andrea.schedule"(state, params) {
    state.schedule = params;
  },
  "log.andrea.phase"(state, { phase, step }) {
    // After a resume it says once more in which phase it is.
    if (state.phases.at(-1)?.phase !== phase) own(state, "phases").push({ phase, step });
  },
  "log.andrea.no-telemetry"(state) {
    state.noTelemetry = true;
  },
  "log.andrea.power-limit"(state, { watts }) {
    state.powerLimit = watts;
  },
};

/** Forgets what comes once more after that step. */
function cut(state, after) {
  const metrics = new Map();
  for (const [name, metric] of state.metrics) {
    const curves = new Map();
    for (const [series, curve] of metric.curves) {
      let keep = curve.steps.length;
      while (keep && curve.steps[keep - 1] > after) keep -= 1;
      if (keep) curves.set(series, { steps: curve.steps.slice(0, keep), values: curve.values.slice(0, keep) });
    }
    if (curves.size || metric.lone.size) metrics.set(name, { ...metric, curves });
  }
  state.metrics = metrics;
  state.samples = state.samples.filter((sample) => sample.step <= after);
  state.phases = state.phases.filter((phase) => phase.step <= after);
}

/** The collection of that name, copied once for the whole batch before it is written to. */
function own(state, name) {
  if (!state.owned.has(name)) {
    state.owned.add(name);
    state[name] = state[name] instanceof Map ? new Map(state[name]) : [...state[name]];
  }
  return state[name];
}

function extended(state, curves, series, data) {
  const key = `${data.name}\n${series}`;
  const known = curves.get(series) ?? { steps: [], values: [] };
  const curve = state.owned.has(key)
    ? known
    : { steps: [...known.steps], values: [...known.values] };
  state.owned.add(key);
  curve.steps.push(data.step);
  curve.values.push(typeof data.value === "number" ? data.value : null);
  return curves.get(series) === curve ? new Map(curves) : new Map(curves).set(series, curve);
}
