// Runs generated modules for `node_engine.rs`, which describes the messages.

import fs from "node:fs";

/** Reads so many bytes from the standard input. */
function receive(count) {
  const bytes = Buffer.alloc(count);
  let at = 0;
  while (at < count) {
    const read = fs.readSync(0, bytes, at, count - at);
    if (read === 0) process.exit(0);
    at += read;
  }
  return bytes;
}

function send(bytes) {
  let at = 0;
  while (at < bytes.length) at += fs.writeSync(1, bytes, at);
}

/** Asks the test for an operation of the host. */
function askHost(kind, number, operands) {
  const message = Buffer.alloc(37);
  message.write(kind, 0, "latin1");
  message.writeUInt32LE(number >>> 0, 1);
  operands.forEach((bits, n) => message.writeBigUInt64LE(BigInt.asUintN(64, bits), 5 + 8 * n));
  send(message);
  return BigInt.asIntN(64, receive(8).readBigUInt64LE());
}

const imports = {
  spirula: {
    apply: (number, ...operands) => askHost("a", number, operands),
    put_row: (at, bits) => { askHost("p", at, [bits]); },
    compute_row: (number) => { askHost("c", number, []); },
    take_row: (at) => askHost("t", at, []),
  },
};

const instances = new Map();

const requests = {
  L: (number, _, size) => {
    const module = new WebAssembly.Module(receive(size));
    instances.set(number, new WebAssembly.Instance(module, imports).exports);
    return number;
  },
  M: (number, pages) => {
    const { memory } = instances.get(number);
    const present = memory.buffer.byteLength >>> 16;
    if (pages > present) memory.grow(pages - present);
    return 0;
  },
  W: (number, at, size) => {
    const bytes = receive(size);
    new Uint8Array(instances.get(number).memory.buffer, at, size).set(bytes);
    return 0;
  },
  R: (number, at, size) => new Uint8Array(instances.get(number).memory.buffer, at, size),
  G: (number, isNew) => instances.get(number).run_group(isNew),
  D: (number) => { instances.delete(number); },
};

for (;;) {
  const head = receive(13);
  const kind = head.toString("latin1", 0, 1);
  let reply;
  try {
    reply = requests[kind](head.readUInt32LE(1), head.readUInt32LE(5), head.readUInt32LE(9));
  } catch (error) {
    const text = Buffer.from(error.message);
    const message = Buffer.alloc(5);
    message.write("e");
    message.writeUInt32LE(text.length, 1);
    send(Buffer.concat([message, text]));
    continue;
  }
  if (reply === undefined) continue;
  const message = Buffer.alloc(5);
  message.write("r");
  const isBytes = reply instanceof Uint8Array;
  message.writeUInt32LE(isBytes ? 0 : reply >>> 0, 1);
  send(message);
  if (isBytes) send(reply);
}
