// A term shows its definition where it stands: on hover, on focus, and until Escape. Without
// this file it is a link to the same definition at the foot of the page.
import { el } from "./dom.js";

const note = el("div", { class: "term-note", hidden: true });
let shown = null;
let leaving = 0;

function show(term) {
  const definition = document.querySelector(`#${CSS.escape(term.hash.slice(1))} dd`);
  if (!definition) return;
  clearTimeout(leaving);
  shown = term;
  note.replaceChildren(...[...definition.childNodes].map((node) => node.cloneNode(true)));
  note.lang = definition.lang || document.documentElement.lang;
  note.hidden = false;
  place(term);
}

function place(term) {
  if (matchMedia("(max-width: 720px)").matches) {
    note.style.removeProperty("left");
    note.style.removeProperty("top");
    return;
  }
  const box = term.getClientRects()[0];
  const left = Math.min(box.left, innerWidth - note.offsetWidth - 16);
  const below = box.bottom + 8 + note.offsetHeight < innerHeight;
  note.style.left = `${Math.max(16, left) + scrollX}px`;
  note.style.top = `${(below ? box.bottom + 8 : box.top - note.offsetHeight - 8) + scrollY}px`;
}

function hide() {
  shown = null;
  note.hidden = true;
}

const hideSoon = () => {
  clearTimeout(leaving);
  leaving = setTimeout(hide, 150);
};

const terms = document.querySelectorAll("a.term[href^='#']");
if (terms.length) {
  document.body.append(note);
  note.addEventListener("pointerenter", () => clearTimeout(leaving));
  note.addEventListener("pointerleave", hideSoon);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("pointerdown", (event) => {
    if (shown && !note.contains(event.target) && event.target !== shown) hide();
  });
}
for (const term of terms) {
  term.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && show(term));
  term.addEventListener("pointerleave", hideSoon);
  term.addEventListener("focus", () => show(term));
  term.addEventListener("blur", hideSoon);
  term.addEventListener("click", (event) => {
    event.preventDefault();
    show(term);
  });
}
