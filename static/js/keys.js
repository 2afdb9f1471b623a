// ← and → turn the page, / searches, ? shows the keys. Never while somebody types.

const dialog = document.querySelector("[data-keys]");
const button = document.querySelector("[data-show-keys]");
if (button && dialog) {
  button.hidden = false;
  button.addEventListener("click", () => dialog.showModal());
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (typing(event.target) || document.querySelector("dialog[open]")) return;
  if (event.key === "ArrowLeft") follow("prev");
  else if (event.key === "ArrowRight") follow("next");
  else if (event.key === "?" && dialog) dialog.showModal();
  else if (event.key === "/") search(event);
});

/** Fields and anything that uses arrow keys itself: a grid, a list to sort, a scroller. */
function typing(target) {
  return Boolean(
    target.closest(
      "input, textarea, select, [contenteditable], [role=grid], [data-order], pre, .scroll, summary",
    ),
  );
}

function follow(rel) {
  const link = document.querySelector(`a[rel~="${rel}"]`);
  if (link) link.click();
}

function search(event) {
  const field = document.querySelector("input[type=search]");
  const link = document.querySelector("[data-search]");
  if (!field && !link) return;
  event.preventDefault();
  if (field) field.focus();
  else link.click();
}
