// The compiler in a worker. The page ends the worker when a request takes too long.

let exports;

/** Answers a request about the bytes of an input. */
function answer(request, input) {
  const { memory, spirula_allocate, spirula_answer, spirula_free } = exports;
  const put = (bytes) => {
    const block = spirula_allocate(bytes.length);
    if (bytes.length > 0 && block === 0) throw new RangeError("the input does not fit into memory");
    new Uint8Array(memory.buffer, block, bytes.length).set(bytes);
    return block;
  };
  const text = new TextEncoder().encode(JSON.stringify(request));
  const blocks = [put(text), put(input)];
  const reply = spirula_answer(blocks[0], text.length, blocks[1], input.length);
  if (reply === 0) throw new RangeError("the reply does not fit into memory");
  const size = new DataView(memory.buffer).getUint32(reply, true);
  const json = new TextDecoder().decode(new Uint8Array(memory.buffer, reply + 4, size));
  spirula_free(reply, 4 + size);
  spirula_free(blocks[0], text.length);
  spirula_free(blocks[1], input.length);
  return JSON.parse(json);
}

/** The reason why the module stopped, in words. */
function describeCrash(error) {
  if (/call stack|recursion/.test(error.message)) return "the input is nested too deeply";
  if (error instanceof RangeError) return error.message;
  return `internal error of the compiler (${error.message}); this input shows a bug`;
}

/**
 * Imports that the module names. They are of a source of random numbers, which a library for archives has and never calls here.
 */
function refuseImports(module) {
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = () => { throw new Error(`${name} is not there`); };
  }
  return imports;
}

self.onmessage = async ({ data }) => {
  if (data.module) {
    exports = (await WebAssembly.instantiate(data.module, refuseImports(data.module))).exports;
    self.postMessage({ ready: true });
    return;
  }
  const began = performance.now();
  try {
    const reply = answer(data.request, data.input);
    self.postMessage({ id: data.id, reply, time: performance.now() - began });
  } catch (error) {
    // Memory of the module is in an unknown state now, so the page starts another worker.
    self.postMessage({ id: data.id, crash: describeCrash(error), time: performance.now() - began });
  }
};
