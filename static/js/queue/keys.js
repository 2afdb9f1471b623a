// The keys of the desk; never while somebody types, and never with a modifier but Ctrl+Enter.
import { current, settled, turn } from "./turning.js";
import { editRubric } from "./rubric.js";

const KEYS = {
  j: () => turn(current().root.dataset.next),
  k: () => turn(current().root.querySelector("[data-previous]")?.href),
  a: () => current().focus("#adjustment"),
  m: () => current().focus("[data-comment]"),
  u: () => current().tick("[data-ungradable]"),
  c: () => current().passages?.begin(),
  g: () => follow("[data-group]"),
  r: () => current().run?.toggle(),
  z: () => takeBack(),
};

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if (event.repeat && !turns(event)) return; // a key held down gives no grade to answers that fly past
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return act(event, () => current().send());
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && typing(event.target)) return act(event, () => event.target.blur());
  if (typing(event.target)) return;
  if (event.key === "Enter" && !pressing(event.target)) return act(event, () => current().send());
  if (/^[1-9]$/.test(event.key)) return act(event, () => current().tick(`[data-key="${event.key}"]`));
  if (KEYS[event.key]) act(event, KEYS[event.key]);
});

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const link = event.target.closest("[data-following], [data-previous]");
  if (link) act(event, () => turn(link.href));
  const rubric = event.target.closest("[data-rubric-edit]");
  if (rubric) act(event, () => editRubric(rubric.href));
});

/** Held down, these two leaf through; in a field every key is a letter. */
function turns(event) {
  return event.key === "j" || event.key === "k";
}

function act(event, does) {
  event.preventDefault();
  does();
}

/** Whether letters go into a field. A box to tick takes none. */
function typing(target) {
  return Boolean(
    target.closest("textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=hidden])"),
  );
}

/** What Enter itself presses or opens. */
function pressing(target) {
  return Boolean(target.closest("a, button, summary, [role=gridcell]"));
}

function follow(selector) {
  current().root.querySelector(selector)?.click();
}

async function takeBack() {
  await settled();
  const form = document.querySelector("[data-undo]");
  if (form && !form.hidden) form.requestSubmit();
}
