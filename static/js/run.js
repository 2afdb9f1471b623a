// Every panel of the page comes alive here.
import { Panel } from "./run/panel.js";

for (const root of document.querySelectorAll("[data-panel]")) new Panel(root);
