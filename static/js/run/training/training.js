// A training in place of squares: its loss with phases and places, its checkpoints, its gauges
// and what it wrote. Fetched only for Procedures that train.
import { el } from "../../dom.js";
import { drawCheckpoints, drawProof } from "./checkpoints.js";
import { drawGauges, drawLoss } from "./charts.js";
import { wholePhases } from "./facts.js";
import { drawReplay } from "./replay.js";
import { drawViewer } from "./samples.js";

/** The pieces of the story, in order; each is called with the state after every change. */
export function drawTraining(host, panel) {
  const { wording } = panel;
  return [
    drawReplay(host, panel),
    drawLoss(host, panel),
    drawPlaces(host, wording),
    drawPhases(host, panel),
    drawCheckpoints(host, wording, panel),
    drawProof(host, wording, panel),
    drawGauges(host, panel),
    drawViewer(host, panel),
  ];
}

/** Where the Run went on from a checkpoint, in words. */
function drawPlaces(host, wording) {
  const list = host.appendChild(el("ul", { class: "places", hidden: true }));
  let drawn = null;
  return ({ marks }) => {
    if (marks === drawn) return;
    drawn = marks;
    list.hidden = !marks.length;
    list.replaceChildren(...marks.map(({ kind, ...params }) => el("li", {}, wording.say(`mark_${kind}`, params))));
  };
}

function drawPhases(host, panel) {
  const { wording } = panel;
  const list = el("ol", {});
  const hint = el("p", { class: "hint" }, wording.say("phases_hint"));
  const section = el("section", { class: "phases", hidden: true }, panel.heading(wording.say("phases")), list, hint);
  host.append(section);
  let drawn = null;
  return (state) => {
    if (state.phases === drawn) return;
    drawn = state.phases;
    const phases = wholePhases(state, panel.before);
    section.hidden = !phases.length;
    list.replaceChildren(
      ...phases.map(({ phase, step }) =>
        el("li", {}, el("strong", {}, wording.phase(phase)), ` ${wording.say("from_step", { step })}`),
      ),
    );
  };
}
