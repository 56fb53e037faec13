// The trace view in Chromium, with the page, the script and the style sheet of the extension; the editor is played by the test.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { birk, browser, here, languageOf, load, reportOf, root, run, textOf } from "./models.mjs";
import { variables } from "./themes.mjs";

const chromium = await browser();
const shots = process.env.SHOTS ?? mkdtempSync(join(tmpdir(), "birk-view-"));
const options = { skip: chromium === undefined && "there is no Chromium" };
let server, address;

before(async () => {
  const { page } = await load("trace");
  server = createServer((request, response) => {
    const name = request.url.split("?")[0].slice(1);
    if (name === "trace.js" || name === "trace.css") {
      response.setHeader("content-type", name.endsWith("js") ? "text/javascript" : "text/css");
      response.end(readFileSync(join(here, "dist", name)));
    } else if (name === "") {
      response.setHeader("content-type", "text/html");
      response.end(page("trace.js", "trace.css", address, "0123456789abcdef"));
    } else {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  address = `http://127.0.0.1:${server.address().port}`;
});
after(async () => {
  await chromium?.close();
  server.close();
  if (!process.env.SHOTS) rmSync(shots, { recursive: true });
});

async function viewOfModel(model, ...given) {
  const [{ parseReport, tracesOf }, { Source }, { viewOf }, { parseChart }] = await Promise.all(["report", "source", "view", "chart"].map(load));
  const report = parseReport(reportOf(model, ...given));
  const { view } = viewOf(report, 0, new Source(textOf(model), languageOf(model)));
  const { stdout } = run("replay", model, tracesOf(report)[0].trace.replay, "--format", "mermaid");
  return { ...view, chart: parseChart(stdout) };
}

/** Opens a view as the editor does; `sent` has the messages to the editor, `complaints` what the browser objects to. */
async function open(view, { width = 620, height = 900, theme = "light" } = {}) {
  const page = await chromium.newPage({ viewport: { width, height } });
  page.setDefaultTimeout(10_000);
  const complaints = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => request.url().startsWith(address) || complaints.push(request.url()));
  await page.addInitScript(() => {
    globalThis.sent = [];
    globalThis.acquireVsCodeApi = () => ({ postMessage: (message) => globalThis.sent.push(message) });
  });
  // The favourite icon is the browser's own idea.
  await page.route("**/favicon.ico", (route) => route.fulfill({ status: 204 }));
  await page.goto(address);
  await page.evaluate((css) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    document.adoptedStyleSheets = [sheet];
  }, variables(theme));
  assert.deepEqual(await page.evaluate("sent"), [{ type: "ready" }]);
  await page.evaluate((shown) => window.postMessage({ type: "view", view: shown }), view);
  await page.waitForSelector("#rows tr.now");
  const sent = () => page.evaluate("sent.splice(0)");
  const where = () => page.textContent("#where");
  return { page, complaints, sent, where };
}

test("steps by buttons, keys, slider, rows and boxes", options, async () => {
  const { page, complaints, sent, where } = await open(await viewOfModel("traffic_light_broken.bir"));
  assert.equal(await where(), "Step 6 of 6: Light[0]", "it opens at its end");
  await sent();
  await page.click("#previous");
  assert.deepEqual(await sent(), [{ type: "step", step: 5 }]);
  await page.click("#first");
  assert.equal(await where(), "Start of 6 steps");
  assert.ok(await page.isDisabled("#previous"));
  await page.focus("body");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.equal(await where(), "Step 2 of 6: Light[1]");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("End");
  await page.keyboard.press("Home");
  await sent();
  await page.click("#rows tr[data-step='3']");
  assert.deepEqual(await sent(), [{ type: "step", step: 3 }, { type: "reveal", step: 3 }]);
  assert.equal(await page.getAttribute("#rows tr.now", "aria-current"), "step");
  assert.equal(await page.locator("#chart .step.now").getAttribute("data-step"), "3");
  assert.match(await page.textContent("#state .changed"), /^light\[red, red_amber\]/);
  await page.focus("#rows tr.now");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.evaluate("document.activeElement.dataset.step"), "4", "the focus follows the step");
  await sent();
  await page.keyboard.press("Enter");
  assert.deepEqual(await sent(), [{ type: "reveal", step: 4 }]);
  await page.locator("#chart [data-step='5'] text").click();
  assert.match(await where(), /^Step 5 of 6/);
  await page.evaluate(() => window.postMessage({ type: "move", by: 1 }));
  // Not by a function that the page evaluates again and again: its policy forbids that.
  await page.locator("#where").filter({ hasText: /^Step 6/ }).waitFor();
  assert.ok(await page.isDisabled("#next"));
  assert.deepEqual(complaints, []);
});

test("a lasso repeats its cycle, and another trace can be chosen", options, async () => {
  const { page, sent, where, complaints } = await open(await viewOfModel("german_liveness.bir"));
  assert.equal(await where(), "Step 17 of 23: Home, in the cycle");
  await page.click("#last");
  await page.click("#next");
  assert.match(await where(), /^Step 17/, "behind the last step comes the first of the cycle");
  assert.equal(await page.locator("#rows tr.cycle").count(), 7);
  assert.equal(await page.locator("#chart .bracket").count(), 1);
  await sent();
  await page.selectOption("#traces", { index: 1 });
  assert.deepEqual(await sent(), [{ type: "choose", trace: 1 }]);
  assert.deepEqual(complaints, []);
});

test("texts of a model are shown, not executed, and the policy refuses what is injected", options, async () => {
  const view = await viewOfModel("philosophers2.bir");
  const evil = "<img src=x onerror=\"sent.push('evil')\"><script>sent.push('evil')</script>";
  view.rows[1].statement = view.rows[1].thread = view.covered = view.model = view.chart.lanes[0] = evil;
  view.chart.steps[0].title = view.why[0] = view.traces[0] = evil;
  const { page, sent } = await open(view);
  assert.ok((await page.textContent("#rows")).includes(evil));
  await page.evaluate((html) => document.body.insertAdjacentHTML("beforeend", html), evil);
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "sent.push('evil')";
    document.body.append(script);
  });
  await page.waitForTimeout(100);
  assert.ok(!(await sent()).includes("evil"));
});

test("a long trace is shown in parts", options, async () => {
  const view = await viewOfModel("philosophers2.bir");
  const rows = Array.from({ length: 1001 }, (_, at) => ({ ...view.rows[0], step: at + 1 }));
  const steps = rows.map(() => view.chart.steps[0]);
  const long = { ...view, rows, states: [...rows, 0].map(() => view.states[0]), chart: { ...view.chart, steps }, step: 1001 };
  const { page, where } = await open(long);
  assert.equal(await page.locator("#rows tr[data-step]").count(), 201);
  await page.click("#rows button");
  assert.match(await where(), /^Step 800 of 1001/);
  assert.equal(await page.locator("#rows tr[data-step]").count(), 400);
});

test("light, dark, high contrast; 390 pixels; contrast of texts", options, async () => {
  const view = await viewOfModel("german_liveness.bir");
  for (const [theme, width] of [["light", 620], ["dark", 620], ["contrast", 620], ["light", 390], ["dark", 1100]]) {
    const { page, complaints } = await open(view, { theme, width, height: 1000 });
    await page.screenshot({ path: join(shots, `${theme}-${width}.png`), fullPage: true });
    const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    assert.ok(overflow <= 0, `${theme}, ${width} pixels: ${overflow} pixels too wide`);
    const faint = await page.evaluate(faintTexts);
    assert.deepEqual(faint, [], `${theme}: texts with a contrast below 4.5`);
    assert.deepEqual(complaints, []);
    await page.close();
  }
});

test("the explorer's page cannot be framed, therefore it is opened in the browser", options, async () => {
  const explorer = spawn(birk(), ["explore", join(root, "models/philosophers2.bir")]);
  try {
    const found = await new Promise((resolve) => explorer.stdout.on("data", (text) => resolve(String(text).trim())));
    const page = await chromium.newPage();
    // Without the view's own policy, which forbids every frame.
    await page.goto("about:blank");
    await page.setContent(`<iframe src="${found}"></iframe>`);
    assert.match(page.frames()[1].url(), /^chrome-error:/);
    const answer = await page.goto(found);
    assert.equal(answer.status(), 200);
    assert.match(answer.headers()["content-security-policy"], /frame-ancestors 'none'/);
  } finally {
    explorer.kill();
  }
});

/** In the page: texts whose contrast with the background behind them is below 4.5. */
function faintTexts() {
  const parse = (color) => {
    const parts = (color.match(/[\d.]+/g) ?? []).map(Number);
    return color.startsWith("color(srgb") ? parts.map((part, at) => (at < 3 ? part * 255 : part)) : parts;
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const over = (top, bottom, alpha) => top.map((c, at) => c * alpha + bottom[at] * (1 - alpha));
  const found = [];
  for (const element of document.querySelectorAll("h1, li, li strong, p, #where, pre, th, td, td code, .move, button:enabled, summary")) {
    if (!element.textContent.trim() || element.offsetParent === null) continue;
    const chain = [];
    for (let one = element; one; one = one.parentElement) chain.push(getComputedStyle(one));
    let ground = [255, 255, 255];
    for (const style of [...chain].reverse()) {
      const [r, g, b, a = 1] = parse(style.backgroundColor);
      ground = over([r, g, b], ground, a);
    }
    const opacity = chain.reduce((product, style) => product * Number(style.opacity), 1);
    const text = over(parse(chain[0].color).slice(0, 3), ground, opacity);
    const [high, low] = [light(text), light(ground)].sort((a, b) => b - a);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < 4.5) found.push(`${element.tagName}.${element.className}: ${contrast.toFixed(1)}`);
  }
  return [...new Set(found)];
}
