// One panel: its Run, its buttons, and the story drawn from Events. Whatever arrives is kept and
// drawn once a frame, so that thousands of Events cost one layout each frame and not one each.
import { el, json, write } from "../dom.js";
import { drawCases } from "./cases.js";
import { Controls } from "./controls.js";
import { drawMetrics } from "./metrics.js";
import { drawFiles, drawLog, drawMade, drawPictures, drawSamples, drawTables } from "./pieces.js";
import { advance, blank, restored } from "./reducer.js";
import { follow } from "./socket.js";
import { saidText, verdictText } from "./verdict.js";
import { Wording } from "./words.js";

const SIGNS = { passed: ["em", "✓"], failed: ["b", "✗"], error_in_code: ["b", "✗"] };

export class Panel {
  constructor(root) {
    const data = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
    this.shared = json("run-shared");
    this.wording = new Wording(this.shared);
    this.root = root;
    this.grid = data.grid;
    this.find = (name) => root.querySelector(`[data-${name}]`);
    this.host = this.find("story");
    this.controls = new Controls(this);
    if (data.training) this.fetchTraining(data);
    else this.open(data);
  }

  /** What draws a training is fetched where there is one; the page without a script stays
      until it is there. */
  async fetchTraining(data) {
    const { drawTraining } = await import("./training/training.js");
    this.drawTraining = drawTraining;
    this.open(data);
  }

  open(data) {
    if (data.run) this.begin(data.run, data.told, data.before);
    else if (data.grid) this.draw();
  }

  /** The heading of a part: one level below the title of the panel. */
  heading(text) {
    return el(this.root.querySelector("h1") ? "h2" : "h3", { class: "part" }, text);
  }

  url(rest = "") {
    return this.shared.run_url.replace(this.shared.any_run, this.run.id) + rest;
  }

  /** Shows this Run: what is known of it first, then what comes. */
  begin(run, told = null, before = null) {
    this.close?.();
    this.run = run;
    this.replayed = null; // the state as it was, while a training is seen once more
    this.before = before; // losses and phases of the Runs that this one goes on from
    this.missing = false;
    this.ended = undefined;
    this.state = told ? restored(told) : blank();
    this.waiting = [];
    this.wind(run);
    this.draw();
    this.render(false);
    if (this.over) return;
    this.close = follow(this.shared.socket.replace(this.shared.any_run, run.id), {
      seen: () => this.state.seq,
      events: (list) => this.take(list),
      run: (fields) => this.learn(fields),
      link: (up) => this.link(up),
      done: () => this.over,
      missing: () => this.isMissing(),
      gone: () => this.gone(),
    });
    this.clock = setInterval(() => this.tick(), 100);
  }

  get over() {
    return Boolean(this.run && this.run.state === "ended" && this.state.seq >= (this.run.last_seq ?? 0));
  }

  take(list) {
    this.waiting.push(...list);
    this.schedule();
    const last = this.waiting.at(-1)?.seq ?? 0;
    return last > this.state.seq + this.waiting.length;
  }

  learn(fields) {
    Object.assign(this.run, fields);
    if (fields.elapsed !== undefined) this.wind(fields);
    this.schedule();
  }

  schedule() {
    if (this.scheduled) return;
    this.scheduled = true;
    const run = () => {
      this.scheduled = false;
      this.catchUp();
    };
    // A hidden page gets no frames; it still keeps up, only less often.
    if (document.hidden) setTimeout(run, 500);
    else requestAnimationFrame(run);
  }

  catchUp() {
    const before = this.state;
    this.state = advance(before, this.waiting.splice(0));
    if (this.state.seq > before.seq && this.run.state === "queued") this.run.state = "running";
    if (this.state.outcome) {
      Object.assign(this.run, { state: "ended", outcome: this.state.outcome.outcome, note: this.state.outcome.note });
      this.run.last_seq = this.state.seq;
    }
    if (this.state.era > before.era) this.draw();
    this.render(true);
    this.announce(before);
    if (this.over) this.finish();
  }

  finish() {
    this.close?.();
    this.close = null;
    clearInterval(this.clock);
    this.link(true);
    this.root.dispatchEvent(new CustomEvent("run-ended", { bubbles: true }));
  }

  /** Asked when the server refuses the socket: HEAD costs it nothing. */
  async isMissing() {
    const answer = await fetch(this.url("events.jsonl"), { method: "HEAD" }).catch(() => null);
    return answer?.status === 404;
  }

  /** The Run was erased, or is no longer this reader's: nothing more will come. */
  gone() {
    this.missing = true;
    clearInterval(this.clock);
    this.verdict.replaceChildren();
    write(this.said, "");
    this.meter.hidden = true;
    const elapsed = this.find("elapsed");
    if (elapsed) write(elapsed, "");
    this.renderDevice();
    this.lost.hidden = false;
    write(this.lost, this.wording.say("run_gone"));
    this.root.dataset.state = "gone";
    this.controls.render();
  }

  /** The empty story: every piece in its place. */
  draw() {
    const { wording, host } = this;
    const fileUrl = (name) => this.url(`files/${name.split("/").map(encodeURIComponent).join("/")}`);
    this.verdict = el("p", { class: "verdict", "data-verdict": true });
    this.said = el("p", { class: "said" });
    this.lost = el("p", { class: "offline", role: "status", hidden: true });
    this.meter = el("progress", { "aria-label": wording.say("running"), hidden: true });
    const links = [...host.querySelectorAll(".made a")].map((link) => [link.href, link.textContent]);
    host.replaceChildren(...this.goesOn(), this.verdict, this.said, this.lost, this.meter);
    const part = () => host.appendChild(el("div"));
    // Without a grid, curves and numbers stand where the squares would.
    const places = [part(), part()];
    if (!this.grid) places.reverse();
    const train = this.drawTraining && this.run;
    this.pieces = [
      drawCases(places[0], this.grid, wording),
      ...(train ? this.drawTraining(places[1], this) : []),
      drawMetrics(places[1], wording, train ? null : this.shared.plot),
      drawTables(part(), wording),
      drawPictures(part(), wording, fileUrl),
      ...(train ? [] : [drawSamples(part(), wording, this.shared.scoring)]),
      drawFiles(part(), wording, fileUrl, () => this.run?.kept),
      drawLog(part(), wording),
      this.run ? drawMade(part(), wording, this.links(links)) : () => {},
    ];
  }

  /** Which Run this one goes on from, and whether all that it told of the loss is drawn. */
  goesOn() {
    const start = this.run?.resumes;
    if (!start) return [];
    const url = this.shared.run_url.replace(this.shared.any_run, start.run);
    const link = el("a", { href: url }, this.wording.say("continues", { step: start.step }));
    const cut = this.before?.whole === false && el("p", { class: "hint" }, this.wording.say("before_cut"));
    return [el("p", { class: "resumes" }, link), cut || ""];
  }

  links(drawn) {
    const { wording } = this;
    if (drawn.length && drawn[0][0].includes(this.run.id)) return drawn;
    return [
      [this.url(), wording.say("run_number", { id: this.run.id.slice(0, 8) })],
      [this.url("events.jsonl"), wording.say("raw_events")],
      [this.url("log.txt"), wording.say("log")],
    ];
  }

  render(live) {
    for (const piece of this.pieces) piece(this.replayed ?? this.state, live);
    this.renderVerdict();
    this.renderMeter();
    this.controls.render();
    this.renderDevice();
    this.tick();
    this.root.dataset.state = this.run.state;
    this.root.dispatchEvent(new CustomEvent("run-told", { bubbles: true }));
  }

  renderVerdict() {
    const [kind, sign] = (this.run.state === "ended" && SIGNS[this.run.outcome]) || [];
    const text = verdictText(this);
    const shown = sign ? `${sign} ${text}` : text;
    if (this.verdict.textContent !== shown) this.verdict.replaceChildren(kind ? el(kind, {}, shown) : shown);
    write(this.said, saidText(this));
  }

  renderMeter() {
    const { progress } = this.state;
    this.meter.hidden = this.run.state !== "running";
    if (!progress) return;
    this.meter.max = Math.max(1, progress.total);
    this.meter.value = progress.done;
  }

  renderDevice() {
    const place = this.find("device");
    const { made } = this.state;
    if (!made || !place) return;
    const tail = made.interpreter ? this.wording.say("interpreter_short") : made.triton ? `Triton ${made.triton}` : "";
    const text = [made.device_name, tail].filter(Boolean).join(" · ");
    const dot = `dot${this.run.state === "ended" || this.missing ? "" : " on"}`;
    if (place.textContent === text && place.firstElementChild?.className === dot) return;
    place.replaceChildren(el("i", { class: dot }), text);
  }

  /** Sets the clock: when the Run began, and when its last attempt did. */
  wind({ elapsed, attempt_elapsed: attempt }) {
    const ago = (seconds) => performance.now() - (seconds ?? 0) * 1000;
    this.since = { whole: ago(elapsed), attempt: ago(attempt) };
  }

  tick() {
    const place = this.find("elapsed");
    if (!place) return;
    const { state, duration, attempt_duration: last, attempt } = this.run;
    if (state === "queued") return write(place, "");
    const passed = (since) => (performance.now() - since) / 1000;
    let took = [passed(this.since.whole), passed(this.since.attempt)];
    if (state === "ended") took = this.ended ??= duration ? [duration, last] : took;
    else this.ended = undefined;
    const [whole, seconds] = took.map((one) => this.wording.seconds(one));
    write(place, attempt > 1 ? this.wording.say("elapsed_attempt", { whole, seconds, attempt }) : whole);
  }

  link(up) {
    this.lost.hidden = up;
    write(this.lost, up ? "" : this.wording.say("offline"));
  }

  /** Milestones only: it began, met its first failure, went on from a checkpoint, wrote what was
      asked for, is over. */
  announce(before) {
    const { wording, state } = this;
    const said = this.find("said");
    const asked = this.run.checkpoint_after ?? Infinity;
    if (state.outcome && !before.outcome) write(said, `${this.verdict.textContent} ${this.said.textContent}`);
    else if (state.failure && !before.failure) write(said, wording.say("first_failure", { case: wording.title(state.failure) }));
    else if (state.marks.length > before.marks.length) {
      const { kind, ...params } = state.marks.at(-1);
      write(said, wording.say(`mark_${kind}`, params));
    } else if (before.filed <= asked && state.filed > asked) {
      write(said, wording.say("checkpoint_written", { name: state.artifacts.findLast((file) => file.kept !== false).name }));
    } else if (state.made && !before.made) write(said, `${wording.say("running")}: ${state.made.device_name}`);
  }
}
