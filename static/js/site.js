// On every page: menus that close, keys, times in the reader's own zone.
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
