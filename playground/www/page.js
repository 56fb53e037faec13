// The page: what is written, what is asked, and what is shown of the answers. The command does everything else.
import { Line, ready } from "./command.js";
import { Editor, indexOf } from "./editor.js";
import { fragmentOf, modelOf } from "./link.js";
import { Questions, explorerPage } from "./questions.js";
import { Walk } from "./walk.js";

const by = (id) => document.getElementById(id);
const editor = new Editor(by("model"), by("back"), by("gutter"));
const checks = new Line(), reads = new Line();
const MEMORY = "1G";
const GRADES = { A: "complete", B: "complete to a depth", C: "hashed", D: "partial", E: "not checked" };

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element[name] = value;
  element.append(...children);
  return element;
};
const number = (value) => Math.round(value).toLocaleString("en");
const say = (...parts) => by("status").replaceChildren(...parts);

// The words of the options, as a shell would part them.
const words = () => Array.from(by("options").value.matchAll(/(?:"([^"]*)"|'([^']*)'|(\S+))/g), (match) => match[1] ?? match[2] ?? match[3]);
// Those that say which model it is, for commands that do not search.
const defines = () => words().flatMap((word, at, all) =>
  word === "-D" || word === "--define" ? all.slice(at, at + 2) : /^(-D.|--define=)/.test(word) ? [word] : []);
const name = () => by("name").value.trim() || "model.bir";
const model = () => ({ files: { [name()]: editor.text } });

const show = (panel) => {
  by("panels").classList.remove("stale");
  for (const element of by("panels").children) element.hidden = element.id !== `panel-${panel}`;
  for (const id of ["check", "simulate", "explore", "graph"]) by(id).setAttribute("aria-pressed", String(id === panel || id === "check" && panel === "report"));
};
const print = (text) => { by("printed").textContent = text; show("text"); };

// What the command said on standard error: diagnostics and other lines.
const parted = (said) => {
  const found = [], lines = [];
  for (const line of said) {
    if (line.startsWith("{")) found.push(JSON.parse(line));
    else if (line.trim()) lines.push(line);
  }
  return { found, lines };
};

const mark = (found) => {
  const text = editor.text, own = found.filter((one) => one.place.file === name());
  const place = ({ start, end }) => ({ start: indexOf(text, start), end: indexOf(text, end) });
  editor.mark(own.map((one) => ({ ...place(one.place), severity: one.severity })));
  by("diagnostics").replaceChildren(...found.map((one) => {
    const { line, column, file } = one.place, where = place(one.place);
    const item = make("li", { className: one.severity },
      make("button", { type: "button", className: "place", onclick: () => editor.go(where.start, where.end) }, file === name() ? `${line}:${column}` : `${file}:${line}:${column}`),
      ` ${one.severity} ${one.code}: ${one.message}`, ...one.label && one.label !== one.message ? [make("span", { className: "soft" }, ` (${one.label})`)] : []);
    if (one.help) item.append(make("div", { className: "soft" }, `help: ${one.help}`));
    if (one.fix && one.fix.place.file === name()) {
      const fix = place(one.fix.place);
      item.append(" ", make("button", { type: "button", className: "fix", onclick: () => editor.replace(fix.start, fix.end, one.fix.replacement) }, one.fix.sure ? "Fix" : "Try this fix"));
    }
    return item;
  }));
};

// Reads the model while it is written, without a search.
let delay = null, latest = 0;
const read = async () => {
  const asked = ++latest;
  const answer = await reads.run({ arguments: ["show", name(), ...defines(), "--diagnostics", "json"], ...model() });
  if (asked === latest && !answer.stopped) mark(parted(answer.said).found);
};
const changed = () => {
  clearTimeout(delay);
  delay = setTimeout(read, 300);
  if (running) return;
  by("properties").hidden = true;
  // An answer stays, but not as one about this text.
  const isAnswer = by("panel-start").hidden;
  by("panels").classList.toggle("stale", isAnswer);
  say(isAnswer ? "the model has changed since" : "");
};

// One answer at a time: what is asked next ends what is asked now.
let running = null;
const busy = async (what, act) => {
  if (running) checks.stop();
  const own = running = {};
  by("stop").disabled = false;
  by("properties").hidden = true;
  say(what);
  try {
    await act(() => running === own);
  } catch (error) {
    if (running === own) say(String(error.message ?? error));
  }
  if (running === own) {
    running = null;
    by("stop").disabled = true;
  }
};

// Says why there is no answer; whether there is one.
const isAnswered = ({ code, failure, stopped, said, out }, usual) => {
  const { found, lines } = parted(said);
  if (stopped) return false;
  if (!failure) mark(found);
  if (failure) {
    const isFull = /memory|allocation/i.test(failure + lines.join(" "));
    say(make("span", { className: "verdict inconclusive" }, "no answer"), isFull ? "the browser has no more memory for it" : "this is a bug in Birk; please report it");
    print([...lines, failure].join("\n"));
    return false;
  }
  if (usual.includes(code)) return true;
  const errors = found.filter((one) => one.severity === "error").length;
  say(errors ? `the model has ${errors === 1 ? "an error" : `${errors} errors`}` : "it was not answered");
  if (errors === 0) print([...lines, out].join("\n"));
  return false;
};

const check = () => busy("checking…", async (isOurs) => {
  const own = words(), began = performance.now();
  const has = (option) => own.some((word) => word === option || word.startsWith(`${option}=`));
  const limit = has("--memory") ? [] : ["--memory", MEMORY];
  const question = { arguments: ["check", name(), ...limit, ...own, "--format", "json", "--diagnostics", "json", "--progress", "json", "--report", "report.html"], wanted: ["report.html"], ...model() };
  let last = null;
  const answer = await checks.run(question, (progress) => {
    last = progress;
    if (isOurs()) say(`${progress.phase ? `${progress.phase}: ` : ""}${number(progress.states)} states, depth ${progress.depth}, frontier ${number(progress.frontier)}, ${number(progress.states_per_second)} states/s, ${progress.seconds.toFixed(1)} s`);
  });
  if (answer.stopped && isOurs()) {
    const seen = last ? ` after ${number(last.states)} states, depth ${last.depth}` : "";
    say(make("span", { className: "verdict inconclusive" }, "inconclusive"), `stopped${seen}, ${((performance.now() - began) / 1000).toFixed(1)} s: nothing is known of the rest`);
  }
  if (!isOurs() || !isAnswered(answer, [0, 1, 3])) return;
  present(JSON.parse(answer.out), answer);
});

const coverage = (grade, report) => grade === "B" && report.coverage.depth !== undefined ? `complete to depth ${report.coverage.depth}` : GRADES[grade];

const present = (report, { written, said }) => {
  const { stats } = report;
  const notes = parted(said).lines.map((line) => make("div", { className: "soft" }, line.replace(/^birk: /, "")));
  say(make("span", { className: `verdict ${report.verdict}` }, report.verdict),
    `${number(stats.states)} states, depth ${stats.max_depth}, ${stats.seconds.toFixed(2)} s; ${coverage(report.coverage.grade, report)}`, ...notes);
  by("properties").replaceChildren(...report.properties.map((one) => {
    const length = one.trace === null || one.trace === undefined ? null : report.traces[one.trace].length;
    const steps = length === null ? "" : ` in ${length} step${length === 1 ? "" : "s"}`;
    return make("li", {}, make("b", { className: one.verdict }, one.verdict), ` ${one.name}`, make("span", { className: "soft" }, steps || ` ${coverage(one.grade, report)}`));
  }));
  by("properties").hidden = report.properties.length === 0;
  by("report").srcdoc = written["report.html"];
  show("report");
};

// What is asked of the explorer is asked of the model as it is now, also when it changes later.
const questions = () => {
  const question = { arguments: ["explore", name(), ...defines(), "--stdio", "--diagnostics", "json"], ...model() };
  return new Questions((input) => checks.run({ ...question, input }), (answer) => isAnswered(answer, [0]));
};

const simulate = () => busy("reading…", async (isOurs) => {
  const walk = await Walk.begin(questions(), by("panel-simulate"));
  if (!walk || !isOurs()) return;
  say("choose a step; a step of the trail goes back to it");
  show("simulate");
});

let asked = null;
const explore = () => busy("reading…", async (isOurs) => {
  const next = questions(), page = await next.ask({ what: "page" });
  if (!page || !isOurs()) return;
  asked = next;
  by("explorer").srcdoc = explorerPage(page.page);
  say("click a state to unfold its steps");
  show("explore");
});
window.addEventListener("message", async ({ source, data }) => {
  if (source !== by("explorer").contentWindow || !asked) return;
  const answer = await asked.ask(data.question);
  source.postMessage({ id: data.id, answer: answer ?? { error: by("status").textContent } }, "*");
});

const graph = () => busy("drawing…", async (isOurs) => {
  const threads = by("drawn").value === "threads" ? ["--threads"] : ["--max-states", "400"];
  const answer = await checks.run({ arguments: ["graph", name(), ...defines(), ...threads, "--format", "svg", "--diagnostics", "json"], ...model() });
  if (!isOurs() || !isAnswered(answer, [0])) return;
  // A picture has no scripts, and as an image it could not have any.
  by("picture").replaceChildren(make("img", { alt: "picture", src: URL.createObjectURL(new Blob([answer.out], { type: "image/svg+xml" })) }));
  say(parted(answer.said).lines.map((line) => line.replace(/^birk: /, "")).join(" "));
  show("graph");
});

const open = ({ text, name: file = "model.bir", options = "" }) => {
  by("name").value = file;
  by("options").value = options;
  editor.text = text;
  by("properties").hidden = true;
  show("start");
  say("");
};

const examples = async () => {
  const answer = await fetch(new URL("examples.txt", import.meta.url));
  const groups = new Map();
  for (const line of (answer.ok ? await answer.text() : "").split("\n").filter(Boolean)) {
    const [group, path, title] = line.split("\t");
    if (!groups.has(group)) groups.set(group, make("optgroup", { label: group }));
    groups.get(group).append(make("option", { value: path, title }, path.split("/").pop()));
  }
  by("examples").append(...groups.values());
};
const openExample = async (path) => {
  const answer = await fetch(new URL(path, import.meta.url));
  if (!answer.ok) return say(`${path} cannot be fetched: ${answer.status}`);
  open({ text: await answer.text(), name: path.split("/").pop() });
  history.replaceState(null, "", `${location.pathname}${location.search}#e=${path}`);
};
// What the fragment of the address asks for: a model, an example, or nothing.
const openAddress = async () => {
  try {
    const example = new URLSearchParams(location.hash.slice(1)).get("e");
    if (example && /^examples\/[\w./-]+$/.test(example) && !example.includes("..")) {
      await openExample(example);
      return true;
    }
    const carried = await modelOf(location.hash);
    if (carried) open(carried);
    return carried !== null;
  } catch (error) {
    say(`this link carries no model: ${error.message}`);
  }
  return true;
};

by("check").onclick = check;
by("simulate").onclick = simulate;
by("explore").onclick = explore;
by("graph").onclick = graph;
by("drawn").onchange = graph;
by("fits").onchange = () => by("picture").classList.toggle("fits", by("fits").checked);
by("stop").onclick = () => checks.stop();
by("examples").onchange = () => { if (by("examples").value) openExample(by("examples").value); };
by("link").onclick = async () => {
  const fragment = await fragmentOf({ text: editor.text, name: name(), options: by("options").value.trim() });
  history.replaceState(null, "", location.pathname + location.search + fragment);
  try {
    await navigator.clipboard.writeText(location.href);
    say(`copied: ${number(location.href.length)} letters`);
  } catch {
    say("the address of this page carries the model now: copy it from the address bar");
  }
};
document.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) check(); });
window.addEventListener("hashchange", openAddress);
editor.onChange(changed);
by("options").addEventListener("input", changed);
by("name").addEventListener("input", changed);

const FIRST = "examples/models/peterson2.bir";
const began = examples().catch(() => {});
if (!await openAddress()) await openExample(FIRST);
await began;
by("examples").value = new URLSearchParams(location.hash.slice(1)).get("e") ?? "";
try {
  await ready;
  if (by("status").textContent === "loading…") say("");
  document.body.dataset.ready = "yes";
} catch (error) {
  say(`Birk cannot be loaded: ${error.message}`);
}
