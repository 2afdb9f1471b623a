// Numbers and sentences in the reader's language, as runner/wording.py writes them.

const SUPERSCRIPTS = { 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹", "-": "⁻" };
const SPECIAL = { nan: "NaN", inf: "∞", "-inf": "−∞" };

/** To so many significant digits. */
export const digits = (value, count) => Number(value.toPrecision(count));

export class Wording {
  constructor({ language, words, messages }) {
    this.language = language;
    this.words = words;
    this.messages = messages;
    this.plural = new Intl.PluralRules(language);
    this.formats = new Map();
  }

  /** To that many significant digits; tiny and huge ones as a power of ten. */
  number(value, digits = 7) {
    if (typeof value === "string") return SPECIAL[value] ?? value;
    if (value === null || value === undefined) return "–";
    const size = Math.abs(value);
    if (size !== 0 && !Number.isInteger(value) && !(size >= 1e-4 && size < 1e9)) {
      const [mantissa, exponent] = value.toExponential(Math.min(digits, 3) - 1).split("e");
      const power = [...String(Number(exponent))].map((sign) => SUPERSCRIPTS[sign]).join("");
      return `${this.decimal(Number(mantissa), 3)} × 10${power}`;
    }
    return this.decimal(value, Number.isInteger(value) ? 21 : digits);
  }

  decimal(value, digits) {
    if (!this.formats.has(digits)) {
      this.formats.set(digits, new Intl.NumberFormat(this.language, { maximumSignificantDigits: digits, useGrouping: "min2" }));
    }
    return this.formats.get(digits).format(value).replace("-", "−");
  }

  seconds(value) {
    return `${new Intl.NumberFormat(this.language, { minimumFractionDigits: 1, maximumFractionDigits: 1 }).format(value)} s`;
  }

  /** One of the page's own words, filled; a counted one is chosen by `n`. */
  say(key, params = {}) {
    return this.fill(this.counted(this.words[key] ?? "", params), params);
  }

  /** The form that goes with the number counted. */
  counted(text, params) {
    if (typeof text !== "object") return text;
    const { by = "n" } = text;
    return text[this.plural.select(Number(params[by]))] ?? text.other;
  }

  /** A Note's sentence; a code without a template shows itself and what it carried. */
  note(note) {
    if (!note?.code) return "";
    const params = note.params ?? {};
    const template = this.messages[note.code];
    if (template !== undefined) return this.fill(this.counted(template, params), params);
    return [note.code, ...Object.entries(params).map(([key, value]) => `${key}=${this.number(value)}`)].join(" ");
  }

  named(code, otherwise) {
    return this.messages[code] ?? otherwise;
  }

  unit(code) {
    return code ? this.named(`unit.${code}`, code) : "";
  }

  /** A label or a cell: by its name where it has one, a number as numbers are written. */
  namedValue(value, digits = 7) {
    return typeof value === "string" ? this.named(`name.${value}`, this.number(value)) : this.number(value, digits);
  }

  fill(template, params) {
    const shown = (name) => (name === "phase" ? this.phase(params[name]) : this.number(params[name], 6));
    return template.replace(/\{(\w+)\}/g, (whole, name) => (name in params ? shown(name) : whole));
  }

  /** What a phase of a training is called. */
  phase(name) {
    return this.named(`phase.${name}`, name);
  }

  /** FP32, 17 × 257, seed 1: the labels of a case, read as one line. */
  title(data) {
    const { dtype, rows, columns, ...rest } = data.labels;
    const parts = dtype === undefined ? [] : [String(dtype)];
    if (rows !== undefined && columns !== undefined) parts.push(`${rows} × ${columns}`);
    else Object.assign(rest, rows === undefined ? {} : { rows }, columns === undefined ? {} : { columns });
    for (const [key, value] of Object.entries(rest)) {
      if (key === "seed") parts.push(this.say("seed", { seed: String(value) }));
      else parts.push(`${this.messages[`column.${key}`] ?? ""} ${this.namedValue(value)}`.trim());
    }
    if (data.what && !data.place) parts.push(this.namedValue(data.what));
    return parts.join(", ");
  }

  where(index) {
    if (index.length === 2) return this.say("at_row_column", { row: index[0], column: index[1] });
    return this.say("at_index", { index: index.join(", ") });
  }
}
