// How a Run stands, as one line and the sentence below it; runner/panel.py says the same.

export function verdictText({ wording, run, state, drawTraining }) {
  if (run.state === "ended") return wording.say(`outcome.${run.outcome}`);
  if (run.state === "queued") {
    return run.queue_position ? wording.say("queue_place", { place: run.queue_position }) : wording.say("queued");
  }
  if (state.cases.length) return counts(wording, state);
  if (drawTraining && state.progress && !run.stopping) return wording.say("step_of", state.progress);
  return wording.say(run.stopping ? "stopping" : "running");
}

function counts(wording, { cases, passed, failed, progress }) {
  const left = Math.max(0, (progress?.total ?? 0) - cases.length);
  const parts = [wording.say("count_passed", { n: passed })];
  if (failed) parts.push(wording.say("count_failed", { n: failed }));
  if (left) parts.push(wording.say("count_left", { n: left }));
  return parts.join(", ");
}

export function saidText({ wording, run, state }) {
  if (run.state === "queued") {
    return run.wait ? wording.say("queue_range", { low: run.wait[0], high: run.wait[1] }) : wording.say("queue_unknown");
  }
  if (run.state === "running") return wording.note(state.progress?.note);
  const ended = run.note?.code ? run.note : { code: `outcome.${run.outcome}` };
  return [wording.note(ended), wording.words[`advice.${run.outcome}`]].filter(Boolean).join(" ");
}
