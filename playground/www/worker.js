// One run of the command at a time, away from the page: {arguments, files, input} comes in, progress and the answer go out.
import { run } from "./wasi.js";

let module = null;
const encoder = new TextEncoder();

// Text that arrives in pieces, told line by line.
const lines = (tell) => {
  const decoder = new TextDecoder();
  let rest = "";
  return (piece) => {
    const parts = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = parts.pop();
    parts.forEach(tell);
  };
};

self.onmessage = ({ data }) => {
  if (data.module) {
    module = data.module;
    return;
  }
  const { id, arguments: words, input = "", wanted = [] } = data;
  const files = new Map(Object.entries(data.files).map(([name, text]) => [name, encoder.encode(text)]));
  const decoder = new TextDecoder(), pieces = [], said = [];
  const began = performance.now();
  const hear = lines((line) => {
    if (!line.startsWith('{"seconds":')) return said.push(line);
    self.postMessage({ id, progress: JSON.parse(line) });
  });
  let code = null, failure = null;
  try {
    code = run(module, { arguments: words, files, input: encoder.encode(input), out: (piece) => pieces.push(piece), err: hear });
  } catch (error) {
    failure = String(error);
  }
  const out = pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
  const written = Object.fromEntries(wanted.filter((name) => files.has(name)).map((name) => [name, decoder.decode(files.get(name))]));
  self.postMessage({ id, code, failure, out, said, written, seconds: (performance.now() - began) / 1000 });
};
