// The state of the page in the fragment of its address, compressed.

const toBase64 = (bytes) => {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

const fromBase64 = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

const pipe = async (bytes, stream) =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

/** Most bytes of a state that is read from an address. */
const LARGEST = 32 << 20;

/** The fragment of a state. */
export async function writeFragment(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  return "#1" + toBase64(await pipe(bytes, new CompressionStream("deflate-raw")));
}

/** The state of a fragment; null where there is none, or it is damaged. */
export async function readFragment(fragment) {
  if (!fragment.startsWith("#1")) return null;
  try {
    const stream = new Blob([fromBase64(fragment.slice(2))]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const parts = [];
    let size = 0;
    for await (const part of stream) {
      size += part.length;
      if (size > LARGEST) return null;
      parts.push(part);
    }
    return JSON.parse(await new Blob(parts).text());
  } catch {
    return null;
  }
}
