// Moments in the reader's own zone: everywhere the same words for them as the server's, and in
// tables a short form.
const language = document.documentElement.lang;
const day = new Intl.DateTimeFormat(language, { dateStyle: "long" });
const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const short = new Intl.DateTimeFormat(language, { dateStyle: "short", timeStyle: "short" });

export const zone = day.resolvedOptions().timeZone;

/** “December 1, 2026, 23:59” */
export function written(date) {
  return `${day.format(date)}, ${clock.format(date)}`;
}

export function localTimes(root) {
  each(root, "time[data-when]", (time, date) => (time.textContent = written(date)));
  each(root, "time[data-time]", (time, date) => (time.textContent = short.format(date)));
}

/** A deadline is said in its cohort's zone; who is elsewhere reads their own beside it. */
export function ownTimes(root) {
  const here = `(${zone.replaceAll("_", " ")})`;
  each(root, "time[data-also]", (time, date) => {
    if (time.textContent.includes(here)) return;
    const also = document.createElement("span");
    also.className = "also";
    also.textContent = ` · ${written(date)} ${here}`;
    time.append(also);
  });
}

function each(root, selector, does) {
  for (const time of root.querySelectorAll(selector)) {
    const date = new Date(time.dateTime);
    if (!Number.isNaN(date.valueOf())) does(time, date);
  }
}
