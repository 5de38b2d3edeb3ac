// Views of results: text, changes, control flow, facts.

import { compareLines, foldRows } from "./difference.js";
import { colourLine, escapeHtml, hasSemicolonComments } from "./highlight.js";

/** Most lines that a view shows, and most characters of texts that are compared. */
const MOST_LINES = 20_000;
const MOST_COMPARED = 4_000_000;

/** The number of lines of a text that ends with a line break. */
export function countLines(text) {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** The first lines of a text. */
function takeLines(text, most) {
  let end = -1;
  for (let count = 0; count < most; count++) {
    end = text.indexOf("\n", end + 1);
    if (end < 0) return text.split("\n");
  }
  return text.slice(0, end).split("\n");
}

const element = (tag, className, html) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (html !== undefined) made.innerHTML = html;
  return made;
};

/** A pane with a message. */
export const emptyView = (message) => element("div", "empty", escapeHtml(message));

/** A text with line numbers. `faults` are lines that are marked. */
export function textView(title, text, faults = []) {
  const view = element("div", "view");
  view.append(element("h3", "", escapeHtml(title)));
  const lines = takeLines(text, MOST_LINES);
  if (lines.at(-1) === "") lines.pop();
  const semicolon = hasSemicolonComments(text);
  const marked = new Set(faults.map((fault) => fault.span?.line));
  const rows = lines.map((line, at) =>
    `<span class="line${marked.has(at + 1) ? " fault" : ""}">${colourLine(line, semicolon) || " "}</span>`);
  const rest = lines.length < MOST_LINES ? 0 : countLines(text) - lines.length;
  if (rest > 0) rows.push(`<span class="line gap">… ${rest.toLocaleString("en")} more lines</span>`);
  view.append(element("pre", "code numbered", rows.join("")));
  return view;
}

/** Changes from one text to another. */
export function changesView(before, after) {
  const view = element("div", "view");
  view.append(element("h3", "", `${escapeHtml(before.title)} → ${escapeHtml(after.title)}`));
  if (before.text === after.text) {
    view.append(emptyView("No line differs."));
    return view;
  }
  if (before.text.length + after.text.length > MOST_COMPARED) {
    view.append(emptyView("The texts are too long to be compared here."));
    return view;
  }
  const semicolon = hasSemicolonComments(after.text);
  const rows = foldRows(compareLines(before.text.split("\n"), after.text.split("\n")));
  const pre = element("pre", "code");
  const marks = { same: " ", added: "+", removed: "−" };
  const paint = ({ kind, text }) => `<span class="line ${kind}">${marks[kind]} ${colourLine(text, semicolon)}</span>`;
  for (const row of rows.slice(0, MOST_LINES)) {
    if (row.kind !== "gap") {
      pre.insertAdjacentHTML("beforeend", paint(row));
      continue;
    }
    const gap = element("span", "line gap", `⋯ ${row.rows.length} lines that are the same`);
    gap.addEventListener("click", () => {
      gap.insertAdjacentHTML("afterend", row.rows.map(paint).join(""));
      gap.remove();
    });
    pre.append(gap);
  }
  view.append(pre);
  return view;
}

/** Whether the page is dark: by its button, or else as the system is. */
export const isDark = () =>
  (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

/** Rules of drawings in the page, after their own. */
const GRAPH_STYLE = "svg { display: block; margin: 0 auto; max-width: none; background: none !important; }";

/** A drawing with buttons. The mouse wheel with the control key changes its size as well. */
export function graphView(svg, name) {
  const view = element("div", "graph-view");
  const graph = element("div", "graph");
  graph.classList.toggle("dark", isDark());
  // The rules of the drawing are for itself alone, and its dark colours follow the page. The compiler writes the drawing, and
  // escapes every name in it.
  const root = graph.attachShadow({ mode: "open" });
  root.innerHTML = svg.replace("@media(prefers-color-scheme:dark)", ":host(.dark)");
  root.append(element("style", "", GRAPH_STYLE));
  const drawing = root.querySelector("svg");
  if (!drawing) return emptyView("There is no drawing.");
  const width = drawing.viewBox.baseVal.width || drawing.width.baseVal.value;
  let scale = 1;
  const resize = (to) => {
    scale = Math.min(6, Math.max(0.15, to));
    drawing.style.width = `${width * scale}px`;
    drawing.style.height = "auto";
  };
  graph.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    resize(scale * Math.exp(-event.deltaY / 300));
  }, { passive: false });
  const tools = element("div", "tools");
  for (const [label, title, act] of [
    ["−", "Smaller", () => resize(scale / 1.25)],
    ["+", "Larger", () => resize(scale * 1.25)],
    ["Fit", "As wide as the view", () => resize((graph.clientWidth - 2) / width)],
    ["Save .svg", "Save the drawing as a file", () => saveFile(`${name}.svg`, svg, "image/svg+xml")],
  ]) {
    const button = element("button", "", label);
    button.title = title;
    button.addEventListener("click", act);
    tools.append(button);
  }
  view.append(tools, graph);
  return view;
}

/** Saves contents as a file. */
export function saveFile(name, contents, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([contents], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Sizes, entry points, faults and passes of a module. `onPass` is called with the number of a pass. */
export function factsView(module, reply, onPass) {
  const view = element("div", "view facts");
  const sizes = { ...module.sizes, version: module.version };
  const names = { bytes: "bytes", instructions: "instructions", functions: "functions", blocks: "blocks", ids: "bound of ids", version: "SPIR-V" };
  view.append(element("div", "cards", Object.entries(names).map(([key, name]) =>
    `<div class="card"><b>${Number.isInteger(sizes[key]) ? sizes[key].toLocaleString("en") : escapeHtml(sizes[key])}</b><span>${name}</span></div>`).join("")));
  const verdict = module.faults.length === 0
    ? "<p>The module is valid.</p>"
    : `<ul>${module.faults.map((fault) => `<li>${fault.span ? `line ${fault.span.line}: ` : ""}${escapeHtml(fault.message)}${
      (fault.notes ?? []).map((note) => `<br><small>${escapeHtml(note)}</small>`).join("")}</li>`).join("")}</ul>`;
  view.append(element("h2", "", "Verifier"), element("div", "empty-left", verdict));
  view.lastChild.style.padding = "0 .8rem";
  view.append(element("h2", "", "Entry points"));
  view.append(element("table", "", module.entries.map(([name, model]) =>
    `<tr><td>${escapeHtml(name)}</td><td>${escapeHtml(model)}</td></tr>`).join("")));
  for (const refusal of reply.refusals) view.append(element("p", "note", escapeHtml(refusal)));
  if (module.passes.length > 0) {
    view.append(element("h2", "", `Passes (${module.passes.filter((pass) => pass.changed).length} of ${module.passes.length} changed the module)`));
    const table = element("table");
    module.passes.forEach((pass, at) => {
      const row = element("tr", pass.changed ? "link" : "same",
        `<td class="num">${at + 1}</td><td>${escapeHtml(pass.name)}</td><td>${escapeHtml(pass.statistics.join(", "))}</td>`);
      if (pass.text !== undefined) row.addEventListener("click", () => onPass(at));
      table.append(row);
    });
    view.append(table);
  }
  return view;
}
