// The rubric, edited over the desk: what was ticked stays, and the desk shows the points as they are.
import { el, token, words } from "../dom.js";
import { current } from "./turning.js";

const dialog = document.querySelector("[data-rubric-dialog]");

export async function editRubric(address) {
  if (await show(fetch(address, { credentials: "same-origin" }))) dialog.showModal();
  else location.assign(address);
}

async function show(asked) {
  const answer = await asked.catch(() => null);
  const html = answer ? await answer.text() : "";
  const page = new DOMParser().parseFromString(html, "text/html");
  const editor = page.querySelector("[data-rubric-editor]");
  if (!editor) return false;
  const said = page.querySelector(".messages");
  const close = el("button", { type: "button", class: "quiet close" }, words("queue-words").close);
  close.addEventListener("click", () => dialog.close());
  dialog.replaceChildren(...[said, editor, close].filter(Boolean));
  return true;
}

dialog?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const body = new FormData(event.target, event.submitter);
  body.set("csrfmiddlewaretoken", token());
  await show(fetch(event.target.action, { method: "POST", body, credentials: "same-origin" }));
});

/** The points of the desk as they are now, ticked as they were. */
dialog?.addEventListener("close", async () => {
  const desk = current();
  const answer = await fetch(desk.address, { credentials: "same-origin" }).catch(() => null);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("[data-rubric]");
  const old = desk.root.querySelector("[data-rubric]");
  const marks = page.querySelector("[data-marks]");
  if (!fresh || !old) return;
  const ticked = new Set([...old.querySelectorAll(":checked")].map((box) => box.value));
  for (const box of fresh.querySelectorAll("input")) box.checked = ticked.has(box.value);
  old.replaceWith(fresh);
  if (marks) Object.assign(desk.root.querySelector("[data-marks]").dataset, { ...marks.dataset });
  desk.count();
  fresh.querySelector("[data-rubric-edit]").focus();
});
