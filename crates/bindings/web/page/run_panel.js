// The panel in which kernels and programs run.

import { escapeHtml } from "./highlight.js";

const HELP = "One line for each argument: its name or number, its type with sizes, and its contents. " +
  "Contents are a number, numbers, iota or random.";

export class RunPanel {
  #area = document.createElement("textarea");
  #results = document.createElement("div");
  #button = document.createElement("button");
  #device = document.createElement("select");
  #isEdited = false;
  #template = "";

  constructor(run) {
    this.element = document.createElement("div");
    this.element.className = "view run";
    const help = document.createElement("p");
    help.className = "note";
    help.textContent = HELP;
    this.#area.spellcheck = false;
    this.#area.setAttribute("aria-label", "Arguments");
    this.#area.addEventListener("input", () => { this.#isEdited = this.#area.value.trim() !== ""; });
    this.#button.className = "primary";
    this.#button.id = "run";
    this.#button.textContent = "Run";
    this.#button.addEventListener("click", async () => {
      this.#button.disabled = true;
      this.#show(await run(this.script, this.#device.value === "WebGPU"));
      this.#button.disabled = false;
    });
    const row = document.createElement("div");
    row.className = "row";
    this.#device.setAttribute("aria-label", "Where it runs");
    this.#device.append(new Option("by WebAssembly", "WebAssembly"), new Option("on WebGPU", "WebGPU"));
    this.#device.hidden = !navigator.gpu;
    row.append(this.#button, this.#device, help);
    this.#results.className = "run";
    this.#results.style.padding = "0";
    this.element.append(row, this.#area, this.#results);
  }

  get script() {
    return this.#area.value;
  }

  set script(script) {
    this.#area.value = script;
    this.#isEdited = script !== "";
    this.#results.replaceChildren();
  }

  /** Fills in arguments that fit the entry point, unless there are others. */
  offer(template = "") {
    this.#template = template;
    if (!this.#isEdited || this.script.trim() === "") this.#area.value = this.#template;
  }

  #show(reply) {
    if (reply.error) {
      const lines = (reply.problems ?? []).map((p) => `${p.span ? `line ${p.span.line}: ` : ""}${p.message}${(p.notes ?? []).map((n) => `\n  ${n}`).join("")}`);
      const problem = document.createElement("pre");
      problem.className = "code mark-error";
      problem.style.whiteSpace = "pre-wrap";
      problem.textContent = lines.length > 0 ? lines.join("\n") : reply.error;
      this.#results.replaceChildren(problem);
      return;
    }
    const comparison = reply.comparison ? [describeComparison(reply.comparison)] : [];
    this.#results.replaceChildren(...comparison, ...reply.results.map(showArray));
  }
}

function describeComparison(text) {
  const note = document.createElement("p");
  note.className = "note";
  note.style.margin = "0";
  note.textContent = `On WebGPU: ${text}.`;
  return note;
}

/** An array with its numbers, and a picture where it has two dimensions. */
function showArray(array) {
  const box = document.createElement("div");
  box.className = "result";
  box.innerHTML = `<h4>${escapeHtml(array.name)} <small>${escapeHtml(array.type)}</small></h4>`;
  const picture = array.numbers && drawPicture(array);
  if (picture) box.append(picture.canvas);
  if (picture?.range && picture.range[0] <= picture.range[1]) box.append(describeRange(picture.range));
  const text = document.createElement("pre");
  text.textContent = array.text;
  box.append(text);
  return box;
}

/** The numbers that a picture is drawn between. */
function describeRange([low, high]) {
  const range = document.createElement("span");
  range.className = "range";
  range.textContent = `from ${low.toPrecision(4)} to ${high.toPrecision(4)}`;
  return range;
}

/** The least and the greatest finite number. */
function findRange(numbers) {
  const finite = numbers.filter(Number.isFinite);
  return [finite.reduce((a, b) => Math.min(a, b), Infinity), finite.reduce((a, b) => Math.max(a, b), -Infinity)];
}

/** A picture, and the range of its numbers where they are not colours. */
function drawPicture({ numbers: listed, shape }) {
  // Numbers that JSON does not have are null.
  const numbers = listed.map((n) => n ?? NaN);
  const isColoured = shape.length === 3 && (shape[2] === 3 || shape[2] === 4);
  if (shape.length !== 2 && !isColoured && shape.length !== 1) return null;
  if (shape.length === 1) return numbers.length > 2 ? drawCurve(numbers) : null;
  const [height, width] = shape;
  if (height < 2 || width < 2) return null;
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const scale = Math.max(1, Math.min(8, Math.floor(420 / Math.max(width, height))));
  canvas.style.width = `${width * scale}px`;
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  if (isColoured) {
    const depth = shape[2];
    const top = numbers.every((n) => n <= 1) ? 255 : 1;
    for (let at = 0; at < width * height; at++) {
      for (let c = 0; c < 3; c++) image.data[4 * at + c] = numbers[depth * at + c] * top;
      image.data[4 * at + 3] = 255;
    }
  } else {
    const [low, high] = findRange(numbers);
    numbers.forEach((n, at) => image.data.set(pickColour((n - low) / (high - low || 1)), 4 * at));
  }
  context.putImageData(image, 0, 0);
  return { canvas, range: isColoured ? null : findRange(numbers) };
}

// Colours from dark blue by green to yellow, of even steps in lightness.
const COLOURS = [[68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137], [53, 183, 121], [110, 206, 88], [181, 222, 43], [253, 231, 37]];

function pickColour(share) {
  if (!Number.isFinite(share)) return [200, 60, 60, 255];
  const at = Math.min(Math.max(share, 0), 1) * (COLOURS.length - 1);
  const [low, high] = [COLOURS[Math.floor(at)], COLOURS[Math.ceil(at)]];
  const part = at - Math.floor(at);
  return [...low.map((n, c) => n + (high[c] - n) * part), 255];
}

function drawCurve(numbers) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [640, 140];
  const context = canvas.getContext("2d");
  const [low, high] = findRange(numbers);
  context.strokeStyle = "#7b61ff";
  context.lineWidth = 2;
  context.beginPath();
  numbers.forEach((n, at) => {
    const x = 6 + (at / (numbers.length - 1)) * 628;
    const y = 130 - ((n - low) / (high - low || 1)) * 120;
    if (at === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  });
  context.stroke();
  return { canvas, range: [low, high] };
}
