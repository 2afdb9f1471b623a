// Whether the server can be reached. What says that it cannot stands only as long as that is so.

const FIRST_WAIT = 2000;
const LONGEST_WAIT = 30_000;
const HEALTH = "/healthz";

let waiting = [];
let timer = 0;

/** Told by whatever was answered. */
export function reached() {
  clearTimeout(timer);
  for (const resolve of waiting.splice(0)) resolve();
}

/** Resolves once the server has answered again. It is asked ever more rarely, and at once when the
    browser says that the network is back. */
export function back() {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) ask(FIRST_WAIT);
  });
}

function ask(pause) {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    const answer = await fetch(HEALTH, { method: "HEAD", cache: "no-store" }).catch(() => null);
    if (answer?.ok) reached();
    else if (waiting.length) ask(Math.min(Math.max(pause, FIRST_WAIT) * 2, LONGEST_WAIT));
  }, pause);
}

addEventListener("online", () => waiting.length && ask(0));
