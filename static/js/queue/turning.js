// Turning from answer to answer, and sending grades behind the reader's back: what is refused comes
// back with everything that was typed, and a lost connection is tried again.
import { fill, words } from "../dom.js";
import { Desk, sending } from "./desk.js";
import { clear, say } from "./notices.js";

const FRESH = 120_000; // of an answer fetched ahead: after that it is fetched anew
const LONGEST_PAUSE = 20_000;

let desk = null;
let settling = Promise.resolve(); // every grade sent so far is answered
let following = null; // what the server said comes after the answer turned to
let undoable = false; // something of this page's has been stored
let turns = 0; // asked for so far: only the last of them is made
const flights = new Set();
const refusals = new Map(); // by revision: the notice that its grade is not stored
const ahead = new Map();

export function current() {
  return desk;
}

/** Every grade sent so far is answered. */
export function settled() {
  return settling;
}

/** Makes the desk of the page the one that keys act on. */
export function open(root, address) {
  desk = new Desk(root, { send });
  desk.address = address;
  if (desk.plain) return;
  correct();
  const said = words("queue-words");
  if (desk.restore()) say(said.kept);
  const here = desk;
  const rest = () => here === desk && fetchAhead();
  settling.then(() => ("requestIdleCallback" in window ? requestIdleCallback(rest, { timeout: 500 }) : rest()));
}

/** To another answer. Without an address there is none: nothing happens. */
export async function turn(address, { push = true } = {}) {
  if (!address) return;
  const began = performance.now();
  const mine = ++turns;
  desk.keep();
  const root = await take(address);
  if (mine !== turns) return; // a key pressed twice, before the answer was here
  if (!root) return leave(address);
  show(root, address, push);
  root.querySelector("[data-top]").focus({ preventScroll: true });
  performance.measure("turned", { start: began });
}

/** In place of the answer on screen: the page is that of `root` then, by its address and title. */
function show(root, address, push = true) {
  desk.root.replaceWith(root);
  if (push && new URL(address, location.href).href !== location.href) history.pushState(null, "", address);
  document.title = root.dataset.title;
  scrollTo(0, 0);
  clear();
  open(root, address);
}

addEventListener("popstate", () => turn(location.href, { push: false }));
addEventListener("beforeunload", (event) => {
  desk?.keep();
  if (flights.size) event.preventDefault();
});

/** Send the grade and go on at once; `does` "stay" waits for the answer and shows it here. */
async function send(from, does) {
  if (flights.has(from)) return;
  const next = does === "next" ? from.root.dataset.next : "";
  const flight = deliver(from, does);
  settling = Promise.all([settling, flight]);
  if (next) await turn(next);
  else if ((await flight) && from === desk) leave(does === "next" ? from.root.dataset.question : from.address);
}

async function deliver(from, does) {
  const said = words("queue-words");
  from.settled = true;
  from.forget();
  flights.add(from);
  let pause = 500;
  let notice = null;
  for (;;) {
    const answer = await sending(from, does);
    if (answer && answer.status < 500) {
      flights.delete(from);
      notice?.remove();
      return answer.ok ? stored(from, answer.data) : refused(from, answer.data);
    }
    notice ??= say(said.lost, { needed: true });
    await new Promise((done) => setTimeout(done, pause));
    pause = Math.min(2 * pause, LONGEST_PAUSE);
  }
}

function stored(from, data) {
  undoable = true;
  refusals.get(from.key)?.remove(); // of an earlier try
  refusals.delete(from.key);
  if (data.said) {
    const label = words("queue-words").open;
    say(data.said, { label, does: () => leave(data.url), needed: true });
  }
  following = data.turn;
  correct();
  return !data.said;
}

/** The answer now on screen was fetched before this grade was stored: what comes after it, and how
    many are left, is known only now. Either of the two may be here first. */
function correct() {
  if (undoable) desk.root.querySelector("[data-undo]").hidden = false;
  if (!following || desk.ref !== following.ref) return;
  desk.root.dataset.next = following.next;
  desk.root.querySelector("[data-left]").textContent = following.left;
  for (const link of desk.root.querySelectorAll("[data-following]")) {
    if (following.next) link.href = following.next;
    else link.remove();
  }
  following = null;
}

/** The page of the refusal holds the form as it was sent; it is shown at once where it stands. */
function refused(from, data) {
  const said = words("queue-words");
  const sentence = data.error ?? fill(said.refused, { ref: from.ref });
  if (!data.page) {
    from.settled = false;
    from.keep(); // the form is filled with it when the answer is opened again
    refusals.set(from.key, say(sentence, { label: said.show, does: () => leave(from.address), needed: true }));
    return false;
  }
  const page = () => {
    const root = new DOMParser().parseFromString(data.page, "text/html").querySelector("[data-desk]");
    desk.keep();
    show(root, from.address);
    (root.querySelector("[aria-invalid=true]") ?? root.querySelector("[data-top]")).focus();
  };
  if (from === desk) page();
  else refusals.set(from.key, say(sentence, { label: said.show, does: page, needed: true }));
  return false;
}

function fetchAhead() {
  load(desk.root.dataset.next);
  desk.run?.fetch();
}

function load(address) {
  if (!address) return null;
  const known = ahead.get(address);
  if (known && performance.now() - known.at < FRESH) return known.page;
  const page = fetch(address, { credentials: "same-origin", headers: { Accept: "text/html" } })
    .then((answer) => (answer.ok ? answer.text() : ""))
    .then((html) => new DOMParser().parseFromString(html, "text/html").querySelector("[data-desk]"))
    .catch(() => null);
  ahead.clear(); // one is enough, and the others grow old
  ahead.set(address, { at: performance.now(), page });
  return page;
}

/** The desk of that address, used once. */
async function take(address) {
  const page = await load(address);
  ahead.delete(address);
  return page;
}

async function leave(address) {
  await settling;
  if (address && !flights.size) location.assign(address);
}
