// Every panel of the page comes alive here.
import { Panel } from "./run/panel.js";

export const panels = [...document.querySelectorAll("[data-panel]")].map((root) => new Panel(root));
