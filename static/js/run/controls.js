// The buttons of a panel: Run, Stop and a checkpoint, and the sentences that stand by them.
import { back } from "../connection.js";
import { el, post, write } from "../dom.js";
import { ended } from "./socket.js";

export class Controls {
  constructor(panel) {
    this.panel = panel;
    this.wording = panel.wording;
    this.find = panel.find;
    this.find("start")?.addEventListener("submit", (event) => this.start(event));
    this.find("steer")?.addEventListener("submit", (event) => this.steer(event));
    panel.root.addEventListener("submit", (event) => this.lead(event));
  }

  render() {
    const { panel, wording } = this;
    const { run } = panel;
    const active = run.state !== "ended" && !panel.missing;
    const start = this.find("run");
    if (start) {
      start.disabled = active || Boolean(this.sending);
      write(start, wording.say("run_again"));
    }
    this.fold(active);
    const stop = this.find("stop");
    if (!stop) return;
    stop.hidden = !active || !run.steerable;
    stop.disabled = Boolean(run.stopping);
    write(stop, wording.say(run.stopping ? "stopping" : run.state === "queued" ? "cancel" : this.stopWord));
    this.renderCheckpoint(active);
  }

  /** What could start another Run is folded away when one begins, and open again once it ended. */
  fold(active) {
    const fold = this.find("fold");
    if (fold && this.folded !== active) fold.open = !active;
    this.folded = active;
  }

  get stopWord() {
    return this.panel.drawTraining ? "stop_save" : "stop";
  }

  /** It keeps the focus while it waits, so it is not disabled for good. */
  renderCheckpoint(active) {
    const button = this.find("checkpoint");
    if (!button) return;
    const { run } = this.panel;
    button.hidden = !active || run.state !== "running" || !run.steerable;
    button.setAttribute("aria-disabled", String(this.asked || Boolean(run.stopping)));
    write(button, this.wording.say(this.asked ? "checkpoint_asked" : "checkpoint"));
  }

  /** Whether a checkpoint was asked for and no file has come since. */
  get asked() {
    const after = this.panel.run.checkpoint_after;
    return typeof after === "number" && this.panel.state.filed <= after;
  }

  async start(event) {
    event.preventDefault();
    const form = event.currentTarget;
    const button = this.find("run");
    this.find("refusal").hidden = true;
    this.sending = true;
    button.disabled = true;
    const answer = await post(form.action, new FormData(form));
    this.sending = false;
    if (answer?.ok) {
      this.showLeft(answer.data.left);
      this.panel.begin({ id: answer.data.run, state: "queued", steerable: true, last_seq: 0 });
      return;
    }
    button.disabled = false;
    this.refuse(answer);
  }

  /** To a Run that goes on from this one, or proves that it could: the reader is led there. On a
      step the one that goes on takes its place, as it will when the page is read again. */
  async lead(event) {
    const form = event.target;
    const what = form.dataset.lead;
    if (!what) return;
    event.preventDefault();
    if (this.sending) return;
    this.find("refusal").hidden = true;
    this.sending = true;
    const answer = await post(form.action, new FormData(form));
    this.sending = false;
    if (!answer?.ok) return this.refuse(answer);
    if (what === "resume" && this.find("start")) location.reload();
    else location.assign(answer.data.url);
  }

  /** How many Runs the day still holds. */
  showLeft(left) {
    const place = this.find("quota");
    if (!place || !left) return;
    write(place, this.wording.say("runs_left", left));
    place.classList.toggle("few", left.few);
    place.hidden = false;
  }

  /** What the server had against it, or that it was not reached: said until it is again. */
  async refuse(answer) {
    const { error, url, run, here } = answer?.data ?? {};
    const refusal = this.find("refusal");
    refusal.replaceChildren(error || this.wording.say("failed_request"));
    if (run && here) this.panel.begin({ id: run, state: "queued", steerable: true, last_seq: 0 });
    else if (url) refusal.append(" ", el("a", { href: url }, this.wording.say("to_that_run")));
    refusal.hidden = false;
    refusal.scrollIntoView({ block: "nearest" });
    const said = refusal.firstChild;
    if (run) await ended(this.panel.shared.socket.replace(this.panel.shared.any_run, run));
    else if (answer) return;
    else await back();
    if (refusal.firstChild === said) refusal.hidden = true;
  }

  steer(event) {
    event.preventDefault();
    this.find("refusal").hidden = true;
    if (event.submitter && event.submitter === this.find("checkpoint")) this.checkpoint();
    else this.stop();
  }

  async stop() {
    const { panel } = this;
    this.find("stop").disabled = true;
    const answer = await post(panel.url("stop/"));
    if (answer?.ok) return panel.learn({ stopping: true });
    this.find("stop").disabled = false;
    this.refuse(answer);
  }

  async checkpoint() {
    const { panel, wording } = this;
    if (this.asked || panel.run.stopping) return;
    const { run } = panel;
    const before = run.checkpoint_after;
    run.checkpoint_after = panel.state.seq;
    this.render();
    const answer = await post(panel.url("checkpoint/"));
    if (answer?.ok) return write(this.find("said"), wording.say("checkpoint_asked"));
    run.checkpoint_after = before;
    this.render();
    this.refuse(answer);
  }
}
