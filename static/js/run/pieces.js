// The rest of a story: tables, pictures, samples, files, the log and how it was made.
import { el, write } from "../dom.js";
import { watch } from "../sideways.js";
import { drawSample } from "./sample.js";

/** Appends what is new in a list of the state; lists only grow. */
function growing(pick, draw) {
  let drawn = 0;
  return (state) => {
    const list = pick(state);
    for (; drawn < list.length; drawn += 1) draw(list[drawn]);
  };
}

export function drawTables(host, wording) {
  return growing((state) => state.tables, (data) => {
    host.append(table(data, wording));
    watch(host);
  });
}

const EXACT = new Set(["resume"]); // as in runner/story.py
const LONG_TABLE = 24; // rows; a longer one is folded, as in runner/story.py

function table(data, wording) {
  const digits = EXACT.has(data.name) ? 9 : 7;
  const caption = wording.named(`table.${data.name}`, data.name);
  const head = data.columns.map((column, index) => {
    const unit = column.unit ? ` (${wording.unit(column.unit)})` : "";
    const numeric = data.rows.some((row) => typeof row[index] === "number");
    return el("th", { scope: "col", class: numeric ? "n" : null }, wording.named(`column.${column.key}`, column.key) + unit);
  });
  const rows = data.rows.map((row) =>
    el("tr", {}, ...row.map((cell) => el("td", { class: typeof cell === "string" ? null : "n" }, wording.namedValue(cell, digits)))),
  );
  const long = rows.length > LONG_TABLE;
  const drawn = el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el(
      "table",
      { class: "data" },
      long ? null : el("caption", {}, caption),
      el("thead", {}, el("tr", {}, ...head)),
      el("tbody", {}, ...rows),
    ),
  );
  return long ? el("details", { class: "fold" }, el("summary", {}, caption), drawn) : drawn;
}

export function drawPictures(host, wording, fileUrl) {
  return growing(
    (state) => state.pictures,
    (data) =>
      host.append(
        el("figure", { class: "picture" }, el("img", { src: fileUrl(data.artifact), alt: wording.note(data.alt), loading: "lazy" })),
      ),
  );
}

export function drawSamples(host, wording, scoring) {
  return growing((state) => state.samples, (data) => host.append(drawSample(data, wording, scoring)));
}

/** Each file once, as it is now: a training tells of the same ones again and lets some go. */
export function drawFiles(host, wording, fileUrl, whatIsKept = () => null) {
  const list = el("ul", { class: "files" });
  const fold = el("details", { class: "fold", hidden: true }, el("summary", {}, wording.say("files")), list);
  host.append(fold);
  let drawn = [];
  return ({ artifacts }) => {
    const kept = whatIsKept();
    if (artifacts === drawn[0] && kept === drawn[1]) return;
    drawn = [artifacts, kept];
    const files = [...new Map(artifacts.map((data) => [data.name, data])).values()];
    fold.hidden = !files.length;
    list.replaceChildren(...files.map((data) => fileItem(data, kept?.[data.name], wording, fileUrl)));
  };
}

function fileItem({ name, bytes, kept = true }, still = true, wording, fileUrl) {
  const named = kept && still ? el("a", { href: fileUrl(name) }, name) : `${name} · ${wording.say("not_kept")}`;
  return el("li", {}, named, el("span", { class: "size" }, size(bytes, wording)));
}

function size(bytes, wording) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  let index = 0;
  let value = bytes;
  while (value >= 1000 && index < units.length - 1) {
    value /= 1000;
    index += 1;
  }
  const digits = index ? 1 : 0;
  return new Intl.NumberFormat(wording.language, { style: "unit", unit: units[index], maximumFractionDigits: digits }).format(value);
}

export function drawLog(host, wording) {
  const cut = el("span", { class: "cut", hidden: true });
  const lines = el("pre", { class: "log", dir: "ltr", tabindex: 0, "aria-label": wording.say("log") }, cut);
  const fold = el("details", { class: "fold", hidden: true }, el("summary", {}, wording.say("log")), lines);
  host.append(fold);
  let drawn = null;
  let total = 0;
  return function update(state) {
    if (state.log === drawn) return;
    drawn = state.log;
    fold.hidden = state.log.length === 0;
    const atEnd = lines.scrollTop + lines.clientHeight >= lines.scrollHeight - 24;
    const fresh = Math.min(state.log.length, state.logCut + state.log.length - total);
    for (const data of state.log.slice(state.log.length - fresh)) {
      const text = (data.text ?? wording.note(data.note)).replace(/\n$/, "");
      lines.append(el("span", { class: data.level ?? "info" }, `${text}\n`));
    }
    while (lines.childElementCount > state.log.length + 1) cut.nextElementSibling.remove();
    total = state.logCut + state.log.length;
    cut.hidden = state.logCut === 0;
    if (state.logCut) write(cut, `${wording.say("log_cut", { n: state.logCut })}\n`);
    if (atEnd) lines.scrollTop = lines.scrollHeight;
  };
}

/** How this was made: facts in the order of runner/making.py, then where the rest is to be had. */
export function madeOf(facts, wording) {
  if (!facts) return [];
  const parts = [facts.device_name];
  if (facts.interpreter) parts.push(wording.say("interpreter"));
  if (facts.driver) parts.push(wording.say("driver", { version: String(facts.driver) }));
  for (const [key, name] of [["torch", "torch"], ["triton", "Triton"], ["python", "Python"]]) {
    if (facts[key]) parts.push(`${name} ${facts[key]}`);
  }
  if (facts.version) parts.push(wording.say("version", { version: facts.version }));
  if (![undefined, null, ""].includes(facts.seed)) parts.push(wording.say("made_seed", { seed: String(facts.seed) }));
  if (facts.commit) parts.push(wording.say("commit", { commit: String(facts.commit).slice(0, 10) }));
  const sandbox = facts.sandbox || "none";
  parts.push(sandbox === "none" ? wording.say("no_sandbox") : wording.say("sandbox", { name: sandbox }));
  return parts.filter(Boolean);
}

export function drawMade(host, wording, links) {
  const facts = el("span", {});
  const line = el("p", { class: "made" }, facts);
  links.forEach(([href, text], index) => line.append(index ? " · " : "", el("a", { href }, text)));
  host.append(line);
  let drawn = null;
  return function update(state) {
    if (state.made === drawn) return;
    drawn = state.made;
    const text = madeOf(drawn, wording).join(" · ");
    facts.replaceChildren(el("strong", {}, wording.say("made")), ` · ${text}`, el("br"));
  };
}
