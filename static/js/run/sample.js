// One sample: what was written, and its score as a bar of four parts with their words.
// runner/training.py says the same.
import { el, svg } from "../dom.js";
import { digits } from "./words.js";

export function drawSample(data, wording, scoring) {
  const scores = data.scores ?? {};
  const scored = scores.score !== undefined;
  const row = el("p", { class: "row" }, el("strong", {}, wording.say("step", { step: data.step })));
  if (scored) row.append(verdict(scores.score, wording, scoring));
  return el(
    "div",
    { class: "sample" },
    row,
    ...(scored ? parts(scores, wording, scoring) : []),
    el("pre", { tabindex: 0 }, data.text),
  );
}

function verdict(score, wording, { lowest }) {
  const passed = score >= lowest;
  const said = wording.say(passed ? "score_passes" : "score_fails", { score: digits(score, 3), lowest });
  return el("span", { class: passed ? "p" : "f" }, `${passed ? "✓" : "✗"} ${said}`);
}

/** Each part stands in the room that its weight gives it. */
function parts(scores, wording, { weights, lowest }) {
  const bar = svg("svg", { class: "score", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" });
  const list = el("ul", { class: "parts" });
  let start = 0;
  weights.forEach(([name, weight], index) => {
    const points = weight * (scores[name] ?? 0);
    bar.append(
      svg("rect", { class: "room", x: start, y: 1, width: weight, height: 4 }),
      svg("rect", { class: `p${index}`, x: start, y: 1, width: points, height: 4 }),
    );
    const params = { name: wording.named(`metric.${name}`, name), points: digits(points, 3), weight };
    list.append(el("li", { class: `p${index}` }, wording.say("score_part", params)));
    start += weight;
  });
  bar.append(svg("path", { class: "pass", d: `M${lowest},0v6` }));
  return [bar, list];
}
