// The versions of a kernel change in place; without this file each tab is a page of its own.

for (const source of document.querySelectorAll(".source")) {
  const tabs = [...source.querySelectorAll(".tabs a[data-version]")];
  for (const tab of tabs) {
    tab.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      for (const other of tabs) other.removeAttribute("aria-current");
      tab.setAttribute("aria-current", "true");
      for (const code of source.querySelectorAll("pre[data-version], header > span[data-version]")) {
        code.hidden = code.dataset.version !== tab.dataset.version;
      }
      history.replaceState(history.state, "", tab.href);
    });
  }
}
