// Calculators: htmx swaps their answers in. What stays in place follows here: which fields are
// marked as wrong, and the address that the language menu comes back to.
document.addEventListener("htmx:afterSettle", (event) => {
  const calculator = event.target.closest?.(".calculator");
  if (!calculator) return;
  for (const field of calculator.querySelectorAll("input, select")) {
    const error = document.getElementById(`${field.id}-error`);
    if (error?.textContent) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }
  for (const next of document.querySelectorAll("input[name=next]")) {
    next.value = location.pathname + location.search;
  }
});
