// The command, run in workers: each is a promise of what the command has answered.

// The module is fetched and compiled once, however many workers there are.
const compiled = (async () => {
  const address = new URL("birk.wasm", import.meta.url);
  try {
    return await WebAssembly.compileStreaming(fetch(address));
  } catch {
    // A server that does not say what the file is.
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`birk.wasm cannot be fetched: ${answer.status}`);
    return WebAssembly.compile(await answer.arrayBuffer());
  }
})();

export const ready = compiled.then(() => true);

// A line of runs, one after the other.
export class Line {
  #worker = null;
  #waiting = new Map();
  #next = 0;

  async #start() {
    const module = await compiled;
    if (this.#worker) return;
    this.#worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.#worker.postMessage({ module });
    this.#worker.onmessage = ({ data }) => {
      const waiting = this.#waiting.get(data.id);
      if (data.progress) return waiting?.progress?.(data.progress);
      this.#waiting.delete(data.id);
      waiting?.resolve(data);
    };
    this.#worker.onerror = (event) => this.#end({ code: null, failure: event.message || "the worker cannot be started" });
  }

  // `question`: {arguments, files, input, wanted}; `progress` is called while it runs.
  async run(question, progress = null) {
    await this.#start();
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#waiting.set(id, { resolve, progress });
      this.#worker.postMessage({ id, ...question });
    });
  }

  // Ends what runs, in the middle of whatever it computes.
  stop() {
    this.#end({ code: null, stopped: true });
  }

  #end(answer) {
    this.#worker?.terminate();
    this.#worker = null;
    for (const { resolve } of this.#waiting.values()) resolve({ out: "", said: [], written: {}, ...answer });
    this.#waiting.clear();
  }
}
