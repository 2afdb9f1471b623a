// The answer of a step saves itself as it is typed, and never loses what was typed: a draft says
// which version it builds on, a conflict is shown, a lost connection is tried again.
import { el, fill, post, words, write } from "./dom.js";
import { sortable } from "./order.js";

const PAUSE = 800;
const LONGEST_PAUSE = 30_000;

class Draft {
  constructor(form) {
    this.form = form;
    this.words = words("answer-words");
    this.said = form.querySelector(".saved");
    this.changes = 0;
    this.saved = 0;
    this.pause = PAUSE;
    form.addEventListener("input", (event) => this.changed(event.target));
    form.addEventListener("change", (event) => this.changed(event.target));
    form.addEventListener("submit", (event) => this.submit(event));
    for (const list of form.querySelectorAll("[data-order]")) {
      sortable(list, this.words, () => this.changed());
    }
    document.addEventListener("visibilitychange", () => document.hidden && this.save({ keepalive: true }));
    addEventListener("online", () => this.save());
    addEventListener("beforeunload", (event) => this.dirty && !this.leaving && event.preventDefault());
  }

  get dirty() {
    return this.changes > this.saved;
  }

  /** A verdict belongs to what was sent: it leaves with the first letter that is changed. */
  changed(input) {
    for (const old of input?.closest("[data-field]")?.querySelectorAll(".result, .understood, .errorlist") ?? []) {
      old.remove();
    }
    this.changes += 1;
    this.pause = PAUSE;
    this.later();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), this.pause);
  }

  body(what) {
    const body = new FormData(this.form);
    body.set("do", what);
    return body;
  }

  async save(options = {}) {
    clearTimeout(this.timer);
    if (!this.dirty || this.busy || this.conflict) return;
    this.busy = true;
    const upTo = this.changes;
    const answer = await post(this.form.action, this.body("draft"), options);
    this.busy = false;
    if (answer?.ok) this.kept(upTo, answer.data);
    else if (answer?.status === 409) this.clash(answer.data);
    else this.lost(answer?.data.error ?? Object.values(answer?.data.errors ?? {})[0]);
  }

  kept(upTo, data) {
    this.saved = upTo;
    this.pause = PAUSE;
    this.form.elements.base.value = data.base;
    if (data.saved) this.say(fill(this.words.saved, { time: clock(data.saved) }));
    for (const [name, sentence] of Object.entries(data.understood ?? {})) this.understood(name, sentence);
    if (this.dirty) this.later();
  }

  /** How the site reads the number typed, where it is not simply what was typed. */
  understood(name, sentence) {
    const field = this.form.querySelector(`[data-field="${CSS.escape(name)}"]`);
    const shown = field?.querySelector(".understood");
    if (shown) write(shown, sentence);
    else if (sentence) field?.append(el("small", { class: "understood" }, sentence));
  }

  /** Not kept: the server says why, or was not reached. Tried again, ever more slowly. */
  lost(why = this.words.lost) {
    this.say(why, true);
    this.later();
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
  }

  say(text, trouble = false) {
    if (!this.said) return;
    write(this.said, text);
    this.said.classList.toggle("trouble", trouble);
  }

  /** Somebody (often oneself in another tab) wrote since: both are kept until one is chosen. */
  clash(data) {
    const mine = el("button", { type: "button" }, this.words.mine);
    const theirs = el("button", { type: "button", class: "quiet" }, this.words.theirs);
    const stored = (data.lines ?? []).filter(([, said]) => said);
    this.conflict = el(
      "div",
      { class: "conflict", role: "alert" },
      el("p", {}, data.error),
      el("dl", { class: "lines" }, ...stored.map(([label, said]) => el("div", {}, el("dt", {}, label), el("dd", {}, said)))),
      el("div", { class: "row" }, mine, theirs),
    );
    mine.addEventListener("click", () => {
      this.form.elements.base.value = data.base;
      this.conflict.remove();
      this.conflict = null;
      this.save();
    });
    theirs.addEventListener("click", () => this.reload());
    this.form.append(this.conflict);
    mine.focus();
  }

  reload(url) {
    this.leaving = true;
    if (url) history.replaceState(history.state, "", url);
    location.reload();
  }

  /** Errors and conflicts of a submission are drawn by the server; only losing it is ours. */
  async submit(event) {
    if (event.submitter?.name === "move") return;
    event.preventDefault();
    if (this.sending) return;
    this.sending = true;
    clearTimeout(this.timer);
    const answer = await post(this.form.action, this.body("submit"));
    if (answer?.ok) {
      this.reload(answer.data.url);
    } else if (answer) {
      this.leaving = true;
      this.form.append(el("input", { type: "hidden", name: "do", value: "submit" }));
      this.form.submit();
    } else {
      this.sending = false;
      this.say(this.words.lost, true);
    }
  }
}

function clock(iso) {
  return new Intl.DateTimeFormat(document.documentElement.lang, { timeStyle: "short" }).format(new Date(iso));
}

let drafts = [...document.querySelectorAll("form[data-answer]")].map((form) => new Draft(form));

/** A hypothesis has met its outcome: its verdict and the explanation are the server's to say. */
async function judged(tries = 4) {
  const old = document.querySelector(".ask:has([data-reveal])");
  if (!old || drafts.some((draft) => draft.dirty)) return;
  const answer = await fetch(location.href).catch(() => null);
  const page = new DOMParser().parseFromString((await answer?.text()) ?? "", "text/html");
  const fresh = page.querySelector(".ask");
  if (fresh?.querySelector(".hypothesis .result")) {
    old.replaceWith(document.adoptNode(fresh));
    drafts = [...fresh.querySelectorAll("form[data-answer]")].map((form) => new Draft(form));
  } else if (tries > 1) setTimeout(() => judged(tries - 1), 500); // the row ends after its last Event
}

document.addEventListener("run-ended", () => judged());
