// The page: its state, and what follows from it.

import { Compiler, CompilerStopped } from "./compiler.js";
import { SourceEditor } from "./editor.js";
import { readFragment, writeFragment } from "./permalink.js";
import { RunPanel } from "./run_panel.js";
import { changesView, countLines, emptyView, factsView, graphView, isDark, saveFile, textView } from "./views.js";

const byId = (id) => document.getElementById(id);

/** Time limits in milliseconds. The address may state others in seconds, as in `?seconds=120`. */
const stated = Number(new URLSearchParams(location.search).get("seconds")) * 1000;
const COMPILE_LIMIT = stated || 20_000;
const RUN_LIMIT = stated || 60_000;

/** Most bytes of a text in the editor. A larger one is compiled without being shown there. */
const LARGEST_EDITED = 400_000;

/** Most problems that are listed. */
const MOST_PROBLEMS = 200;

/** Pause after the last change before the source is compiled. */
const PAUSE = 350;

/** The views of a result. */
const VIEWS = ["text", "diff", "graph", "dispatches", "facts", "run"];

const state = {
  /** The bytes of a binary or large input, or null for the text of the editor. */
  binary: null,
  binaryName: "",
  reply: null,
  module: 0,
  /** The stage that is shown, and the one that it is compared with, by their keys. */
  shown: null,
  base: null,
  view: "text",
};

let compiler;
let timer;
const editor = new SourceEditor(byId("editor"), {
  onChange() {
    state.binary = null;
    byId("source-note").textContent = "";
    compileSoon();
  },
  mostPasted: LARGEST_EDITED,
  onLargePaste: (text) => takeBytes(new TextEncoder().encode(text), "a pasted text"),
});
const runPanel = new RunPanel(runKernel);

// Stages

/** The stages of the reply: key, title, text, and what is said about them. */
function listStages() {
  const { reply } = state;
  if (!reply) return [];
  const stages = [];
  reply.stages.forEach((stage, at) => {
    // Stages that changed nothing are left out.
    if (stage.text !== stages.at(-1)?.text) stages.push({ key: `s${at}`, title: stage.name, text: stage.text });
  });
  const module = reply.modules[state.module];
  if (!module) return stages;
  const own = reply.modules.length > 1 ? `${module.name}: ` : "";
  stages.push({ key: "m", title: `${own}SPIR-V`, text: module.before });
  module.passes.forEach((pass, at) => {
    if (pass.text !== undefined) stages.push({ key: `p${at}`, title: pass.name, text: pass.text, note: pass.statistics.join(", ") });
  });
  if (module.text !== stages.at(-1).text) stages.push({ key: "end", title: "result", text: module.text });
  return stages;
}

const findStage = (key) => listStages().find((stage) => stage.key === key);

function showRail() {
  const stages = listStages();
  if (!stages.some((stage) => stage.key === state.shown)) state.shown = stages.at(-1)?.key ?? null;
  if (!stages.some((stage) => stage.key === state.base)) state.base = null;
  byId("rail").replaceChildren(...stages.map((stage) => {
    const button = document.createElement("button");
    button.className = "stage" + (stage.key === chooseBase(stages)?.key ? " base" : "");
    button.setAttribute("aria-current", stage.key === state.shown);
    const lines = countLines(stage.text);
    const title = document.createElement("span");
    title.textContent = stage.title;
    const size = document.createElement("small");
    size.textContent = `${lines} lines`;
    button.append(title, size);
    button.title = `${stage.note ? stage.note + "\n" : ""}Show this stage; with Shift, compare with it`;
    button.addEventListener("click", (event) => {
      if (event.shiftKey) state.base = stage.key;
      else state.shown = stage.key;
      showAll();
    });
    return button;
  }));
}

/** The stage that is compared with: the chosen one, or the one before. */
function chooseBase(stages) {
  const chosen = stages.find((stage) => stage.key === state.base);
  if (chosen && chosen.key !== state.shown) return chosen;
  const at = stages.findIndex((stage) => stage.key === state.shown);
  return stages[at - 1];
}

// Views

function showViews() {
  const module = state.reply?.modules[state.module];
  byId("module-field").hidden = (state.reply?.modules.length ?? 0) < 2;
  byId("save").hidden = !module;
  const hasDispatches = Boolean(state.reply?.dispatches);
  byId("dispatches").hidden = !hasDispatches;
  if (state.view === "dispatches" && !hasDispatches) state.view = "text";
  for (const tab of byId("tabs").children) tab.setAttribute("aria-selected", tab.dataset.view === state.view);
  byId("views").replaceChildren(...makeViews(module));
}

function makeViews(module) {
  const stages = listStages();
  const shown = findStage(state.shown);
  if (state.view === "run") return [runPanel.element];
  if (!state.reply) return [emptyView("Results appear here once the input compiles.")];
  switch (state.view) {
    case "diff": {
      const base = chooseBase(stages);
      return [base ? changesView(base, shown) : emptyView("This is the first stage: there is nothing to compare with. Choose a later one above.")];
    }
    case "graph": {
      if (!module) return [emptyView("The program has no kernels.")];
      return [module.drawing ? graphView(module.drawing, module.name.replaceAll(" ", "-")) : emptyView("The drawing would be too large.")];
    }
    case "dispatches":
      return [state.reply.dispatches ? graphView(state.reply.dispatches, "dispatches") : emptyView("A module has no dispatches: they belong to programs of several kernels, such as StableHLO and Futhark.")];
    case "facts":
      return [module ? factsView(module, state.reply, (at) => { state.shown = `p${at}`; state.view = "diff"; showAll(); }) : emptyView("The program has no kernels.")];
    default: {
      if (!shown) return [emptyView("There is nothing to show.")];
      const faults = shown.text === module?.text ? module.faults : [];
      const base = stages.find((stage) => stage.key === state.base && stage.key !== state.shown);
      const views = base ? [textView(base.title, base.text)] : [];
      return [...views, textView(shown.title, shown.text, faults)];
    }
  }
}

function showAll() {
  showRail();
  showViews();
}

function showProblems(problems, message) {
  const listed = problems.length > 0 || !message ? problems : [{ severity: "error", message }];
  const more = listed.length - MOST_PROBLEMS;
  const rest = document.createElement("li");
  rest.textContent = `… ${more.toLocaleString("en")} more`;
  byId("problems").replaceChildren(...listed.slice(0, MOST_PROBLEMS).map((problem) => {
    const item = document.createElement("li");
    const severity = document.createElement("span");
    severity.className = problem.severity;
    severity.textContent = problem.severity;
    const place = problem.span ? ` line ${problem.span.line}` : problem.place ? ` at ${problem.place}` : "";
    item.append(severity, `${place}: ${problem.message}${problem.label ? ` (${problem.label})` : ""}`);
    for (const more of [...(problem.notes ?? []), ...(problem.hint ? [problem.hint] : [])]) {
      const note = document.createElement("small");
      note.textContent = more;
      item.append(note);
    }
    if (problem.span) item.addEventListener("click", () => editor.show(problem.span));
    return item;
  }), ...(more > 0 ? [rest] : []));
  editor.mark(state.binary ? [] : problems.slice(0, MOST_PROBLEMS));
}

function showStatus(text, isBusy = false) {
  byId("status").textContent = text;
  byId("status").classList.toggle("busy", isBusy);
}

// Compilation

const readInput = () => state.binary ?? new TextEncoder().encode(editor.text);

const readOptions = () => ({ passes: byId("passes").value, target: byId("target").value });

function compileSoon() {
  clearTimeout(timer);
  timer = setTimeout(compileNow, PAUSE);
}

async function compileNow() {
  clearTimeout(timer);
  if (!compiler) return;
  compiler.cancel();
  const input = readInput();
  if (input.length === 0) {
    Object.assign(state, { reply: null });
    showProblems([]);
    showStatus("Paste, drop or open an input, or choose an example.");
    return showAll();
  }
  showStatus("Compiling …", true);
  try {
    const { reply, time } = await compiler.ask({ command: "compile", ...readOptions() }, input, COMPILE_LIMIT);
    if (reply.error) {
      state.reply = null;
      showProblems(reply.problems ?? [], reply.error);
      showStatus(reply.error);
    } else {
      takeReply(reply, time);
    }
  } catch (error) {
    if (!(error instanceof CompilerStopped)) throw error;
    if (error.message === "stopped") return;
    state.reply = null;
    showProblems([], error.message);
    showStatus(error.message);
  }
  showAll();
}

function takeReply(reply, time) {
  state.reply = reply;
  state.module = Math.min(state.module, Math.max(reply.modules.length - 1, 0));
  byId("format").textContent = reply.format;
  byId("module").replaceChildren(...reply.modules.map((module, at) => new Option(module.name, at, false, at === state.module)));
  showProblems(reply.problems);
  runPanel.offer(reply.template);
  const faults = reply.modules.reduce((sum, module) => sum + module.faults.length, 0);
  const verdict = faults === 0 ? "valid" : `${faults} faults found by the verifier`;
  const bytes = reply.modules.reduce((sum, module) => sum + module.sizes.bytes, 0);
  const count = reply.modules.length === 1 ? "1 module" : `${reply.modules.length} modules`;
  showStatus(`${reply.format} → ${count}, ${bytes.toLocaleString("en")} bytes, ${verdict}, in ${time.toFixed(0)} ms`);
}

async function runKernel(script, device) {
  showStatus("Running …", true);
  try {
    const { reply, time } = await compiler.ask({ command: "run", script, device, seconds: Math.ceil(RUN_LIMIT / 1000), ...readOptions() }, readInput(), RUN_LIMIT);
    const reason = reply.reason ? ` (${reply.reason})` : "";
    showStatus(reply.error ? reply.error : `ran in ${time.toFixed(0)} ms ${device ? "on WebGPU" : `by ${reply.executor}${reason}`}, compilation included`);
    return { ...reply, time };
  } catch (error) {
    if (!(error instanceof CompilerStopped)) throw error;
    showStatus(error.message);
    return { error: error.message };
  }
}

// Inputs

function setText(text, name = "") {
  Object.assign(state, { binary: null, binaryName: name });
  byId("source-note").textContent = name;
  editor.text = text;
}

/** Takes the bytes of a file: a text into the editor, anything else as a binary. */
function takeBytes(bytes, name) {
  Object.assign(state, { shown: null, base: null, module: 0 });
  const isBinary = bytes.length > LARGEST_EDITED || bytes.subarray(0, 4096).includes(0) || (bytes[0] === 0x42 && bytes[1] === 0x43);
  if (isBinary) {
    setText("");
    Object.assign(state, { binary: bytes, binaryName: name });
    byId("source-note").textContent = `${name}, ${bytes.length.toLocaleString("en")} bytes, shown as compiled on the right`;
  } else {
    setText(new TextDecoder().decode(bytes), name);
  }
  compileNow();
}

async function takeFile(file) {
  if (file) takeBytes(new Uint8Array(await file.arrayBuffer()), file.name);
}

async function takeExample(example) {
  const path = `examples/${example.file}`;
  const files = [path, path.replace(/\.[^.]*$/, ".run")];
  const [source, script] = await Promise.all(files.map(async (file) => (await fetch(file)).text()));
  Object.assign(state, { shown: null, base: null, module: 0 });
  byId("passes").value = example.passes ?? "";
  byId("target").value = "";
  setText(source);
  runPanel.script = script;
  compileNow();
}

async function share() {
  const binary = state.binary && { name: state.binaryName, bytes: Array.from(state.binary) };
  const saved = { ...readOptions(), run: runPanel.script, source: editor.text, binary, view: state.view };
  history.replaceState(null, "", await writeFragment(saved));
  try {
    await navigator.clipboard.writeText(location.href);
    showStatus("The link is in the clipboard.");
  } catch {
    showStatus("The link is in the address bar.");
  }
}

function restore(saved) {
  byId("passes").value = String(saved.passes ?? "");
  byId("target").value = String(saved.target ?? "");
  runPanel.script = String(saved.run ?? "");
  if (VIEWS.includes(saved.view)) state.view = saved.view;
  if (saved.binary?.bytes) takeBytes(Uint8Array.from(saved.binary.bytes), String(saved.binary.name));
  else {
    setText(String(saved.source ?? ""));
    compileNow();
  }
}

function saveModule() {
  const module = state.reply?.modules[state.module];
  if (!module) return;
  const bytes = Uint8Array.from(module.binary.match(/../g) ?? [], (digits) => parseInt(digits, 16));
  saveFile(`${module.name.replaceAll(" ", "-")}.spv`, bytes, "application/octet-stream");
}

// Wiring

function wirePage(examples) {
  byId("example").append(...examples.map((example, at) => new Option(example.title, at)));
  byId("example").addEventListener("change", ({ target }) => takeExample(examples[target.value]));
  byId("passes").addEventListener("input", compileSoon);
  byId("target").addEventListener("change", compileNow);
  byId("module").addEventListener("change", ({ target }) => { state.module = Number(target.value); state.shown = null; showAll(); });
  byId("tabs").addEventListener("click", ({ target }) => {
    if (target.dataset.view) { state.view = target.dataset.view; showViews(); }
  });
  byId("open").addEventListener("click", () => byId("file").click());
  byId("file").addEventListener("change", ({ target }) => { takeFile(target.files[0]); target.value = ""; });
  byId("share").addEventListener("click", share);
  byId("save").addEventListener("click", saveModule);
  byId("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    showViews();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showViews);
  wireDropping();
  wireSplitter();
  addEventListener("hashchange", async () => { const saved = await readFragment(location.hash); if (saved) restore(saved); });
}

function wireDropping() {
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => { if (hasFiles(event)) { event.preventDefault(); byId("drop").hidden = false; } });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) byId("drop").hidden = true; });
  addEventListener("drop", (event) => {
    byId("drop").hidden = true;
    if (!hasFiles(event)) return;
    event.preventDefault();
    takeFile(event.dataTransfer.files[0]);
  });
}

function wireSplitter() {
  const splitter = byId("splitter");
  const place = (share) => byId("source-pane").style.setProperty("--split", `${Math.min(80, Math.max(15, share))}%`);
  splitter.addEventListener("pointerdown", (event) => splitter.setPointerCapture(event.pointerId));
  splitter.addEventListener("pointermove", (event) => {
    if (!splitter.hasPointerCapture(event.pointerId)) return;
    const { left, width } = splitter.parentElement.getBoundingClientRect();
    place(((event.clientX - left) / width) * 100);
  });
  splitter.addEventListener("keydown", ({ key }) => {
    const step = { ArrowLeft: -4, ArrowRight: 4 }[key];
    const now = parseFloat(byId("source-pane").style.getPropertyValue("--split")) || 42;
    if (step) place(now + step);
  });
}

/** Loads the compiler, which takes longest, and shows the source meanwhile. */
async function start() {
  const loading = Compiler.load("spirula.wasm").then((loaded) => ({ loaded }), (error) => ({ error }));
  const examples = await (await fetch("examples.json")).json();
  wirePage(examples);
  const saved = await readFragment(location.hash);
  showAll();
  if (saved) restore(saved);
  else takeExample(examples[0]);
  const { loaded, error } = await loading;
  if (error) return showStatus(`The compiler could not be loaded: ${error.message}`);
  // A source that is there before waits for this reply, as the compiler stops a request for the next one.
  const { reply } = await loaded.ask({ command: "describe" }, new Uint8Array(), COMPILE_LIMIT);
  byId("target").append(...reply.targets.map((name) => new Option(name)));
  byId("pass-list").append(...[...reply.presets, ...reply.passes].map(({ name, help }) => new Option(help, name)));
  if (saved?.target) byId("target").value = String(saved.target);
  compiler = loaded;
  compileNow();
  navigator.serviceWorker?.register("offline.js").catch(() => {});
}

start();
