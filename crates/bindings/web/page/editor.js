// The source editor: a text area over its coloured text, with line numbers and marks of problems.

import { colourLine, escapeHtml, hasSemicolonComments } from "./highlight.js";

/** Longest text that is coloured. */
const LONGEST_COLOURED = 200_000;

export class SourceEditor {
  #area = document.createElement("textarea");
  #code = document.createElement("pre");
  #gutter = document.createElement("div");
  #scroller;
  #problems = [];

  /** `onChange` is called after each change. A paste of more than `mostPasted` characters is given to `onLargePaste` instead. */
  constructor(scroller, { onChange, mostPasted, onLargePaste }) {
    this.#scroller = scroller;
    const sheet = document.createElement("div");
    sheet.className = "sheet";
    this.#gutter.className = "gutter";
    this.#code.className = "code";
    this.#area.spellcheck = false;
    this.#area.wrap = "off";
    this.#area.setAttribute("aria-label", "Source");
    this.#area.setAttribute("autocapitalize", "off");
    sheet.append(this.#gutter, this.#code, this.#area);
    scroller.replaceChildren(sheet);
    this.#area.addEventListener("input", () => {
      this.#problems = [];
      this.#paint();
      onChange();
    });
    this.#area.addEventListener("paste", (event) => {
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (text.length <= mostPasted) return;
      event.preventDefault();
      onLargePaste(text);
    });
    this.#area.addEventListener("keydown", (event) => this.#indent(event, onChange));
  }

  get text() {
    return this.#area.value;
  }

  set text(text) {
    this.#area.value = text;
    this.#problems = [];
    this.#paint();
    this.#scroller.scrollTo(0, 0);
  }

  /** Marks the spans of problems. */
  mark(problems) {
    this.#problems = problems.filter((problem) => problem.span);
    this.#paint();
  }

  /** Puts the cursor at a place. */
  show(span) {
    const lines = this.text.split("\n");
    const start = lines.slice(0, span.line - 1).reduce((sum, line) => sum + line.length + 1, 0) + span.column - 1;
    this.#area.focus({ preventScroll: true });
    this.#area.setSelectionRange(start, start);
    const height = this.#code.scrollHeight / Math.max(lines.length, 1);
    this.#scroller.scrollTo({ top: (span.line - 6) * height, behavior: "smooth" });
  }

  // A tab indents; Escape lets the next one leave the editor.
  #indent(event, onChange) {
    if (event.key === "Escape") return this.#area.blur();
    if (event.key !== "Tab" || event.shiftKey || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    this.#area.setRangeText("  ", this.#area.selectionStart, this.#area.selectionEnd, "end");
    this.#paint();
    onChange();
  }

  #paint() {
    const text = this.text;
    const lines = text.split("\n");
    const semicolon = hasSemicolonComments(text);
    const isColoured = text.length <= LONGEST_COLOURED;
    const marked = new Map();
    for (const problem of this.#problems) {
      if (!marked.has(problem.span.line)) marked.set(problem.span.line, problem);
    }
    const paint = (line, number) => {
      const problem = marked.get(number);
      if (problem) return markLine(line, problem);
      return isColoured ? colourLine(line, semicolon) : escapeHtml(line);
    };
    this.#code.innerHTML = lines.map((line, at) => paint(line, at + 1)).join("\n") + "\n";
    this.#gutter.textContent = lines.map((_, at) => at + 1).join("\n");
  }
}

function markLine(line, { span, severity }) {
  const start = Math.min(span.column - 1, Math.max(line.length - 1, 0));
  const end = span.endLine > span.line ? line.length : Math.max(span.endColumn - 1, start + 1);
  const parts = [line.slice(0, start), line.slice(start, end), line.slice(end)].map(escapeHtml);
  return `${parts[0]}<span class="mark-${severity}">${parts[1] || " "}</span>${parts[2]}`;
}
