// What the model wrote, one sample at a time: buttons and arrow keys step through them, and the
// latest is shown as it comes until the reader has stepped back.
import { el, set, write } from "../../dom.js";
import { drawSample } from "../sample.js";

export function drawViewer(host, panel) {
  const { wording, shared } = panel;
  const back = el("button", { type: "button", class: "quiet" }, wording.say("previous"));
  const on = el("button", { type: "button", class: "quiet" }, wording.say("next"));
  const where = el("span", { class: "placed", role: "status" });
  const place = el("div", {});
  const bar = el("div", { class: "row stepper" }, back, where, on);
  const about = el("p", { class: "hint", hidden: true }, wording.say("score_about"));
  const section = el("section", { class: "samples", hidden: true }, panel.heading(wording.say("samples")), bar, place, about);
  host.append(section);
  let samples = [];
  let shown = null;
  let here = -1; // -1: the latest, whichever that is

  function show() {
    const index = here < 0 ? samples.length - 1 : Math.min(here, samples.length - 1);
    bar.hidden = samples.length < 2;
    write(where, wording.say("sample_place", { place: index + 1, total: samples.length }));
    // They keep the focus at an end of the list, so they are not disabled for good.
    set(back, { "aria-disabled": String(index === 0) });
    set(on, { "aria-disabled": String(index === samples.length - 1) });
    if (shown === samples[index]) return;
    shown = samples[index];
    about.hidden = shown.scores?.score === undefined;
    place.replaceChildren(drawSample(shown, wording, shared.scoring));
  }

  function go(by) {
    const index = (here < 0 ? samples.length - 1 : here) + by;
    if (index < 0 || index >= samples.length) return;
    here = index === samples.length - 1 ? -1 : index;
    show();
  }

  back.addEventListener("click", () => go(-1));
  on.addEventListener("click", () => go(1));
  section.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go(by);
  });

  return function update(state) {
    if (state.samples === samples) return;
    samples = state.samples;
    section.hidden = !samples.length;
    if (samples.length) show();
  };
}
