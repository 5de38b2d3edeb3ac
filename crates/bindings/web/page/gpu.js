// Shaders on WebGPU: the worker launches them, and the compiler has made WGSL of them.

/** A launch that the browser refuses. */
export class DeviceRefusal extends Error {}

const fromHex = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

const TYPES = { "storage": "STORAGE", "read-only-storage": "STORAGE", "uniform": "UNIFORM" };

/** Runs a launch, and returns the contents of its buffers by their numbers. */
export async function launchShader({ source, groups, buffers }) {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) throw new DeviceRefusal("the browser has no WebGPU device");
  const device = await adapter.requestDevice();
  try {
    device.pushErrorScope("out-of-memory");
    device.pushErrorScope("validation");
    const made = buffers.map((one) => makeBuffer(device, one));
    const commands = device.createCommandEncoder();
    dispatch(device, commands, source, groups, made);
    for (const { buffer, copy, size } of made) if (copy) commands.copyBufferToBuffer(buffer, 0, copy, 0, size);
    device.queue.submit([commands.finish()]);
    const refusals = [await device.popErrorScope(), await device.popErrorScope()];
    const refusal = refusals.find((error) => error);
    if (refusal) throw new DeviceRefusal(refusal.message);
    return await readBuffers(made);
  } finally {
    device.destroy();
  }
}

/** A buffer with its contents, and the one that it is copied to when it has been written. */
function makeBuffer(device, { group, binding, usage, contents, number }) {
  const bytes = fromHex(contents);
  const size = Math.max(16, Math.ceil(bytes.length / 16) * 16);
  const flags = GPUBufferUsage[TYPES[usage]] | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC;
  const buffer = device.createBuffer({ size, usage: flags });
  const padded = new Uint8Array(size);
  padded.set(bytes);
  device.queue.writeBuffer(buffer, 0, padded);
  const isRead = number !== null;
  const copy = isRead ? device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST }) : null;
  return { group, binding, usage, number, size, length: bytes.length, buffer, copy };
}

function dispatch(device, commands, code, groups, made) {
  const count = made.reduce((most, { group }) => Math.max(most, group + 1), 0);
  const layouts = Array.from({ length: count }, (_, at) => device.createBindGroupLayout({
    entries: made.filter(({ group }) => group === at).map(({ binding, usage }) => ({
      binding, visibility: GPUShaderStage.COMPUTE, buffer: { type: usage },
    })),
  }));
  const pipeline = device.createComputePipeline({
    layout: device.createPipelineLayout({ bindGroupLayouts: layouts }),
    compute: { module: device.createShaderModule({ code }) },
  });
  const pass = commands.beginComputePass();
  pass.setPipeline(pipeline);
  layouts.forEach((layout, at) => pass.setBindGroup(at, device.createBindGroup({
    layout,
    entries: made.filter(({ group }) => group === at).map(({ binding, buffer, length }) => ({
      // Arrays without a length end where the contents end.
      binding, resource: { buffer, size: Math.max(4, Math.ceil(length / 4) * 4) },
    })),
  })));
  pass.dispatchWorkgroups(...groups);
  pass.end();
}

async function readBuffers(made) {
  const read = [];
  for (const { copy, number, length } of made) {
    if (!copy) continue;
    await copy.mapAsync(GPUMapMode.READ);
    read[number] = toHex(new Uint8Array(copy.getMappedRange()).subarray(0, length));
  }
  return Array.from(read, (digits) => digits ?? "");
}
