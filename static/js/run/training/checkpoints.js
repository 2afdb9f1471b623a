// The checkpoints of a training on a line below its loss: one mark each, the best one marked, and
// below it what there is to know and to do of the one chosen. The line is one stop of the Tab
// key; arrows walk along it.
import { el, set } from "../../dom.js";
import { digits } from "../words.js";
import { checkpointsOf, longer, rangeOf } from "./facts.js";

const MOVES = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };

export function drawCheckpoints(host, wording, panel) {
  const rail = el("div", { class: "rail", role: "slider", tabindex: 0, "aria-label": wording.say("checkpoints") });
  const detail = el("ol", { class: "kept" });
  const hint = panel.run.recording ? el("p", { class: "hint" }, wording.say("not_recorded")) : "";
  const section = el("section", { class: "checkpoints", hidden: true });
  section.append(panel.heading(wording.say("checkpoints")), hint, rail, detail);
  host.append(section);
  let all = [];
  let chosen = null; // a step; null: the latest one
  let drawn = "";
  let shown = "";

  const place = () => {
    const found = all.findIndex(({ step }) => step === chosen);
    return found < 0 ? all.length - 1 : found;
  };

  function choose(index) {
    chosen = all[Math.max(0, Math.min(all.length - 1, index))].step;
    mark();
    show();
  }

  rail.addEventListener("keydown", (event) => {
    if (event.key in MOVES) choose(place() + MOVES[event.key]);
    else if (event.key === "Home") choose(0);
    else if (event.key === "End") choose(all.length - 1);
    else return;
    event.preventDefault();
  });
  rail.addEventListener("pointerdown", (event) => {
    const ticks = [...rail.children];
    const away = ticks.map((tick) => Math.abs(tick.getBoundingClientRect().x - event.clientX));
    choose(away.indexOf(Math.min(...away)));
  });

  function mark() {
    const here = place();
    [...rail.children].forEach((tick, index) => tick.classList.toggle("on", index === here));
    set(rail, {
      "aria-valuemin": 1,
      "aria-valuemax": all.length,
      "aria-valuenow": here + 1,
      "aria-valuetext": saidOf(all[here], wording).join(", "),
    });
  }

  function show() {
    const looks = JSON.stringify([all[place()], panel.run.state]);
    if (looks === shown) return;
    shown = looks;
    detail.replaceChildren(card(all[place()], wording, panel));
  }

  return function update(state) {
    const [first, last] = rangeOf(state, panel);
    all = checkpointsOf(state, panel.run);
    section.hidden = !all.length;
    if (!all.length) {
      rail.replaceChildren();
      drawn = "";
      return;
    }
    const looks = JSON.stringify([all, first, last]);
    if (looks !== drawn) {
      drawn = looks;
      rail.replaceChildren(...all.map((one) => tick(one, first, last)));
      mark();
    }
    show();
  };
}

function tick({ step, best, kept }, first, last) {
  const mark = el("i", { class: `notch${best ? " best" : ""}${kept ? "" : " gone"}` });
  mark.style.setProperty("--at", String((step - first) / Math.max(1, last - first)));
  return mark;
}

function saidOf({ step, loss, best, kept }, wording) {
  const said = [wording.say("step", { step })];
  if (loss !== null) said.push(wording.say("smoothed_there", { loss: digits(loss, 5) }));
  if (best) said.push(wording.say("best"));
  if (!kept) said.push(wording.say("not_kept"));
  return said;
}

/** What the page without a script says of each: templates/runner/_checkpoint.html. */
function card(one, wording, panel) {
  const item = el("li", {}, el("strong", {}, wording.say("step", { step: one.step })));
  if (one.loss !== null) item.append(el("span", {}, wording.say("smoothed_there", { loss: digits(one.loss, 5) })));
  if (one.best) item.append(el("span", { class: "best" }, `★ ${wording.say("best")}`));
  if (!one.kept) {
    if (!panel.run.recording) item.append(el("span", { class: "gone" }, wording.say("not_kept")));
    return item;
  }
  item.append(
    el("a", { href: panel.url(`files/${encodeURIComponent(one.name)}`) }, `${wording.say("download")} (${megabytes(one.bytes, wording)})`),
  );
  if (panel.run.steerable && panel.run.state === "ended") item.append(resumeForm(one, wording, panel));
  return item;
}

function megabytes(bytes, wording) {
  return `${wording.number(digits(bytes / 1e6, 4))} ${wording.say("megabytes")}`;
}

function resumeForm({ step, name }, wording, panel) {
  const steps = el("input", {
    class: "num", name: "steps", inputmode: "numeric", pattern: "[0-9]*", placeholder: longer(panel.state), size: 7,
  });
  return el(
    "form",
    { method: "post", action: panel.url("resume/"), "data-lead": "resume" },
    el("input", { type: "hidden", name: "file", value: name }),
    el("label", {}, `${wording.say("resume_until")} `, steps),
    el("button", { class: "quiet" }, wording.say("resume"), el("span", { class: "sr" }, `: ${wording.say("step", { step })}`)),
  );
}

/** Two trainings, one of them stopped and resumed: offered once this one is over. */
export function drawProof(host, wording, panel) {
  const form = el(
    "form",
    { class: "prove", method: "post", action: panel.url("prove/"), "data-lead": "prove", hidden: true },
    el("button", { class: "quiet" }, wording.say("prove")),
    el("p", { class: "hint" }, wording.say("prove_about")),
  );
  if (panel.run.steerable) host.append(form);
  return () => {
    form.hidden = panel.run.state !== "ended";
  };
}
