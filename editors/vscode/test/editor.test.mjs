// The packaged extension in a real editor: code-server, which is Visual Studio Code in a browser, driven in Chromium.
// Runs where CODE_SERVER names the script of code-server (out/node/entry.js), after `npm run package`.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { birk, browser, here, root } from "./models.mjs";

const script = process.env.CODE_SERVER;
const chromium = script && (await browser());
const options = { skip: !chromium && "CODE_SERVER does not name code-server, or there is no Chromium" };
const MODELS = ["traffic_light_broken.bir", "german_liveness.bir", "philosophers_swapped.bir", "large/dme_module_4.bir", "promela/retransmit.pml", "dve/philosophers.dve"];
let home, server, page, address;

const shot = async (name) => process.env.SHOTS && page.screenshot({ path: join(process.env.SHOTS, `editor-${name}.png`) });

function settings(changed = {}) {
  const user = join(home, "data/User");
  mkdirSync(user, { recursive: true });
  const quiet = { "workbench.startupEditor": "none", "telemetry.telemetryLevel": "off", "extensions.autoCheckUpdates": false };
  const profiles = { "three steps": ["--max-depth", "3"] };
  writeFileSync(join(user, "settings.json"), JSON.stringify({ ...quiet, "birk.path": realpathSync(birk()), "birk.profiles": profiles, "workbench.colorTheme": "Default Light Modern", ...changed }));
}

before(async () => {
  if (!chromium) return;
  home = mkdtempSync(join(tmpdir(), "birk-editor-"));
  mkdirSync(join(home, "models"));
  for (const model of MODELS) copyFileSync(join(root, "models", model), join(home, "models", basename(model)));
  settings();
  const env = { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home };
  const common = [script, "--user-data-dir", join(home, "data"), "--extensions-dir", join(home, "extensions")];
  execFileSync(process.execPath, [...common, "--install-extension", join(here, "birk.vsix")], { env, stdio: "pipe" });
  server = spawn(process.execPath, [...common, "--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry", "--disable-update-check", "--disable-workspace-trust"], { env });
  address = await new Promise((found) => {
    server.stdout.on("data", (text) => {
      const line = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(text);
      if (line) found(line[1]);
    });
  });
  page = await chromium.newPage({ viewport: { width: 1400, height: 900 } });
  page.setDefaultTimeout(30_000);
  await page.goto(`${address}/?folder=${encodeURIComponent(join(home, "models"))}`);
  await page.waitForSelector(".explorer-folders-view .monaco-list-row");
});
after(async () => {
  await chromium?.close();
  server?.kill();
  if (home) setTimeout(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }), 500);
});

async function open(model) {
  await page.locator(".explorer-folders-view .monaco-list-row", { hasText: model }).dblclick();
  await page.locator(".tab.active", { hasText: model }).waitFor();
  // Before it has the focus, it would take it from what is opened next, which closes then.
  await page.locator(".editor-instance .monaco-editor.focused").waitFor();
  // The editor knows the language as soon as it knows the extension.
  const language = { bir: "BIR", pml: "Promela", dve: "DVE" }[model.split(".").pop()];
  await page.locator("[id='status.editor.mode']", { hasText: language }).waitFor();
}

/** Settings that were written behind the editor's back are read when it starts. */
async function reload() {
  await page.reload();
  await page.waitForSelector(".explorer-folders-view .monaco-list-row");
}

async function command(name) {
  await page.keyboard.press("F1");
  await page.locator(".quick-input-widget input").first().fill(`>${name}`);
  await page.locator(".quick-input-list .monaco-list-row", { hasText: name }).first().click();
}

/** The trace view: a frame in a frame. */
async function view(text) {
  for (const end = Date.now() + 30_000; Date.now() < end; await page.waitForTimeout(200)) {
    for (const frame of page.frames()) {
      const where = await frame.evaluate("document.getElementById('traces')?.selectedOptions[0]?.textContent").catch(() => undefined);
      if (where?.includes(text)) return frame;
    }
  }
  throw new Error(`there is no trace view with ${text}`);
}

const highlighted = () => page.evaluate(() => [...document.querySelectorAll(".view-overlays .cdr")].filter((one) => /ced-.*TextEditorDecorationType/.test(one.className)).length);
const besides = () => page.evaluate(() => [...document.querySelectorAll(".view-line span[class*='ced-']")].map((one) => getComputedStyle(one, "::after").content).filter((text) => text !== "none"));

test("a code lens checks; the trace is stepped through in the source", options, async () => {
  await open("traffic_light_broken.bir");
  await page.locator(".codelens-decoration a", { hasText: "check safe" }).click();
  const frame = await view("safe violated (6 steps)");
  assert.equal(await frame.textContent("#where"), "Step 6 of 6: Light[0]");
  await page.locator(".squiggly-error").first().waitFor();
  assert.deepEqual(await besides(), ['"6. Light[0]: light[0]: red_amber → green"']);
  await frame.click("#previous");
  await page.waitForTimeout(300);
  assert.deepEqual(await besides(), ['"5. Light[0]: light[0]: red → red_amber"']);
  assert.ok((await highlighted()) > 0, "the statement is highlighted");
  await page.keyboard.press("ArrowLeft");
  assert.match(await frame.textContent("#where"), /^Step 4 of 6/, "arrow keys work in the view");
  await frame.waitForSelector("#chart .step.now");
  await frame.click("#rows tr[data-step='3']");
  await page.locator(".monaco-status-bar, .statusbar", { hasText: "Ln 13" }).waitFor();
  await command("Birk: Next Step of the Trace");
  await frame.locator("#where", { hasText: "Step 4 of 6" }).waitFor();
  await shot("light");
  await page.locator(".statusbar", { hasText: "Birk: violated, B" }).waitFor();
});

test("an edit takes away what was found in another text", options, async () => {
  await page.locator(".editor-instance .view-lines").first().click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("// new\n");
  await page.waitForFunction(() => document.querySelectorAll(".squiggly-error").length === 0);
  assert.deepEqual(await besides(), []);
  const frame = await view("safe violated (6 steps)");
  await frame.click("#rows tr[data-step='2']");
  await page.locator(".notifications-toasts", { hasText: "The model was edited since this trace was found" }).waitFor();
  await page.locator(".editor-instance .view-lines").first().click();
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+s");
  await command("Notifications: Clear All Notifications");
});

test("Promela and DVE are checked by the button above the editor", options, async () => {
  for (const [model, trace] of [["retransmit.pml", "delivered violated (4 steps)"], ["philosophers.dve", "deadlock violated (3 steps)"]]) {
    await open(model);
    await page.locator(".editor-actions .action-label[aria-label^='Check']").first().click();
    await view(trace);
  }
});

test("a run profile is chosen; a search that was cut short does not hold", options, async () => {
  await open("philosophers_swapped.bir");
  await command("Birk: Select Run Profile");
  await page.locator(".quick-input-list .monaco-list-row", { hasText: "three steps" }).click();
  await command("Birk: Check");
  const message = page.locator(".notifications-toasts", { hasText: "inconclusive. Covered: B, complete to depth 3" });
  await message.waitFor();
  assert.doesNotMatch(await message.textContent(), /holds/);
  await page.locator(".statusbar", { hasText: "Birk: inconclusive, B (three steps)" }).waitFor();
  await command("Notifications: Clear All Notifications");
});

test("a long search is cancelled, and says what it covered", options, async () => {
  await open("dme_module_4.bir");
  await command("Birk: Select Run Profile");
  await page.locator(".quick-input-list .monaco-list-row", { hasText: "default" }).click();
  await command("Birk: Check");
  await page.locator(".notifications-toasts", { hasText: /states, depth \d+/ }).waitFor();
  await shot("progress");
  await page.locator(".notifications-toasts .monaco-button, .notifications-toasts a", { hasText: "Cancel" }).first().click();
  await page.locator(".notifications-toasts", { hasText: /inconclusive\. Covered: .*interrupted/ }).waitFor();
  await command("Notifications: Clear All Notifications");
});

test("dark and high contrast, with a lasso and messages", options, async () => {
  for (const [theme, kind] of [["Default Dark Modern", "vscode-dark"], ["Default High Contrast", "vscode-high-contrast"]]) {
    settings({ "workbench.colorTheme": theme });
    await reload();
    await open("german_liveness.bir");
    await command("Birk: Check");
    const frame = await view("served violated (23 steps)");
    await frame.waitForSelector("#chart .message", { state: "attached" });
    await page.waitForTimeout(500);
    assert.equal(await frame.getAttribute("body", "class").then((name) => name.match(/vscode-(?:dark|high-contrast)/)?.[0]), kind);
    await shot(kind);
  }
});

test("the explorer is opened in the browser", options, async () => {
  const opened = page.context().waitForEvent("page");
  await command("Birk: Explore the State Graph in a Browser");
  const tab = await opened;
  // This editor is served from elsewhere: it sends the browser to its own proxy, which drops the token of the address.
  assert.match(tab.url(), /\/proxy\/\d+\/$/);
  await tab.close();
});

test("a missing command is named, with the next step", options, async () => {
  settings({ "birk.path": "no-such-birk" });
  await reload();
  await open("traffic_light_broken.bir");
  await page.locator(".notifications-toasts", { hasText: "`no-such-birk` could not be started: there is no such command. Install Birk, or set `birk.path`" }).waitFor();
  await shot("missing");
});
