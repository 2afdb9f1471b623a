// One answer at the desk: its form, what was begun and not stored, and the marks as they would be.
import { post, token } from "../dom.js";
import { localTimes } from "../moments.js";
import { Passages } from "./passages.js";
import { RestingRun } from "./resting.js";

const PAUSE = 350;
const UNREAD = 600; // ms: nobody has read an answer in less

export class Desk {
  constructor(root, hooks) {
    this.root = root;
    this.hooks = hooks;
    this.opened = performance.now();
    this.form = root.querySelector("[data-judgement]");
    const passages = root.querySelector("[data-passages]");
    this.passages = passages && root.querySelector("[data-text]") ? new Passages(root, () => this.changed()) : null;
    const run = root.querySelector("[data-run-part]");
    this.run = run ? new RestingRun(run) : null;
    this.initial = this.state();
    this.form.addEventListener("input", () => this.changed());
    this.form.addEventListener("submit", (event) => this.submitted(event));
    localTimes(root);
    this.count();
  }

  get plain() {
    return "plain" in this.root.dataset; // a group: sent as a form is
  }

  get ref() {
    return this.root.dataset.ref;
  }

  get key() {
    return `desk:${this.root.dataset.revision}`;
  }

  get dirty() {
    return !this.settled && this.state() !== this.initial;
  }

  /** Nothing is ticked, typed or adjusted. */
  get blank() {
    const { adjustment, comment } = this.form.elements;
    return !(adjustment.value || comment.value || this.form.querySelector("[type=checkbox]:checked"));
  }

  /** What the form holds, but for what changes without anybody. */
  state() {
    const entries = [...new FormData(this.form)].filter(([name]) => name !== "csrfmiddlewaretoken");
    return JSON.stringify(entries);
  }

  changed() {
    this.count();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.preview(), PAUSE);
  }

  tick(selector) {
    const box = this.root.querySelector(selector);
    if (!box) return;
    box.checked = !box.checked;
    box.focus();
    this.changed();
  }

  focus(selector) {
    const field = this.root.querySelector(selector);
    field?.focus();
    field?.select?.();
  }

  /** By key. A second press that was meant for the answer before gives this one no grade. */
  send() {
    if (this.blank && performance.now() - this.opened < UNREAD) return;
    if (this.plain) this.form.requestSubmit();
    else this.hooks.send(this, "next");
  }

  submitted(event) {
    if (this.plain) {
      this.settled = true;
      return;
    }
    event.preventDefault();
    this.hooks.send(this, event.submitter?.value ?? "next");
  }

  body(does) {
    const body = new FormData(this.form);
    body.set("do", does);
    body.set("csrfmiddlewaretoken", token());
    return body;
  }

  /** Begun and left: kept in this tab until it is stored or given up. */
  keep() {
    if (this.dirty) sessionStorage.setItem(this.key, this.state());
  }

  forget() {
    sessionStorage.removeItem(this.key);
  }

  /** Puts back what was begun here; whether there was anything. */
  restore() {
    const kept = sessionStorage.getItem(this.key);
    if (!kept || this.plain || this.root.querySelector(".conflict")) return false;
    const entries = JSON.parse(kept);
    const seen = entries.find(([name]) => name === "seen")?.[1];
    if (seen !== this.form.elements.seen.value) return false;
    const values = (name) => entries.filter(([other]) => other === name).map(([, value]) => value);
    for (const box of this.form.querySelectorAll("input[type=checkbox]")) {
      box.checked = values(box.name).includes(box.value);
    }
    for (const name of ["adjustment", "comment", "reply"]) {
      const field = this.form.elements[name];
      if (field) field.value = values(name)[0] ?? "";
    }
    this.passages?.fill(values);
    this.changed();
    return true;
  }

  /** The marks as they would be, by the same rule as the server's. */
  count() {
    const shown = this.root.querySelector("[data-marks]");
    if (!shown?.dataset.possible) return;
    const possible = Number(shown.dataset.possible);
    const adjusted = Number((this.form.elements.adjustment.value || "0").replace("−", "-").replace(",", "."));
    const given = [...this.form.querySelectorAll("[name=point]:checked")];
    const sum = given.reduce((total, box) => total + Number(box.dataset.worth), Number(shown.dataset.right));
    const points = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 2 });
    if (Number.isNaN(adjusted)) return;
    const earned = Math.min(Math.max(sum + adjusted, 0), possible + Math.max(adjusted, 0));
    const ungradable = this.form.elements.ungradable.checked;
    const touched = ungradable || given.length || adjusted || Number(this.form.elements.seen.value);
    shown.textContent = `${ungradable || !touched ? "–" : points.format(earned)} / ${points.format(possible)}`;
    shown.classList.toggle("open", this.dirty);
  }

  async preview() {
    const box = this.root.querySelector("[data-preview]");
    const comment = this.form.elements.comment.value;
    if (!box) return;
    box.hidden = !/[*_`[>\n]|^\s*[-\d]/.test(comment);
    if (box.hidden || comment === this.previewed) return;
    this.previewed = comment;
    const body = new FormData();
    body.set("comment", comment);
    body.set("csrfmiddlewaretoken", token());
    const answer = await fetch(box.dataset.src, { method: "POST", body, credentials: "same-origin" }).catch(() => null);
    // Rendered and cleaned by the server, as the learner will get it.
    if (answer?.ok) box.innerHTML = await answer.text();
  }
}

export function sending(desk, does) {
  return post(desk.form.action, desk.body(does));
}
