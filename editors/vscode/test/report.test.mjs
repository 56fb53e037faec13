// Reports to rows, places and sentences.
import assert from "node:assert/strict";
import { test } from "node:test";
import { languageOf, load, reportOf, run, textOf } from "./models.mjs";

const { parseReport, reportLines, rowsOf, besideLine, valueAt, show, verdictOf, tracesOf, counted } = await load("report");
const { Source } = await load("source");
const { viewOf } = await load("view");
const { parseChart } = await load("chart");
const { progressOf, modelOptions } = await load("check");
const { notStarted, run: start } = await load("birk");

const check = (model, ...options) => parseReport(reportOf(model, ...options));
const viewed = (model, ...options) => {
  const source = new Source(textOf(model), languageOf(model));
  const report = check(model, ...options);
  return { source, report, ...viewOf(report, 0, source) };
};
const brief = ({ thread, statement, changes }) => [thread, statement, ...changes.map(({ name, before, after }) => `${name}: ${before} → ${after}`)];

test("a deadlock in BIR: rows, places, text beside the line", () => {
  const { view, places, report } = viewed("philosophers2.bir");
  assert.deepEqual(view.rows.map(brief), [
    ["Philosopher1", "when !fork1 do { fork1 := true; } goto loc1;", "fork1: false → true"],
    ["Philosopher2", "when !fork2 do { fork2 := true; } goto loc1;", "fork2: false → true"],
  ]);
  assert.equal(places[0].line, 10, "line 11, from 0");
  assert.equal(view.step, 2, "it opens at its end");
  assert.equal(besideLine(view.rows[1]), "2. Philosopher2: fork2: false → true");
  assert.match(view.why.join("\n"), /Philosopher1 at loc1 waits for `!fork2`/);
  assert.deepEqual(view.traces, ["deadlock violated (2 steps)"]);
  assert.equal(verdictOf(report, report.properties[0]), "`deadlock` is violated in 2 steps");
});

test("a violated invariant in BIR: the property has a place", () => {
  const { source, report, view } = viewed("traffic_light_broken.bir");
  const [deadlock, , safe] = report.properties;
  assert.match(source.text(source.region(safe.source)), /^invariant safe: .*;$/);
  assert.equal(safe.source.file, report.model);
  assert.equal(deadlock.source, null);
  assert.equal(view.rows.length, 6);
  assert.deepEqual(brief(view.rows[5]).slice(2), ["light[0]: red_amber → green"]);
  assert.deepEqual(report.properties.map(({ name, verdict }) => [name, verdict]), [
    ["deadlock", "inconclusive"],
    ["fault", "holds"],
    ["safe", "violated"],
  ]);
});

test("a runtime error has no location behind it", () => {
  const { view, report, source } = viewed("broken_mutex.bir");
  assert.match(view.rows.at(-1).move, /→ fault$/);
  assert.ok(source.statement(report.traces[0].fault.source));
});

test("a lasso of an LTL property opens at its cycle, witnesses come behind", () => {
  const { view, report } = viewed("german_liveness.bir");
  assert.equal(view.loop, 16);
  assert.equal(view.step, 17);
  assert.deepEqual(view.rows.filter((row) => row.isInCycle).map((row) => row.step), [17, 18, 19, 20, 21, 22, 23]);
  assert.deepEqual(view.traces, ["served violated (23 steps)", "passed_over reached (12 steps)"]);
  assert.equal(report.traces[0].property, "passed_over", "the report has them in the order of the model");
  assert.deepEqual(brief(view.rows[0]).slice(2), ["requests[0]: [] → [own]", "waiting: false → true"]);
});

test("Promela: statements end at arrows and semicolons", () => {
  const { view, source, report } = viewed("promela/retransmit.pml");
  assert.deepEqual(view.rows.map((row) => row.statement), ["received < 3", "data!number;", "data?_", "timeout"]);
  assert.equal(view.loop, 0);
  const delivered = report.properties.find((property) => property.name === "delivered");
  assert.equal(source.text(source.region(delivered.source)), "delivered");
});

test("DVE: a transition up to its brace", () => {
  const { view, places } = viewed("dve/philosophers.dve");
  assert.equal(view.rows[0].statement, "think -> one { guard fork[0] == 0; effect fork[0] = 1; }");
  assert.deepEqual(brief(view.rows[0]).slice(2), ["fork[0]: 0 → 1"]);
  assert.ok(places.every((place) => place.line === place.endLine));
});

test("a complete search that holds, and one that ran out of budget", () => {
  const complete = check("philosophers_swapped.bir");
  assert.deepEqual(reportLines(complete).slice(1), [
    "  holds        A  deadlock",
    "  holds        A  fault",
    "covered: A, exhaustive: every reachable state",
  ]);
  const cut = check("philosophers_swapped.bir", "--max-depth", "4");
  assert.deepEqual(reportLines(cut).slice(1), [
    "  inconclusive B  deadlock",
    "  holds        A  fault",
    "covered: B, complete to depth 4: every state within 4 steps of the start; the depth limit was reached",
  ]);
  assert.match(verdictOf(cut, cut.properties[0]), /^`deadlock` is not decided\. Covered: B/);
});

test("what is not covered never becomes `holds`", () => {
  for (const options of [["--max-states", "20"], ["--max-depth", "1"], ["--search", "dfs", "--max-states", "20"]]) {
    const report = check("dekker.bir", ...options);
    for (const property of report.properties.filter(({ verdict }) => verdict !== "holds")) {
      assert.doesNotMatch(verdictOf(report, property), /holds/);
    }
    assert.doesNotMatch(report.coverage.statement, /exhaustive|every reachable/);
  }
});

test("every statement of every trace is found in its source", () => {
  for (const model of ["lost_wakeup.bir", "hyman.bir", "aba_stack.bir", "structured/philosophers_ring.bir", "promela/dining.pml", "dve/ring.dve", "dve/wrap.dve"]) {
    const { view, report } = viewed(model);
    for (const row of view.rows) assert.notEqual(row.statement.trim(), "", `${model}, step ${row.step}`);
    assert.equal(report.traces[0].states.length, view.rows.length + 1);
  }
});

test("a statement ends where it ends", () => {
  const text = (language, code, line = 1, column = 1) => {
    const source = new Source(code, language);
    return source.text(source.statement({ line, column }));
  };
  assert.equal(text("bir", "when a do {\n  x := 1; // done;\n} goto l; y := 2;"), "when a do { x := 1; // done; } goto l;");
  assert.equal(text("bir", "while (is_full) {", 1, 8), "is_full");
  assert.equal(text("bir", 'assert x == 1, ";"; y := 2;'), 'assert x == 1, ";";');
  assert.equal(text("bir", "atomic { x := 1; }\ny := 2;"), "atomic { x := 1; }");
  assert.equal(text("bir", "/* ä 🙂 */ x := 1;", 1, 11), "x := 1;", "columns count code points");
  assert.equal(text("promela", ":: a[1] -> b = 2; c", 1, 4), "a[1]");
  assert.equal(text("dve", "a -> b {},\nb -> a {};"), "a -> b {}");
  assert.equal(new Source("x", "bir").statement({ line: 9, column: 1 }), undefined);
});

test("values are found by their names and shown as they are declared", () => {
  const state = { a: [[1, 2], [3]], "T[0].r": { x: [true] }, "T[0]@": "loc" };
  assert.equal(valueAt(state, "a[0][1]"), 2);
  assert.equal(valueAt(state, "T[0].r.x[0]"), true);
  assert.equal(valueAt(state, "T[0]@"), "loc");
  assert.equal(valueAt(state, "b"), undefined);
  assert.equal(show({ x: [1, "ack"], y: false }), "{x: [1, ack], y: false}");
  assert.equal(counted("12345678901234567890123", "state"), "12,345,678,901,234,567,890,123 states");
});

test("the chart has a lane for each thread and an arrow for each message", () => {
  const report = check("german_liveness.bir");
  const { trace } = tracesOf(report)[0];
  const { stdout, status } = run("replay", "german_liveness.bir", trace.replay, "--format", "mermaid");
  assert.equal(status, 0);
  const chart = parseChart(stdout);
  assert.deepEqual(chart.lanes, ["Home", "Client[0]", "Client[1]"]);
  assert.equal(chart.steps.length, trace.length);
  assert.deepEqual(chart.steps.map(({ lane }) => chart.lanes[lane]), trace.steps.map(({ thread }) => thread));
  assert.deepEqual(chart.messages[0], { step: 3, from: 2, to: 0, label: "requests[1](share)", isRendezvous: false });
  const { replay } = check("promela/retransmit.pml").traces[0];
  assert.equal(parseChart(run("replay", "promela/retransmit.pml", replay, "--format", "mermaid").stdout).steps[0].title, "received < 3");
});

test("another schema and a missing command are refused with the reason", async () => {
  assert.throws(() => parseReport('{"schema": 2}'), /schema 2, and this extension reads schema 1/);
  await assert.rejects(start("no-such-birk", ["check"], "."), /no such command\. Install Birk, or set `birk\.path`/);
  assert.match(notStarted("birk", Object.assign(new Error("x"), { code: "EACCES" })), /may not be executed/);
});

test("progress and options", () => {
  assert.equal(progressOf('{"seconds":1,"states":1234,"depth":7,"states_per_second":1200.4}'), "1,234 states, depth 7, 1,200 states a second");
  assert.equal(progressOf("birk: there is no property `x`"), undefined);
  assert.deepEqual(modelOptions(["--time", "10s", "-D", "N=3", "-DM=1", "--profile", "p", "--define=K=2"]), [
    "-D", "N=3", "-DM=1", "--profile", "p", "--define=K=2",
  ]);
});

test("the views of two traces are alike", () => {
  const { report, source } = viewed("german_liveness.bir");
  assert.equal(viewOf(report, 1, source).view.rows.length, 12);
  assert.throws(() => viewOf(report, 2, source));
  assert.equal(rowsOf(report.traces[0], [])[0].statement, "");
});
