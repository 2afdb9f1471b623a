// The answer of a step saves itself as it is typed, and never loses what was typed: a draft says
// which version it builds on, a conflict is shown, a lost connection is tried again.
import { el, fill, post, words, write } from "./dom.js";
import { localTimes, written } from "./moments.js";
import { sortable } from "./order.js";

const PAUSE = 800;
const LONGEST_PAUSE = 30_000;
// An answer that did not get through, and what is said once it is kept as a draft.
const AFTER = { unsent: "back", untaken: "again" };

class Draft {
  constructor(form) {
    this.form = form;
    this.words = words("answer-words");
    this.said = form.querySelector(".saved");
    this.changes = 0;
    this.saved = 0;
    this.pause = PAUSE;
    // Not `change` as well: it comes when a field is left, on the way to the button, and what it
    // took away would move the button from under the pointer.
    form.addEventListener("input", (event) => this.changed(event.target));
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
    const stale = input?.closest("[data-field]")?.querySelectorAll(".result, .understood, .errorlist, .readings");
    for (const old of stale ?? []) old.remove();
    input?.removeAttribute("aria-invalid");
    this.changes += 1;
    this.pause = PAUSE;
    this.later();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), this.pause);
  }

  /** `button`: the one that was pressed, which may say something itself, as a reading does. */
  body(what, button) {
    const body = new FormData(this.form);
    if (button?.name) body.set(button.name, button.value);
    body.set("do", what);
    return body;
  }

  async save(options = {}) {
    clearTimeout(this.timer);
    if (!this.dirty || this.busy || this.conflict || this.sending || this.leaving) return;
    this.busy = true;
    const upTo = this.changes;
    this.flight = post(this.form.action, this.body("draft"), options);
    const answer = await this.flight;
    this.busy = false;
    if (answer?.ok) this.kept(upTo, answer.data);
    else if (answer?.status === 409) this.clash(answer.data);
    else this.lost(answer);
  }

  kept(upTo, data) {
    this.saved = upTo;
    this.pause = PAUSE;
    this.form.elements.base.value = data.base;
    const said = this.words[this.unsent ? AFTER[this.unsent] : "saved"];
    if (data.saved) this.say(fill(said, { time: written(new Date(data.saved)) }));
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

  /** Not kept: the server says why, fails without a word, or was not reached. Tried again, ever
      more slowly. */
  lost(answer) {
    if (this.unsent) this.unsent = answer ? "untaken" : "unsent";
    const why = answer?.data.error ?? Object.values(answer?.data.errors ?? {})[0];
    this.say(why ?? this.words[this.unsent || (answer ? "unkept" : "lost")], true);
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
    this.form.append(this.conflict); // announced; the focus stays with what is being typed
  }

  reload(url) {
    this.leaving = true;
    if (url) history.replaceState(history.state, "", url);
    location.reload();
  }

  /** What is wrong with a submission is drawn by the server, here in its place. */
  async submit(event) {
    if (event.submitter?.name === "move") return;
    event.preventDefault();
    if (this.sending) return;
    this.sending = true;
    this.unsent = "";
    clearTimeout(this.timer);
    await this.flight; // a draft on its way moves the version that this builds on
    const answer = await post(this.form.action, this.body("submit", event.submitter));
    if (answer?.ok) {
      this.reload(answer.data.url);
      return;
    }
    this.sending = false;
    if (answer?.status === 409) this.clash(answer.data);
    else if (answer?.status === 422 && (await this.redraw(event.submitter))) return;
    else this.refused(answer);
  }

  /** Not taken, with or without a word why, or not reached. After a deadline it was kept as a draft: the next one builds on it.
      What did not arrive is kept as a draft too, as soon as it can be; to send it is the person's. */
  refused(answer) {
    const data = answer?.data;
    if (data?.base !== undefined) this.form.elements.base.value = data.base;
    if (data?.error) return this.say(data.error, true);
    this.unsent = answer ? "untaken" : "unsent";
    this.say(this.words[this.unsent], true);
    this.changes += 1;
    this.pause = PAUSE;
    this.later();
  }

  /** The question as the server draws it around what was typed, with its errors. */
  async redraw(button) {
    const page = await read(this.form.action, { method: "POST", body: this.body("submit", button) });
    const fresh = page?.querySelector(".ask");
    if (!fresh) return false;
    this.leaving = true;
    const [draft] = replace(this.form.closest(".ask"), fresh);
    const wrong = fresh.querySelector("[aria-invalid], [aria-describedby$='-error'] input");
    wrong?.focus({ preventScroll: true });
    (wrong ?? fresh).scrollIntoView({ block: "center" });
    draft?.changed(); // what was refused is still to be kept, as a draft
    return true;
  }
}

let drafts = draftsIn(document);

function draftsIn(part) {
  return [...part.querySelectorAll("form[data-answer]")].map((form) => new Draft(form));
}

function replace(old, fresh) {
  old.replaceWith(document.adoptNode(fresh));
  localTimes(fresh);
  drafts = draftsIn(fresh);
  return drafts;
}

/** A page of ours as a document, whatever its status; null when the server was not reached. */
async function read(url, options = {}) {
  const answer = await fetch(url, { headers: { Accept: "text/html" }, ...options }).catch(() => null);
  return answer && new DOMParser().parseFromString(await answer.text(), "text/html");
}

/** A hypothesis has met its outcome: its verdict and the explanation are the server's to say. */
async function judged(tries = 4) {
  const old = document.querySelector(".ask:has([data-reveal])");
  if (!old || drafts.some((draft) => draft.dirty)) return;
  const fresh = (await read(location.href))?.querySelector(".ask");
  if (fresh?.querySelector(".hypothesis .result")) replace(old, fresh);
  else if (tries > 1) setTimeout(() => judged(tries - 1), 500); // the row ends after its last Event
}

document.addEventListener("run-ended", () => judged());
