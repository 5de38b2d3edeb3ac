// The WebAssembly module in Node, called as the worker of the page calls it.

import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

/** A compiler that answers requests: the worker's own code, without a worker. */
export async function loadCompiler(page) {
  const replies = [];
  const self = { postMessage: (message) => replies.push(message) };
  const context = { self, WebAssembly, TextEncoder, TextDecoder, Uint8Array, DataView, Map, performance, RangeError, Error, JSON };
  vm.runInNewContext(fs.readFileSync(path.join(page, "worker.js"), "utf8"), context);
  const module = new WebAssembly.Module(fs.readFileSync(path.join(page, "spirula.wasm")));
  await self.onmessage({ data: { module } });
  return async (request, input) => {
    replies.length = 0;
    await self.onmessage({ data: { id: 1, request, input } });
    const [{ reply, crash }] = replies;
    if (crash) throw new Error(crash);
    return reply;
  };
}

/** The examples of the page: title, source, script and passes. */
export function readExamples(page) {
  const listed = JSON.parse(fs.readFileSync(path.join(page, "examples.json"), "utf8"));
  return listed.map(({ title, file, passes = "" }) => {
    const source = path.join(page, "examples", file);
    return {
      title, file, passes,
      source: fs.readFileSync(source),
      script: fs.readFileSync(source.replace(/\.[^.]*$/, ".run"), "utf8"),
    };
  });
}

/** The FNV-1a hash of numbers as 64-bit floats, in hexadecimal digits. */
export function hashNumbers(numbers) {
  const bytes = new Uint8Array(Float64Array.from(numbers).buffer);
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
