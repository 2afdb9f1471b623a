// On every page: menus that close, keys, times and zones of the reader's own, and what scrolls
// sideways is a stop of the Tab key while it does.
import "./keys.js";
import { localTimes, ownTimes, zone } from "./moments.js";
import { watch } from "./sideways.js";

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("[data-menu][open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("[data-menu][open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

localTimes(document);
ownTimes(document);

// A zone that nobody has chosen yet is the reader's own, where the site knows it.
for (const field of document.querySelectorAll("input[data-zone-guess]")) {
  const known = [...(field.list?.options ?? [])].some((option) => option.value === zone);
  if (known && field.value === field.defaultValue) field.value = zone;
}

watch(document);
document.addEventListener("htmx:afterSettle", () => watch(document));
