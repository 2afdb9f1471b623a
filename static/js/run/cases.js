// The grid of cases: every square in its place from the start, reachable by keyboard, read as
// text. Cases without a place stand below as lines. One case is open: the first failure, or
// whichever the reader opened.
import { el, set, write } from "../dom.js";

const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export function drawCases(host, grid, wording) {
  const squares = grid ? buildGrid(host, grid, wording) : [];
  const detail = el("div", { "data-case": true, "aria-live": "polite" });
  const lines = el("ul", { class: "caselist", hidden: true });
  host.append(detail, lines);
  let drawn = 0;
  let open = null;
  let chosen = false;

  function show(data, source) {
    open?.classList.remove("open");
    open?.removeAttribute("aria-expanded");
    open = source;
    open.classList.add("open");
    open.setAttribute("aria-expanded", "true");
    detail.replaceChildren(drawCase(data, wording));
    if (source.closest("li")) source.after(detail);
    else lines.before(detail);
  }

  function choose(data, source) {
    chosen = true;
    show(data, source);
  }

  function add(data, live) {
    const square = data.place && grid ? at(squares, grid, data.place) : null;
    const source = square ?? line(lines, data, wording);
    if (square) turn(square, data, live, wording);
    if (!measured(data)) return;
    source.onclick = () => choose(data, source);
    if (data.verdict === "failed" && !chosen && !open) show(data, source);
  }

  return function update(state, live) {
    for (; drawn < state.cases.length; drawn += 1) add(state.cases[drawn], live);
  };
}

/** Whether there is more to tell of a case than its line says. */
function measured(data) {
  return Boolean(data.worst) || data.max_abs_error !== undefined || data.atol !== undefined;
}

function at(squares, grid, [row, column, slot]) {
  return squares[row]?.[column * grid.slots.length + slot] ?? null;
}

function turn(square, data, live, wording) {
  const passed = data.verdict === "passed";
  square.className = `cell ${passed ? "p" : "f"}${live ? " fresh" : ""}`;
  const error = data.max_abs_error;
  const size = error === undefined ? "" : `, ${wording.say("error")} ${wording.number(error, 3)}`;
  set(square, { "aria-label": `${square.dataset.name}: ${wording.say(data.verdict)}${passed ? "" : size}` });
}

function buildGrid(host, grid, wording) {
  const board = el("div", {
    class: `grid cols-${grid.bank * grid.slots.length} slots-${grid.slots.length}`,
    role: "grid",
    "aria-label": wording.say("cases"),
  });
  const squares = grid.rows.map((row) =>
    grid.columns.flatMap((column) => grid.slots.map((slot) => buildSquare(grid, row, column, slot, wording))),
  );
  for (let first = 0; first < grid.columns.length; first += grid.bank) board.append(buildBank(grid, first, squares, wording));
  host.append(board);
  rove(board, squares);
  return squares;
}

/** So many columns as stand side by side, with their squares of every row. */
function buildBank(grid, first, squares, wording) {
  const slots = grid.slots.length;
  const names = grid.columns.slice(first, first + grid.bank);
  const heads = names.map((name) => el("span", { role: "columnheader", "aria-colspan": slots }, wording.namedValue(name)));
  const rows = grid.rows.map((row, index) => {
    const cells = squares[index].slice(first * slots, (first + grid.bank) * slots);
    return el("div", { role: "row" }, el("span", { role: "rowheader" }, row), ...cells);
  });
  const corner = el("span", { role: "cell", class: "corner" });
  return el("div", { role: "rowgroup" }, el("div", { role: "row" }, corner, ...heads), ...rows);
}

function buildSquare(grid, row, column, slot, wording) {
  const seed = /^\d+$/.test(slot) ? wording.say("seed", { seed: slot }) : slot; // or the tensor compared
  const name = [row, wording.namedValue(column), ...(grid.slots.length > 1 ? [seed] : [])].join(", ");
  return el("span", {
    role: "gridcell",
    class: "cell",
    tabindex: -1,
    "data-name": name,
    "aria-label": `${name}: ${wording.say("waiting")}`,
  });
}

/** One stop of the Tab key for the whole grid; arrows move inside it. */
function rove(board, squares) {
  let here = [0, 0];
  squares[0][0].tabIndex = 0;
  const find = (cell) => {
    const row = squares.findIndex((cells) => cells.includes(cell));
    return row < 0 ? null : [row, squares[row].indexOf(cell)];
  };
  function go([row, column]) {
    const cell = squares[row]?.[column];
    if (!cell) return;
    squares[here[0]][here[1]].tabIndex = -1;
    here = [row, column];
    cell.tabIndex = 0;
    cell.focus();
  }
  board.addEventListener("focusin", (event) => {
    const place = find(event.target);
    if (!place) return;
    squares[here[0]][here[1]].tabIndex = -1;
    here = place;
    event.target.tabIndex = 0;
  });
  board.addEventListener("keydown", (event) => {
    const last = squares[0].length - 1;
    if (event.key in MOVES) go([here[0] + MOVES[event.key][0], here[1] + MOVES[event.key][1]]);
    else if (event.key === "Home") go([event.ctrlKey ? 0 : here[0], 0]);
    else if (event.key === "End") go([event.ctrlKey ? squares.length - 1 : here[0], last]);
    else if (event.key === "Enter" || event.key === " ") event.target.click();
    else return;
    event.preventDefault();
  });
}

function line(list, data, wording) {
  const failed = data.verdict === "failed";
  const opens = measured(data);
  const shown = el(
    opens ? "button" : "div",
    { type: opens ? "button" : null, class: `caseline${failed ? " f" : ""}` },
    el("span", { class: "sign", "aria-hidden": "true" }, failed ? "✗" : "✓"),
    el("span", { class: "label" }, wording.title(data), el("span", { class: "sr" }, `: ${wording.say(data.verdict)}`)),
    el("span", { class: "err" }, data.max_abs_error === undefined ? "" : wording.number(data.max_abs_error, 3)),
    data.why ? el("span", { class: "why" }, wording.note(data.why)) : null,
  );
  list.hidden = false;
  list.append(el("li", {}, shown));
  return shown;
}

export function drawCase(data, wording) {
  const failed = data.verdict === "failed";
  const facts = el("dl", {});
  const fact = (key, value) => facts.append(el("dt", {}, wording.say(key)), el("dd", {}, value));
  if (data.worst) {
    fact("worst", wording.where(data.worst.index));
    fact("got", wording.number(data.worst.got));
    fact("expected", wording.number(data.worst.expected));
    fact("allowed", `± ${wording.number(data.worst.allowed, 3)}`);
  }
  if (data.max_abs_error !== undefined) fact("error", wording.number(data.max_abs_error, 3));
  if (data.atol !== undefined) {
    fact("tolerance", wording.say("tolerance_value", { atol: data.atol, rtol: data.rtol ?? 0 }));
  }
  const title = el("strong", {});
  write(title, `${failed ? "✗" : "✓"} ${wording.title(data)}`);
  return el(
    "div",
    { class: `case${failed ? " f" : ""}` },
    title,
    facts,
    data.why ? el("p", {}, wording.note(data.why)) : null,
  );
}
