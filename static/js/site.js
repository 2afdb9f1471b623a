// On every page: menus that close, keys, times and zones of the reader's own, and what scrolls
// sideways is a stop of the Tab key while it does.
import "./keys.js";

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

const language = document.documentElement.lang;
const moment = new Intl.DateTimeFormat(language, { dateStyle: "short", timeStyle: "short" });
for (const time of document.querySelectorAll("time[data-time]")) {
  const date = new Date(time.dateTime);
  if (!Number.isNaN(date.valueOf())) time.textContent = moment.format(date);
}

// A deadline is said in its cohort's zone; who is elsewhere reads their own beside it.
const day = new Intl.DateTimeFormat(language, { dateStyle: "long" });
const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
for (const time of document.querySelectorAll("time[data-also]")) {
  const date = new Date(time.dateTime);
  const zone = day.resolvedOptions().timeZone;
  if (Number.isNaN(date.valueOf()) || time.textContent.includes(`(${zone.replaceAll("_", " ")})`)) continue;
  const also = document.createElement("span");
  also.className = "also";
  also.textContent = ` · ${day.format(date)}, ${clock.format(date)} (${zone.replaceAll("_", " ")})`;
  time.append(also);
}

// A zone that nobody has chosen yet is the reader's own, where the site knows it.
for (const field of document.querySelectorAll("input[data-zone-guess]")) {
  const zone = day.resolvedOptions().timeZone;
  const known = [...(field.list?.options ?? [])].some((option) => option.value === zone);
  if (known && field.value === field.defaultValue) field.value = zone;
}

const scrollers = document.querySelectorAll("figure, math[display=block], main pre, .scroll");
const measured = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
    else target.removeAttribute("tabindex");
  }
});
for (const scroller of scrollers) measured.observe(scroller);
