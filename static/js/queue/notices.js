// What the desk has to say, above it: said aloud, and gone with the next thing it says.
import { el } from "../dom.js";

const box = document.querySelector("[data-said]");

/** A sentence, and perhaps a button that does something about it. It stays while it is `needed`. */
export function say(sentence, { label, does, needed = false } = {}) {
  if (!box) return null;
  clear();
  const notice = el("p", { class: needed ? "notice error" : "notice", "data-needed": needed }, sentence);
  if (label) {
    const button = el("button", { type: "button", class: "link" }, label);
    button.addEventListener("click", () => {
      notice.remove();
      does();
    });
    notice.append(" ", button);
  }
  box.append(notice);
  return notice;
}

/** Takes away what need not stay. */
export function clear() {
  for (const notice of box?.querySelectorAll(".notice:not([data-needed])") ?? []) notice.remove();
}
