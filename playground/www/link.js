// A model in the fragment of an address: nothing of it is sent to the server.

const toBase64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const fromBase64 = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
// No model that anybody reads is longer, and no link may fill the memory.
const MOST = 4 << 20;

// `#m=` is compressed, `#t=` is not; `n` is the file's name, `o` the options.
export async function fragmentOf({ text, name, options }) {
  const bytes = new TextEncoder().encode(text);
  const parts = new URLSearchParams([await packed(bytes), ["n", name]]);
  if (options) parts.set("o", options);
  return `#${parts}`;
}

async function packed(bytes) {
  try {
    return ["m", toBase64(await through(bytes, new CompressionStream("deflate-raw")))];
  } catch {
    // A browser that cannot.
    return ["t", toBase64(bytes)];
  }
}

// What a fragment carries; null if it is no model.
export async function modelOf(fragment) {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  const short = parts.get("m"), plain = parts.get("t");
  if (short === null && plain === null) return null;
  const bytes = short === null ? fromBase64(plain) : await unpacked(fromBase64(short));
  return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), name: parts.get("n") ?? "model.bir", options: parts.get("o") ?? "" };
}

async function unpacked(bytes) {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const pieces = [];
  for (let length = 0; ;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > MOST) throw new Error("the model in this link is too long");
    pieces.push(value);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}
