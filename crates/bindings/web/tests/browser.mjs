// The page in Chromium: it is fast to open, every example compiles and runs, links restore the page, a run without end is stopped.

import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import { loadCompiler, readExamples } from "./compiler.mjs";

const [page, playwright, chromiumPath] = process.argv.slice(2);
const { chromium } = createRequire(path.join(path.resolve(playwright), "x.js"))("playwright-core");

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".svg": "image/svg+xml", ".wasm": "application/wasm" };

/** Most milliseconds from opening the page to its first result, and pages that are opened, of which the fastest counts. */
const MOST_FIRST = 2000;
const OPENED = 5;

const requests = [];
const server = http.createServer((request, response) => {
  const name = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
  const file = path.join(page, name === "/" ? "index.html" : path.normalize(name));
  requests.push(name);
  if (!fs.existsSync(file)) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": TYPES[path.extname(file)] ?? "text/plain" });
  response.end(fs.readFileSync(file));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${server.address().port}/`;

const browser = await chromium.launch({
  executablePath: chromiumPath,
  // WebGPU runs on the processor.
  args: ["--headless", "--no-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--disable-background-networking"],
});
const faults = [];

async function openPage(url, context = browser) {
  const tab = await context.newPage({ viewport: { width: 1440, height: 860 } });
  tab.on("pageerror", (error) => faults.push(error.message));
  tab.on("console", (message) => { if (message.type() === "error") faults.push(message.text()); });
  tab.on("request", (request) => { if (!request.url().startsWith(address)) faults.push(`a request to ${request.url()}`); });
  await tab.goto(url);
  return tab;
}

const waitForStatus = (tab, pattern) =>
  tab.waitForFunction((text) => new RegExp(text).test(document.getElementById("status").textContent), pattern, { timeout: 60_000 });

try {
  const ask = await loadCompiler(page);
  let first = Infinity;
  for (let at = 0; at < OPENED && first > MOST_FIRST / 2; at++) {
    const context = await browser.newContext();
    const began = Date.now();
    await waitForStatus(await openPage(address, context), "→");
    first = Math.min(first, Date.now() - began);
    await context.close();
  }
  // Other work of the machine delays the result.
  const isBusy = os.loadavg()[0] > os.availableParallelism();
  if (first > MOST_FIRST && isBusy) console.error(`NOT CHECKED: the first result is there after ${first} ms, as the machine is busy`);
  else assert.ok(first <= MOST_FIRST, `the first result is there after ${first} ms`);

  const tab = await openPage(address);
  await waitForStatus(tab, "→");

  const examples = readExamples(page);
  for (const [at, example] of examples.entries()) {
    await tab.selectOption("#example", String(at));
    await waitForStatus(tab, "→.*valid");
    await tab.waitForFunction((text) => document.querySelector("#editor textarea").value === text, example.source.toString());
    await waitForStatus(tab, "→.*valid");
    const isProgram = /\.(fut|mlir)$/.test(example.file);
    assert.equal(await tab.isVisible("[data-view=dispatches]"), isProgram, example.title);
    const drawings = isProgram ? ["dispatches"] : [];
    for (const view of ["text", "diff", "graph", ...drawings]) await tab.click(`[data-view=${view}]`);
    assert.equal(await tab.locator(".graph svg").count(), 1, example.title);
    for (const view of ["facts", "run"]) await tab.click(`[data-view=${view}]`);
    await tab.click("#run");
    await waitForStatus(tab, "^ran in");
    const { results } = await ask({ command: "run", passes: example.passes, script: example.script }, example.source);
    assert.deepEqual(await tab.locator(".result pre").allTextContents(), results.map((result) => result.text), example.title);
    assert.equal(await tab.locator(".result canvas").count(), results.length, example.title);
  }

  // Shaders run on WebGPU, and are compared with WebAssembly; other inputs are refused in words.
  assert.ok(await tab.evaluate(() => navigator.gpu?.requestAdapter().then(Boolean)), "the browser has no WebGPU device");
  for (const [at, example] of examples.entries()) {
    await tab.selectOption("#example", String(at));
    await tab.waitForFunction((text) => document.querySelector("#editor textarea").value === text, example.source.toString());
    await waitForStatus(tab, "→.*valid");
    await tab.click("[data-view=run]");
    await tab.selectOption(".run select", "WebGPU");
    await tab.click("#run");
    if (/\.(wgsl|spvasm)$/.test(example.file)) {
      await waitForStatus(tab, "^ran in .* on WebGPU");
      const comparison = await tab.textContent(".run .run .note");
      const differing = comparison.match(/(\d+) of (\d+) numbers differ/);
      // Real numbers are rounded otherwise by WebGPU, which may contract them, so that few pixels have another colour.
      if (differing && example.file.endsWith(".wgsl")) assert.ok(differing[1] < 0.02 * differing[2], comparison);
      else assert.match(comparison, /all \d+ numbers equal/, example.title);
    } else {
      await waitForStatus(tab, "WebGPU");
      assert.equal(await tab.locator(".run .mark-error").count(), 1, example.title);
    }
    await tab.selectOption(".run select", "WebAssembly");
  }

  // A problem is shown at its line.
  await tab.fill("#editor textarea", "@compute @workgroup_size(1)\nfn main() { let x = ; }\n");
  await tab.waitForSelector("#problems li");
  assert.match(await tab.textContent("#problems li"), /line 2/);
  assert.ok(await tab.locator(".mark-error").count() > 0);

  // A link restores source, passes and script.
  await tab.selectOption("#example", "3");
  await waitForStatus(tab, "→.*valid");
  await tab.fill("#passes", "O1");
  await waitForStatus(tab, "→.*valid");
  await tab.click("#share");
  await waitForStatus(tab, "link");
  const restored = await openPage(tab.url());
  await waitForStatus(restored, "→.*valid");
  assert.equal(await restored.inputValue("#passes"), "O1");
  assert.equal(await restored.inputValue("#editor textarea"), await tab.inputValue("#editor textarea"));

  // A run without end is stopped at a line, and the page goes on meanwhile and afterwards.
  const slow = await openPage(`${address}?seconds=30`);
  await waitForStatus(slow, "→");
  await slow.fill("#editor textarea", "@group(0) @binding(0) var<storage, read_write> x: array<u32>;\n@compute @workgroup_size(1)\nfn main() { loop { x[0] = x[0] + 1u; if (x[0] == 7u) { x[0] = 0u; } } }\n");
  await slow.fill("#passes", "");
  await waitForStatus(slow, "WGSL → ");
  await slow.click("[data-view=run]");
  await slow.fill(".run textarea", "x: u32[4] = 0");
  await slow.click("#run");
  await slow.click("#theme");
  await waitForStatus(slow, "more steps than it may");
  assert.match(await slow.textContent(".run .mark-error"), /line \d+/);
  await slow.selectOption("#example", "4");
  await waitForStatus(slow, "SPIR-V assembly → .*valid");

  // A run whose steps are slow is ended with its worker.
  const heavy = await openPage(`${address}?seconds=15`);
  await waitForStatus(heavy, "→");
  const calls = "v = acosh(v + 2.0) + tan(v) + atanh(v * 0.1); ".repeat(20);
  await heavy.fill("#editor textarea", `@group(0) @binding(0) var<storage, read_write> x: array<f32>;\n@compute @workgroup_size(1)\nfn main() { var v = x[0]; loop { ${calls} if (v == 7.0) { break; } } x[0] = v; }\n`);
  await heavy.fill("#passes", "");
  await waitForStatus(heavy, "WGSL → ");
  await heavy.click("[data-view=run]");
  await heavy.fill(".run textarea", "x: f32[4] = 0");
  await heavy.click("#run");
  await waitForStatus(heavy, "stopped after 15 seconds");

  // A large text is compiled without being in the editor, which would freeze the page.
  const large = await openPage(address);
  await waitForStatus(large, "→");
  const text = Buffer.from("%1 = OpTypeVoid ; a comment that has some length\n".repeat(400_000));
  await large.setInputFiles("#file", { name: "large.spvasm", mimeType: "text/plain", buffer: text });
  await waitForStatus(large, "SPIR-V assembly → .* faults?");
  assert.equal(await large.inputValue("#editor textarea"), "");

  // Without the server the page comes from the browser's store.
  await tab.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await tab.waitForFunction(async () => (await caches.keys()).length > 0 && (await (await caches.open("spirula-playground")).keys()).length > 10);
  await tab.reload();
  await waitForStatus(tab, "→");
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await tab.goto(address);
  await waitForStatus(tab, "→");
  assert.deepEqual(faults.filter((fault) => !fault.includes("ERR_CONNECTION_REFUSED")), []);
  console.log(`${examples.length} examples in Chromium, the first result after ${first} ms: passed`);
} finally {
  await browser.close();
  server.close();
}
