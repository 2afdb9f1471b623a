// Lines put in order by drag, by their buttons, or by the arrow keys on a button. The order in
// the page is the answer; each move is said aloud.
import { el, fill, write } from "./dom.js";

export function sortable(list, words, changed) {
  const said = el("p", { class: "sr", role: "status" });
  list.after(said);
  const items = () => [...list.children];

  function move(item, offset) {
    const order = items();
    const to = order.indexOf(item) + offset;
    if (to < 0 || to >= order.length) return;
    if (offset < 0) order[to].before(item);
    else order[to].after(item);
    tell(item);
  }

  function tell(item) {
    const order = items();
    const name = item.querySelector(":scope > span").textContent.trim();
    write(said, fill(words.moved, { item: name, place: order.indexOf(item) + 1, total: order.length }));
    changed();
  }

  function press(button, offset) {
    const item = button.closest("li");
    move(item, offset);
    // The button pressed may be gone at an end of the list: its neighbour takes the focus.
    if (getComputedStyle(button).visibility === "hidden") {
      (button.nextElementSibling ?? button.previousElementSibling).focus();
    } else button.focus();
  }

  list.addEventListener("click", (event) => {
    const button = event.target.closest("button[name=move]");
    if (!button) return;
    event.preventDefault();
    press(button, button.value.endsWith(":up") ? -1 : 1);
  });
  list.addEventListener("keydown", (event) => {
    const button = event.target.closest("button[name=move]");
    if (!button || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    press(button, event.key === "ArrowUp" ? -1 : 1);
  });
  drag(list, items, tell);
}

function drag(list, items, tell) {
  let held = null;
  for (const item of items()) item.draggable = true;
  list.addEventListener("dragstart", (event) => {
    held = event.target.closest("li");
    held.classList.add("held");
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", held.dataset.item ?? "");
  });
  list.addEventListener("dragover", (event) => {
    if (!held) return;
    event.preventDefault();
    const over = event.target.closest("li");
    if (!over || over === held || over.parentElement !== list) return;
    const box = over.getBoundingClientRect();
    if (event.clientY < box.top + box.height / 2) over.before(held);
    else over.after(held);
  });
  list.addEventListener("drop", (event) => event.preventDefault());
  list.addEventListener("dragend", () => {
    if (!held) return;
    held.classList.remove("held");
    tell(held);
    held = null;
  });
}
