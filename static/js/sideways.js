// What scrolls sideways is a stop of the Tab key while it does, and on a phone it says so: a table
// or a formula that ends at the edge looks as if it were whole.
import { el } from "./dom.js";

const SCROLLERS = "figure, math[display=block], main pre, .scroll";
const SAID = ".scroll, math[display=block]"; // a figure says it itself, of cut code one sees it

const measured = new ResizeObserver((entries) => {
  for (const { target } of entries) measure(target);
});

function measure(target) {
  const wide = target.scrollWidth > target.clientWidth;
  if (wide) target.setAttribute("tabindex", "0");
  else target.removeAttribute("tabindex");
  if (!target.matches(SAID)) return;
  // Above a table, whose end may be far below; under a formula.
  const table = target.matches(".scroll");
  const beside = table ? target.previousElementSibling : target.nextElementSibling;
  const note = beside?.matches(".sideways") ? beside : null;
  if (!wide) note?.remove();
  else if (!note) target[table ? "before" : "after"](el("small", { class: "sideways", "aria-hidden": "true" }, document.body.dataset.sideways));
}

/** Everything of the kind in `host`, from now on. */
export function watch(host) {
  for (const scroller of host.querySelectorAll(SCROLLERS)) measured.observe(scroller);
}
