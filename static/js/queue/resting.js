// The Run that an answer rests on: fetched once, opened with r, alive as on a page of its own.
import { Panel } from "../run/panel.js";

export class RestingRun {
  constructor(root) {
    this.root = root;
    this.details = root.querySelector("[data-run-open]");
    this.details.addEventListener("toggle", () => this.details.open && this.show());
  }

  toggle() {
    this.details.open = !this.details.open;
    this.details.querySelector("summary").focus();
  }

  /** Asked for ahead of time; the answer is shown once it is wanted. */
  fetch() {
    this.flight ??= fetch(this.root.dataset.src, { credentials: "same-origin" })
      .then((answer) => (answer.ok ? answer.text() : null))
      .catch(() => null);
    return this.flight;
  }

  async show() {
    if (this.shown) return;
    const html = await this.fetch();
    if (html === null || this.shown) {
      this.flight = undefined; // the link in its place still leads there
      return;
    }
    this.shown = true;
    const page = new DOMParser().parseFromString(html, "text/html").querySelector("[data-run-page]");
    const body = this.root.querySelector("[data-run-body]");
    document.getElementById("run-shared")?.remove();
    body.replaceChildren(...page.childNodes);
    const panel = body.querySelector("[data-panel]");
    if (panel) new Panel(panel);
  }
}
