// Moments in the reader's own zone: everywhere the same words for them as the server's, and in
// tables a short form.
const language = document.documentElement.lang;
const day = new Intl.DateTimeFormat(language, { dateStyle: "long" });
const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const short = new Intl.DateTimeFormat(language, { dateStyle: "short", timeStyle: "short" });

export const zone = day.resolvedOptions().timeZone;
const spoken = zone.replaceAll("_", " ");

/** “December 1, 2026, 23:59” */
export function written(date) {
  return `${writtenDay(date)}, ${clock.format(date)}`;
}

/** “December 1, 2026”; in French the first of a month is “1er”. */
function writtenDay(date) {
  const said = day.format(date);
  return language.startsWith("fr") ? said.replace(/^1(?=\s)/, "1er") : said;
}

export function localTimes(root) {
  each(root, "time[data-when]", (time, date) => (time.textContent = written(date)));
  each(root, "time[data-day]", (time, date) => (time.textContent = writtenDay(date)));
  each(root, "time[data-time]", (time, date) => (time.textContent = short.format(date)));
  for (const named of root.querySelectorAll("[data-zone]")) named.textContent = spoken;
}

/** A deadline is said in its cohort's zone; whose clock shows another time reads that beside it.
 * Where an input says the first, `data-also` does, and the element is empty. */
export function ownTimes(root) {
  each(root, "time[data-also]", (time, date) => {
    const own = written(date);
    if ((time.dataset.also || time.textContent).includes(own)) return;
    const also = document.createElement("span");
    also.className = "also";
    also.textContent = `${time.textContent && " · "}${own} (${spoken})`;
    time.append(also);
  });
}

function each(root, selector, does) {
  for (const time of root.querySelectorAll(selector)) {
    const date = new Date(time.dateTime);
    if (!Number.isNaN(date.valueOf())) does(time, date);
  }
}
