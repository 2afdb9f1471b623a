// Comments on a passage: select words of the answer, then c. Places are counted in characters.
import { words } from "../dom.js";
import { say } from "./notices.js";

export class Passages {
  constructor(root, changed) {
    this.root = root;
    this.list = root.querySelector("[data-passages]");
    this.template = root.querySelector("[data-passage-template]");
    this.changed = changed;
    const tool = root.querySelector("[data-passage-tool]");
    tool.hidden = false;
    const button = tool.querySelector("button");
    // The selection would be gone by the time of the click.
    button.addEventListener("pointerdown", (event) => event.preventDefault());
    button.addEventListener("click", () => this.begin());
  }

  begin() {
    const found = this.selected();
    if (!found) return this.ask();
    const item = this.add(found);
    getSelection().removeAllRanges();
    item.querySelector("textarea").focus();
    this.changed();
  }

  /** Says that words must be selected first, until they are. */
  ask() {
    const notice = say(words("queue-words").select);
    const look = () => {
      if (notice.isConnected && !this.selected()) return;
      notice.remove();
      document.removeEventListener("selectionchange", look);
    };
    document.addEventListener("selectionchange", look);
  }

  /** The selection, where it lies within one text of the answer. */
  selected() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    const text = holder(range.startContainer);
    if (!text || text !== holder(range.endContainer) || !this.root.contains(text)) return null;
    const before = document.createRange();
    before.setStart(text, 0);
    before.setEnd(range.startContainer, range.startOffset);
    const quote = range.toString();
    const start = [...before.toString()].length;
    return { field: text.dataset.text, start, end: start + [...quote].length, quote };
  }

  add({ field, start, end, quote }, comment = "") {
    const item = this.template.content.firstElementChild.cloneNode(true);
    const parts = { field, start, end, quote };
    for (const [name, value] of Object.entries(parts)) item.querySelector(`[name=passage-${name}]`).value = value;
    item.querySelector("[data-quote]").textContent = quote;
    item.querySelector("textarea").value = comment;
    this.list.append(item);
    return item;
  }

  /** What was begun before, in place of what the page has. */
  fill(values) {
    for (const item of this.list.querySelectorAll("[data-passage-item]")) item.remove();
    values("passage-quote").forEach((quote, place) => {
      const part = (name) => values(`passage-${name}`)[place];
      this.add({ field: part("field"), start: part("start"), end: part("end"), quote }, part("text"));
    });
  }
}

function holder(node) {
  return (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement)?.closest("[data-text]");
}
