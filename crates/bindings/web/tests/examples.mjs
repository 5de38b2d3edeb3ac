// Every example compiles and runs in Node, and has the results of the CPU device; bad input gives messages.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { hashNumbers, loadCompiler, readExamples } from "./compiler.mjs";

const page = process.argv[2];
const ask = await loadCompiler(page);

const facts = await ask({ command: "describe" }, new Uint8Array());
assert.ok(facts.passes.length > 20 && facts.targets.includes("vulkan1.2"));

// A row for each result: file, name, type, hash. The unit tests of the crate write it from the CPU device.
const expected = fs.readFileSync(path.join(import.meta.dirname, "examples.tsv"), "utf8").trim().split("\n");
const found = [];
for (const example of readExamples(page)) {
  const { passes, source, script } = example;
  const compiled = await ask({ command: "compile", passes }, source);
  assert.equal(compiled.error, undefined, example.title);
  for (const module of compiled.modules) {
    assert.deepEqual(module.faults, [], `${example.title}: ${module.name}`);
    assert.match(module.drawing, /<svg/);
  }
  const isProgram = /\.(fut|mlir)$/.test(example.file);
  if (isProgram) assert.match(compiled.dispatches, /<svg[^]*entry point main[^]*bytes[^]*kernel 1/, example.title);
  else assert.equal(compiled.dispatches, null, example.title);
  const ran = await ask({ command: "run", passes, script }, source);
  assert.equal(ran.error, undefined, example.title);
  assert.equal(ran.executor, "WebAssembly", `${example.title}: ${ran.reason}`);
  const launch = await ask({ command: "launch", passes, script }, source);
  if (/\.(wgsl|spvasm)$/.test(example.file)) assert.match(launch.source, /@compute/, example.title);
  else assert.match(launch.error, /WebAssembly/, example.title);
  const interpreted = await ask({ command: "run", passes, script, interpret: true }, source);
  assert.equal(interpreted.executor, "the interpreter");
  assert.deepEqual(interpreted.results, ran.results, example.title);
  for (const result of ran.results) {
    found.push([example.file, result.name, result.type, hashNumbers(result.numbers)].join("\t"));
  }
}
assert.deepEqual(found, expected);

// Bad input gives a message with a place, and the compiler goes on.
const encode = (text) => new TextEncoder().encode(text);
const bad = [
  ["@compute @workgroup_size(1) fn main() { let x = ; }", 1],
  ["%1 = OpTypeVoid\n%2 = OpTypeInt many 0\n", 2],
  ["func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %b : tensor<4xf32>\n}\n", 2],
  ["entry main (x: i32): i32 =\n  x + true\n", 2],
  ["define spir_kernel void @k() {\n  ret i32 %x\n}\n", 2],
];
for (const [source, line] of bad) {
  const reply = await ask({ command: "compile" }, encode(source));
  assert.ok(reply.error, source);
  assert.equal(reply.problems[0].span.line, line, `${source}: ${JSON.stringify(reply.problems[0])}`);
}
// Faults that the verifier finds are at lines of the source, and no pass runs.
const { source } = readExamples(page).at(-1);
const invalid = source.toString().replace("%value = OpLoad %uint %source", "%value = OpLoad %uvec3 %source");
const verified = await ask({ command: "compile", passes: "O2" }, encode(invalid));
assert.equal(invalid.split("\n")[verified.problems[0].span.line - 1].trim(), "%value = OpLoad %uvec3 %source");
assert.deepEqual(verified.modules[0].passes, []);

for (const input of [encode("no language at all"), Uint8Array.of(3, 2, 0x23, 7, 0, 0), new Uint8Array(1000)]) {
  assert.ok((await ask({ command: "compile" }, input)).error);
}
const nested = `entry main (x: i32): i32 = ${"(".repeat(200_000)}x${")".repeat(200_000)}`;
await assert.rejects((await loadCompiler(page))({ command: "compile" }, encode(nested)), /nested too deeply/);
assert.match((await ask({ command: "compile", passes: "gvm" }, encode("%1 = OpTypeVoid"))).error, /did you mean gvn/);
const faults = [
  ["numbers: u32[2] = 1 2 3", /3 numbers are listed/],
  ["numbers: u32[2] = 0", /outside of memory/],
  ["groups 1", /no line gives the argument numbers/],
];
for (const [script, message] of faults) {
  assert.match((await ask({ command: "run", script }, source)).error, message);
}
// A kernel without end stops at a line, translated and interpreted.
const endless = encode(`@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(1)
fn main() { loop { x[0] = x[0] + 1u; if (x[0] == 7u) { x[0] = 0u; } } }`);
for (const interpret of [false, true]) {
  const stopped = await ask({ command: "run", script: "x: u32[4] = 0", seconds: 1, interpret }, endless);
  assert.match(stopped.error, /more steps than it may/);
  assert.ok(stopped.problems[0].span.line > 1, JSON.stringify(stopped.problems));
}
console.log(`${found.length} results of ${readExamples(page).length} examples, ${bad.length + faults.length + 8} faults: passed`);
