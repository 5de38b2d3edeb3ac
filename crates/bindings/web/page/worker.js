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

/** Runs a shader on WebGPU. Its results are compared with those of WebAssembly. */
async function runOnDevice(request, input) {
  const launch = answer({ ...request, command: "launch" }, input);
  if (launch.error) return launch;
  const { launchShader, DeviceRefusal } = await import("./gpu.js");
  try {
    return answer({ ...request, device_buffers: await launchShader(launch) }, input);
  } catch (error) {
    if (error instanceof DeviceRefusal) return { error: `WebGPU: ${error.message}` };
    throw error;
  }
}

/** The reason why the module stopped, in words. */
function describeCrash(error) {
  if (/call stack|recursion/.test(error.message)) return "the input is nested too deeply";
  if (error instanceof RangeError) return error.message;
  return `internal error of the compiler (${error.message}); this input shows a bug`;
}

// Kernels that were translated to WebAssembly: instances by their numbers. Each has memory of its own.
const instances = new Map();
let nextInstance = 1;
let engineMessage = "";

/** A function that returns -1 where it fails, and keeps the message. */
const guard = (run) => (...values) => {
  try {
    return run(...values) ?? 0;
  } catch (error) {
    engineMessage = error.message;
    return -1;
  }
};

const compilerBytes = (at, count) => new Uint8Array(exports.memory.buffer, at >>> 0, count >>> 0);
const kernelBytes = (instance, at, count) => new Uint8Array(instances.get(instance).memory.buffer, at >>> 0, count >>> 0);

/** What the compiler calls to run kernels. Kernels call functions of the compiler themselves. */
const engine = {
  load_module: guard((at, count) => {
    const { spirula_apply, spirula_put_row, spirula_compute_row, spirula_take_row } = exports;
    const module = new WebAssembly.Module(compilerBytes(at, count));
    const { exports: kernel } = new WebAssembly.Instance(module, {
      spirula: { apply: spirula_apply, put_row: spirula_put_row, compute_row: spirula_compute_row, take_row: spirula_take_row },
    });
    instances.set(nextInstance, kernel);
    return nextInstance++;
  }),
  reserve_memory: guard((instance, pages) => {
    const { memory } = instances.get(instance);
    const present = memory.buffer.byteLength / 65536;
    if (pages > present) memory.grow(pages - present);
  }),
  write_memory: guard((instance, to, from, count) => { kernelBytes(instance, to, count).set(compilerBytes(from, count)); }),
  read_memory: guard((instance, from, to, count) => { compilerBytes(to, count).set(kernelBytes(instance, from, count)); }),
  run_group: guard((instance, isNew) => instances.get(instance).run_group(isNew)),
  drop_instance: (instance) => { instances.delete(instance); },
  take_message: (at, room) => new TextEncoder().encodeInto(engineMessage, compilerBytes(at, room)).written,
};

/**
 * Imports that the module names: the engine, and a source of random numbers, which a library for archives has and never calls
 * here.
 */
function listImports(module) {
  const imports = { spirula_engine: engine };
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] ??= () => { throw new Error(`${name} is not there`); };
  }
  return imports;
}

self.onmessage = async ({ data }) => {
  if (data.module) {
    exports = (await WebAssembly.instantiate(data.module, listImports(data.module))).exports;
    self.postMessage({ ready: true });
    return;
  }
  const began = performance.now();
  try {
    const { device, ...request } = data.request;
    const reply = device ? await runOnDevice(request, data.input) : answer(request, data.input);
    self.postMessage({ id: data.id, reply, time: performance.now() - began });
  } catch (error) {
    // Memory of the module is in an unknown state now, so the page starts another worker.
    self.postMessage({ id: data.id, crash: describeCrash(error), time: performance.now() - began });
  }
};
