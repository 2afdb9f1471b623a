// Small helpers over the DOM. Text is always set as text, never as HTML.
import { reached } from "./connection.js";

export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  set(node, attributes);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** The same, of a picture. */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(node, attributes);
  node.append(...children);
  return node;
}

export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) node.removeAttribute(name);
    else node.setAttribute(name, value === true ? "" : value);
  }
}

/** Writes text only where it changed, so that nothing is laid out or announced in vain. */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function json(id) {
  const node = document.getElementById(id);
  return node ? JSON.parse(node.textContent) : null;
}

/** The token of now: it changes when a guest is made, and then the forms of the page follow. */
export function token() {
  const cookie = document.cookie.split("; ").find((part) => part.startsWith("csrftoken="));
  return cookie?.slice("csrftoken=".length) ?? document.querySelector("input[name=csrfmiddlewaretoken]")?.value ?? "";
}

function renewTokens() {
  for (const field of document.querySelectorAll("input[name=csrfmiddlewaretoken]")) field.value = token();
}

/** POST a form as a script does: JSON comes back, or null where the server was not reached. */
export async function post(url, body = new FormData(), options = {}) {
  body.set("csrfmiddlewaretoken", token());
  try {
    const response = await fetch(url, {
      method: "POST",
      body,
      headers: { Accept: "application/json", "X-CSRFToken": token() },
      credentials: "same-origin",
      ...options,
    });
    reached();
    const data = await response.json().catch(() => ({}));
    renewTokens();
    return { ok: response.ok, status: response.status, data };
  } catch {
    return null;
  }
}

/** Words that a template left for a script, by name. */
export function words(id) {
  const list = document.getElementById(id);
  const entries = [...(list?.querySelectorAll("[data-word]") ?? [])].map((node) => [node.dataset.word, node.textContent]);
  return Object.fromEntries(entries);
}

export function fill(template, params) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => params[name] ?? whole);
}
