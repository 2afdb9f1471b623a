// Follows one Run: resumes after the last Event seen, waits longer between tries, says when it
// is offline. The stored log is the truth; this only brings it sooner.
import { reached } from "../connection.js";

const FIRST_WAIT = 300;
const LONGEST_WAIT = 10_000;
const NONE = 2 ** 31 - 1; // no Event comes after it

/**
 * `seen()` is the last seq held. `events(list)` and `run(fields)` take what comes and answer
 * whether more is to be asked for at once (a gap); `link(up)` tells of the connection. Where the
 * server refuses the socket, `missing()` finds out whether there is still a Run to follow; `gone`
 * is told when there is none, and no more is asked for.
 */
export function follow(path, { seen, events, run, link, done, missing, gone }) {
  let socket = null;
  let wait = FIRST_WAIT;
  let timer = 0;
  let over = false;
  let opened = false;

  function open() {
    clearTimeout(timer);
    if (over || socket) return;
    opened = false;
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(`${scheme}//${location.host}${path}?after=${seen()}`);
    socket.onmessage = (message) => take(JSON.parse(message.data));
    socket.onopen = () => {
      opened = true;
      reached();
      link(true);
    };
    socket.onclose = closed;
  }

  function take(frame) {
    wait = FIRST_WAIT;
    if (Array.isArray(frame)) {
      if (events(frame)) again();
    } else if (frame.close === "resume") again();
    else if (frame.run) run(frame.run);
  }

  /** Ask once more from what is held: after a gap, or when the server let a slow page go. */
  function again() {
    drop();
    timer = setTimeout(open, FIRST_WAIT);
  }

  function drop() {
    if (!socket) return;
    socket.onclose = socket.onmessage = socket.onopen = null;
    socket.close();
    socket = null;
  }

  async function closed() {
    const refused = !opened;
    socket = null;
    if (over || done()) return;
    link(false);
    if (refused && navigator.onLine && (await missing())) {
      if (over) return;
      close();
      gone();
      return;
    }
    if (over || socket) return; // meanwhile it ended, or opened once more
    timer = setTimeout(open, wait * (0.75 + Math.random() / 2));
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }

  const online = () => {
    wait = FIRST_WAIT;
    open();
  };
  const offline = () => {
    drop();
    if (!over && !done()) link(false);
  };
  addEventListener("online", online);
  addEventListener("offline", offline);
  open();

  function close() {
    over = true;
    clearTimeout(timer);
    removeEventListener("online", online);
    removeEventListener("offline", offline);
    drop();
  }

  return close;
}

/** Resolves when the Run is over, or is no longer there: of its Events none are asked for. */
export function ended(path) {
  return new Promise((resolve) => {
    let over = false;
    const end = () => {
      over = true;
      close();
      resolve();
    };
    const close = follow(path, {
      seen: () => NONE,
      events: () => false,
      run: ({ state }) => state === "ended" && end(),
      link: () => {},
      done: () => over,
      missing: async () => true,
      gone: end,
    });
  });
}
