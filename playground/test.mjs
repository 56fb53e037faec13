// Tests of the playground: the command in Node.js against the native one, and the page in Chromium.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Browser, serve } from "./browser.mjs";

const [folder, native] = process.argv.slice(2);
// As a module, whatever its name says to Node.js.
const { run } = await import(`data:text/javascript;base64,${readFileSync(join(folder, "wasi.js")).toString("base64")}`);
const module = new WebAssembly.Module(readFileSync(join(folder, "birk.wasm")));
const examples = readFileSync(join(folder, "examples.txt"), "utf8").trim().split("\n").map((line) => line.split("\t")[1]);
// Large enough to be stopped in the middle.
const LONG = readFileSync(join(folder, "examples/book/tour-counters.bir"), "utf8");
// Larger examples are checked in Node.js only.
const MOST = 5_000;

const command = (words, files, input = "") => {
  const out = [], err = [];
  const code = run(module, { arguments: words, files: new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)])), input: Buffer.from(input), out: (piece) => out.push(piece), err: (piece) => err.push(piece) });
  return { code, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() };
};

// A report without what differs between two runs of the same search.
const VARYING = new Set(["seconds", "memory_bytes", "states_per_second", "peak_memory_bytes", "store_bytes_per_state"]);
const comparable = (text) => JSON.parse(text, (key, value) => VARYING.has(key) ? undefined : value);

// The verdict that a model expects of itself, where it does so without other constants.
const expected = (text) => {
  const line = text.split("\n").find((line) => /^ {2}expect [a-z]/.test(line));
  return line && (/\bviolated\b/.test(line) ? "violated" : /\bholds\b/.test(line) ? "holds" : undefined);
};

const reports = new Map();
let compared = 0;
for (const path of examples) {
  const name = path.split("/").pop(), text = readFileSync(join(folder, path), "utf8");
  const words = ["check", name, "--format", "json", "--search", "bfs", "--threads", "1", "--memory", "1G", "--max-states", "200000"];
  const answer = command(words, { [name]: text });
  assert.ok([0, 1, 3].includes(answer.code), `${path}: ${answer.code} ${answer.err}`);
  const report = comparable(answer.out);
  reports.set(path, report);
  if (expected(text)) assert.equal(report.verdict, expected(text), path);
  if (!native) continue;
  let other;
  try {
    other = execFileSync(native, words, { cwd: dirname(join(folder, path)), encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 30 });
  } catch (error) {
    other = error.stdout;
  }
  assert.deepEqual(report, comparable(other), path);
  compared++;
}
console.log(`${examples.length} examples are answered as they expect${native ? `, and ${compared} reports are those of the native command` : ""}`);

const { address, close } = await serve(folder, "/some/path/");
const browser = await Browser.open();
const status = "return document.getElementById('status').textContent";
const click = (id) => browser.run("document.getElementById(arguments[0]).click()", id);
const write = (text) => browser.run("const field = document.getElementById('model'); field.value = arguments[0]; field.dispatchEvent(new Event('input'))", text);
const opened = async (fragment = "") => {
  await browser.go("about:blank");
  await browser.go(address + fragment);
  await browser.until("the page is ready", "return document.body.dataset.ready === 'yes'");
};
const verdict = () => browser.until("a verdict", "return document.getElementById('stop').disabled && document.querySelector('#status .verdict')?.textContent");
const test = async (what, act) => {
  try {
    await act();
    console.log(`passed: ${what}`);
  } catch (error) {
    console.log(`FAILED: ${what}\n${error.stack}`);
    process.exitCode = 1;
  }
};

await test("the page opens with a model, and says nothing bad", async () => {
  await opened();
  assert.match(await browser.run("return document.getElementById('model').value"), /system Peterson/);
  assert.equal(await browser.run("return document.getElementById('name').value"), "peterson2.bir");
  assert.deepEqual(await browser.errors(), []);
});
await test("every example that is small has its verdict", async () => {
  for (const path of examples.filter((path) => reports.get(path).stats.states <= MOST)) {
    await browser.run("const list = document.getElementById('examples'); list.value = arguments[0]; list.dispatchEvent(new Event('change'))", path);
    await browser.until(path, "return document.getElementById('name').value === arguments[0] && !document.getElementById('panel-start').hidden", path.split("/").pop());
    await click("check");
    const report = reports.get(path);
    assert.equal(await verdict(), report.verdict, path);
    const shown = await browser.run("return Array.from(document.querySelectorAll('#properties li b'), (one) => one.textContent)");
    assert.deepEqual(shown, report.properties.map((one) => one.verdict), path);
    assert.ok((await browser.run(status)).includes(`${report.stats.states.toLocaleString("en")} states`), path);
  }
  assert.deepEqual(await browser.errors(), []);
});
await test("the report has the trace and its chart", async () => {
  await opened("#e=examples/models/broken_mutex.bir");
  await click("check");
  assert.equal(await verdict(), "violated");
  await browser.frame("report");
  await browser.until("the report", "return document.querySelector('.verdict')?.textContent === 'violated' && document.querySelectorAll('svg').length > 0");
  await browser.frame(null);
});
await test("a broken model shows its diagnostic, and the fix is applied", async () => {
  await opened("#e=examples/models/peterson2.bir");
  const text = await browser.run("return document.getElementById('model').value");
  await write(text.replace("boolean[2] wants", "boolen[2] wants"));
  await browser.until("a diagnostic", "return document.querySelector('#diagnostics li .place')?.textContent === '6:3'");
  await browser.until("its mark", "return document.querySelector('#back .marks .error')?.textContent === 'boolen'");
  await click("check");
  await browser.until("the error is told", "return /error/.test(document.getElementById('status').textContent)");
  await browser.run("document.querySelector('#diagnostics .fix').click()");
  await browser.until("no diagnostic", "return !document.querySelector('#diagnostics li')");
  assert.equal(await browser.run("return document.getElementById('model').value"), text);
});
await test("simulation begins in any initial state", async () => {
  await opened("#e=examples/models/exchange_sort.bir");
  await click("simulate");
  await browser.until("a list", "return document.querySelectorAll('#panel-simulate .initial option').length === 50");
  assert.equal(await browser.run("return document.querySelectorAll('#panel-simulate .step').length"), 0, "all are equal, and in order");
  await browser.run("const list = document.querySelector('#panel-simulate .initial'); list.value = '3'; list.dispatchEvent(new Event('change'))");
  await browser.until("a step", "return document.querySelectorAll('#panel-simulate .step').length === 1");
});
await test("simulation takes steps, marks what changed, says why not, and goes back", async () => {
  await opened("#e=examples/models/peterson2.bir");
  await click("simulate");
  await browser.until("two steps", "return document.querySelectorAll('#panel-simulate .step').length === 2");
  const trail = (length) => browser.until(`a trail of ${length}`, "return document.querySelectorAll('#panel-simulate .trail li').length === arguments[0]", length);
  const step = (thread) => browser.run("Array.from(document.querySelectorAll('#panel-simulate .step')).find((one) => one.textContent.startsWith(arguments[0])).click()", thread);
  await step("Process[0]");
  await trail(2);
  assert.deepEqual(await browser.run("return Array.from(document.querySelectorAll('#panel-simulate .changed td:first-child'), (one) => one.textContent)"), ["wants[0]", "Process[0]@"]);
  for (const [index, thread] of ["Process[0]", "Process[1]", "Process[1]"].entries()) {
    await step(thread);
    await trail(index + 3);
  }
  await browser.run("document.querySelector('#panel-simulate details').open = true");
  await browser.until("a reason", "return /false/.test(document.querySelector('#panel-simulate details pre').textContent)");
  await browser.run("document.querySelector('#panel-simulate .back').click()");
  await trail(4);
  await browser.run("document.querySelector('#panel-simulate .trail button').click()");
  await trail(1);
});
await test("the explorer unfolds states", async () => {
  await opened("#e=examples/models/peterson2.bir");
  await click("explore");
  await browser.until("the frame", "return document.getElementById('explorer').srcdoc.length > 0");
  await browser.frame("explorer");
  await browser.until("the start", "return document.getElementById('system')?.textContent === 'Peterson' && document.querySelectorAll('#graph svg g').length > 0");
  for (let i = 0; i < 6; i++) {
    const before = await browser.run("return document.getElementById('count').textContent");
    await browser.run("document.getElementById('level').click()");
    await browser.until("a level more", "return document.getElementById('count').textContent !== arguments[0]", before);
  }
  assert.match(await browser.run("return document.getElementById('count').textContent"), /\b20\b/);
  await browser.frame(null);
});
await test("all states and the threads are drawn", async () => {
  await opened("#e=examples/models/peterson2.bir");
  await click("graph");
  await browser.until("a picture", "return document.querySelector('#picture img')?.naturalWidth > 100");
  await browser.run("const drawn = document.getElementById('drawn'); drawn.value = 'threads'; drawn.dispatchEvent(new Event('change'))");
  await browser.until("another", "return document.getElementById('stop').disabled && document.querySelector('#picture img')?.naturalWidth > 100");
  assert.deepEqual(await browser.errors(), []);
});
await test("a link carries the model, its name and its options", async () => {
  await opened();
  const text = "// é → ∀\nsystem Small {\n  const N = 1;\n  int (0, 9) x;\n  active thread T() {\n    loc l:\n      when x < N do { x := x + 1; } goto l;\n  }\n  invariant small: x < 3;\n}\n";
  await write(text);
  await browser.run("document.getElementById('name').value = 'small.bir'; document.getElementById('options').value = '-D N=5'");
  await click("link");
  const fragment = await browser.until("a fragment", "return location.hash.startsWith('#m=') && location.hash");
  await opened(fragment);
  assert.deepEqual(await browser.run("return ['model', 'name', 'options'].map((id) => document.getElementById(id).value)"), [text, "small.bir", "-D N=5"]);
  await click("check");
  assert.equal(await verdict(), "violated");
  await opened(`#t=${Buffer.from(text).toString("base64url")}`);
  assert.equal(await browser.run("return document.getElementById('model').value"), text);
  await opened("#m=nonsense");
  assert.match(await browser.run(status), /carries no model/);
});
await test("progress is told, Stop ends the search at once, and the next one works", async () => {
  await opened();
  await write(LONG);
  await click("check");
  const seen = [];
  for (let end = Date.now() + 3000; Date.now() < end; ) {
    const said = await browser.run(status);
    if (/states, depth/.test(said) && said !== seen.at(-1)) seen.push(said);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.ok(seen.length >= 8, `${seen.length} different lines in 3 s`);
  const began = Date.now();
  await click("stop");
  assert.equal(await verdict(), "inconclusive");
  assert.ok(Date.now() - began < 1000);
  assert.match(await browser.run(status), /stopped after [\d,]+ states/);
  await click("check");
  await browser.until("it runs again", "return /states, depth/.test(document.getElementById('status').textContent) && !document.getElementById('stop').disabled");
  await click("stop");
  await verdict();
});
await test("a limit ends a search, and the answer says so", async () => {
  await browser.run("document.getElementById('options').value = '--max-states 20000'");
  await click("check");
  assert.equal(await verdict(), "inconclusive");
  assert.match(await browser.run(status), /complete to depth|partial/);
  assert.ok(!await browser.run("return Array.from(document.querySelectorAll('#properties b')).some((one) => one.textContent === 'holds' && /partial|depth/.test(one.parentNode.textContent))"));
});
await browser.close();

for (const [name, shape] of Object.entries({ light: {}, dark: { dark: true }, narrow: { width: 390, height: 844 } })) {
  const window = await Browser.open(shape);
  const shoot = async (what) => writeFileSync(`${folder}-${name}-${what}.png`, await window.picture());
  await window.go(`${address}#e=examples/models/broken_mutex.bir`);
  await window.until("ready", "return document.body.dataset.ready === 'yes'");
  await window.run("document.getElementById('check').click()");
  await window.until("a verdict", "return document.querySelector('#status .verdict')");
  await new Promise((resolve) => setTimeout(resolve, 600));
  await shoot("check");
  const wide = await window.run("return document.documentElement.scrollWidth");
  await test(`${name}: nothing is wider than the window`, async () => assert.ok(wide <= (shape.width ?? 1280), `${wide} pixels`));
  for (const id of ["simulate", "explore", "graph"]) {
    await window.run("document.getElementById(arguments[0]).click()", id);
    await window.until(id, "return !document.getElementById(`panel-${arguments[0]}`).hidden && document.getElementById('stop').disabled", id);
    await new Promise((resolve) => setTimeout(resolve, 800));
    if (name === "narrow") await window.run("document.getElementById('right').scrollIntoView()");
    await shoot(id);
  }
  await window.close();
}
close();
console.log(process.exitCode ? "some tests FAILED" : "all tests passed");
