// Runs the command `birk` as WebAssembly: arguments and files go in, what it prints and writes comes out. This is the part of the
// WASI preview 1 interface that the command needs; it knows no page and no browser, and runs in Node.js, too.

const OK = 0, BADF = 8, EXIST = 20, INVAL = 28, NOENT = 44, NOSYS = 52;
const FOLDER = 3, FILE = 4;
const CREATE = 1, ONLY_FOLDER = 2, EXCLUSIVE = 4, TRUNCATE = 8;

class Exit {
  constructor(code) { this.code = code; }
}

// `arguments`: the words of the command line, without the name of the command. `files`: a Map from names to bytes; what is written
// is put into it. `input`: the bytes of standard input. `out` and `err` are called with every piece that is printed, at once.
// Returns the exit code; a panic of the command, or memory that cannot be had, is an exception.
export function run(module, { arguments: words, files = new Map(), input = new Uint8Array(), out, err }) {
  const encoder = new TextEncoder(), decoder = new TextDecoder();
  let memory = null;
  const bytes = (at, length) => new Uint8Array(memory.buffer, at, length);
  const view = () => new DataView(memory.buffer);
  const u32 = (at, value) => view().setUint32(at, value, true);
  const u64 = (at, value) => view().setBigUint64(at, BigInt(value), true);
  const pathOf = (at, length) => decoder.decode(bytes(at, length).slice()).replace(/^(\.?\/)+/, "") || ".";
  const isFolder = (path) => path === ".";

  // Open files by number: 0 to 2 are the standard streams, 3 is the folder.
  const open = new Map([[0, { path: null, content: input, at: 0 }], [1, { sink: out }], [2, { sink: err }], [3, { path: "." }]]);
  let next = 4;

  const strings = (list) => {
    const encoded = list.map((word) => encoder.encode(word + "\0"));
    return {
      sizes: (count, size) => { u32(count, encoded.length); u32(size, encoded.reduce((sum, one) => sum + one.length, 0)); return OK; },
      get: (table, at) => {
        for (const one of encoded) {
          u32(table, at);
          bytes(at, one.length).set(one);
          table += 4;
          at += one.length;
        }
        return OK;
      },
    };
  };
  const given = strings(["birk", ...words]), environment = strings([]);

  const pieces = function* (table, count) {
    for (let i = 0; i < count; i++) yield bytes(view().getUint32(table + 8 * i, true), view().getUint32(table + 8 * i + 4, true));
  };
  const contentOf = (file) => file.content ?? files.get(file.path) ?? new Uint8Array();
  const write = (file, piece) => {
    if (file.sink) return file.sink(piece.slice());
    const old = contentOf(file), end = file.at + piece.length;
    const longer = end > old.length ? new Uint8Array(end) : old;
    if (longer !== old) longer.set(old);
    longer.set(piece, file.at);
    file.at = end;
    files.set(file.path, longer);
  };
  const stat = (at, kind, size) => {
    bytes(at, 64).fill(0);
    view().setUint8(at + 16, kind);
    u64(at + 24, 1);
    u64(at + 32, size);
    return OK;
  };

  const functions = {
    args_sizes_get: given.sizes,
    args_get: given.get,
    environ_sizes_get: environment.sizes,
    environ_get: environment.get,
    clock_res_get: (_, at) => { u64(at, 1000); return OK; },
    clock_time_get: (clock, _, at) => {
      u64(at, Math.round((clock === 0 ? Date.now() : performance.now()) * 1e6));
      return OK;
    },
    random_get: (at, length) => { crypto.getRandomValues(bytes(at, length)); return OK; },
    proc_exit: (code) => { throw new Exit(code); },
    sched_yield: () => OK,
    fd_write: (number, table, count, written) => {
      const file = open.get(number);
      if (!file) return BADF;
      let sum = 0;
      for (const piece of pieces(table, count)) {
        if (piece.length > 0) write(file, piece);
        sum += piece.length;
      }
      u32(written, sum);
      return OK;
    },
    fd_read: (number, table, count, read) => {
      const file = open.get(number);
      if (!file || file.sink) return BADF;
      const content = contentOf(file);
      let sum = 0;
      for (const piece of pieces(table, count)) {
        const part = content.subarray(file.at, file.at + piece.length);
        piece.set(part);
        file.at += part.length;
        sum += part.length;
      }
      u32(read, sum);
      return OK;
    },
    fd_seek: (number, offset, whence, at) => {
      const file = open.get(number);
      if (!file?.path) return BADF;
      file.at = Number(offset) + [0, file.at, contentOf(file).length][whence];
      u64(at, file.at);
      return OK;
    },
    fd_close: (number) => open.delete(number) ? OK : BADF,
    fd_sync: () => OK,
    fd_datasync: () => OK,
    fd_fdstat_set_flags: () => OK,
    fd_fdstat_get: (number, at) => {
      const file = open.get(number);
      if (!file) return BADF;
      bytes(at, 24).fill(0);
      view().setUint8(at, file.path && isFolder(file.path) ? FOLDER : FILE);
      u64(at + 8, 0xffff_ffffn);
      u64(at + 16, 0xffff_ffffn);
      return OK;
    },
    fd_filestat_get: (number, at) => {
      const file = open.get(number);
      if (!file) return BADF;
      return file.path && isFolder(file.path) ? stat(at, FOLDER, 0) : stat(at, FILE, file.sink ? 0 : contentOf(file).length);
    },
    fd_prestat_get: (number, at) => {
      if (number !== 3) return BADF;
      u32(at, 0);
      u32(at + 4, 1);
      return OK;
    },
    fd_prestat_dir_name: (number, at) => { bytes(at, 1).set(encoder.encode("/")); return number === 3 ? OK : BADF; },
    path_filestat_get: (_, __, from, length, at) => {
      const path = pathOf(from, length);
      if (isFolder(path)) return stat(at, FOLDER, 0);
      return files.has(path) ? stat(at, FILE, files.get(path).length) : NOENT;
    },
    path_open: (_, __, from, length, how, ___, ____, _____, at) => {
      const path = pathOf(from, length);
      if (!isFolder(path)) {
        if (how & ONLY_FOLDER) return NOENT;
        if (files.has(path) && how & EXCLUSIVE) return EXIST;
        if (!files.has(path) && !(how & CREATE)) return NOENT;
        if (!files.has(path) || how & TRUNCATE) files.set(path, new Uint8Array());
      }
      open.set(next, { path, at: 0 });
      u32(at, next++);
      return OK;
    },
    path_readlink: (_, from, length) => files.has(pathOf(from, length)) ? INVAL : NOENT,
    path_unlink_file: (_, from, length) => files.delete(pathOf(from, length)) ? OK : NOENT,
    path_rename: (_, from, length, __, to, toLength) => {
      const path = pathOf(from, length);
      if (!files.has(path)) return NOENT;
      files.set(pathOf(to, toLength), files.get(path));
      files.delete(path);
      return OK;
    },
  };
  // What the command could ask for besides is something that a browser does not have.
  const absent = Object.fromEntries(WebAssembly.Module.imports(module).map(({ name }) => [name, () => NOSYS]));
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: { ...absent, ...functions } });
  memory = instance.exports.memory;
  try {
    instance.exports._start();
    return 0;
  } catch (end) {
    if (end instanceof Exit) return end.code;
    throw end;
  }
}
