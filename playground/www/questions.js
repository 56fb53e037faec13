// The questions of `birk explore --stdio`. The command keeps nothing between two runs: each run is asked again what its numbers of states
// depend on, and then what is new. Questions that come together are asked together.

// These name states.
const NAMING = new Set(["expand", "open", "search"]);

export class Questions {
  #asked = [];
  #known = new Set();
  #waiting = [];
  #runs = false;

  // `run` takes lines of standard input and gives what the command answered; `isAnswered` says whether that is an answer.
  constructor(run, isAnswered) {
    Object.assign(this, { run, isAnswered });
  }

  // The answer; null where there is none at all.
  ask(question) {
    return new Promise((resolve) => {
      this.#waiting.push({ line: JSON.stringify(question), what: question.what, resolve });
      if (!this.#runs) this.#go();
    });
  }

  async #go() {
    this.#runs = true;
    while (this.#waiting.length > 0) {
      const now = this.#waiting.splice(0);
      const before = this.#asked.length;
      const answer = await this.run([...this.#asked, ...now.map((one) => one.line)].map((line) => line + "\n").join(""));
      const lines = this.isAnswered(answer) ? answer.out.split("\n").slice(before) : null;
      now.forEach((one, index) => one.resolve(lines && JSON.parse(lines[index])));
      for (const { line, what } of lines ? now : []) {
        if (!NAMING.has(what) || this.#known.has(line)) continue;
        this.#known.add(line);
        this.#asked.push(line);
      }
    }
    this.#runs = false;
  }
}

// The explorer's page for a frame of its own: where it would ask its server, it asks the page around it.
export function explorerPage(page) {
  const asking = `<script>
{
  const waiting = new Map();
  let next = 0;
  window.addEventListener("message", ({ data }) => { waiting.get(data.id)?.(data.answer); waiting.delete(data.id); });
  window.fetch = async (address, { body } = {}) => {
    const [path, query] = address.split("?"), id = next++;
    const question = { ...Object.fromEntries(new URLSearchParams(query)), what: path.slice("/api/".length) };
    if (body) question.body = JSON.parse(body);
    const answer = await new Promise((resolve) => { waiting.set(id, resolve); parent.postMessage({ id, question }, "*"); });
    return { ok: answer.error === undefined, json: async () => answer };
  };
  history.replaceState = () => {};
}
</script>
<style>#copy, #address { display: none; }</style>`;
  return page.replace("<head>", () => `<head>${asking}`);
}
