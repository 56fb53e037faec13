// `birk lsp` as the extension's client starts it: diagnostics, and lenses that ask for `birk.check` with the arguments it takes.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import rpc from "vscode-jsonrpc/node.js";
import { birk, here, languageOf, root, textOf } from "./models.mjs";

async function client() {
  const child = spawn(birk(), ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  const connection = rpc.createMessageConnection(new rpc.StreamMessageReader(child.stdout), new rpc.StreamMessageWriter(child.stdin));
  const published = new Map();
  const waiting = new Map();
  connection.onNotification("textDocument/publishDiagnostics", ({ uri, diagnostics }) => {
    published.set(uri, diagnostics);
    waiting.get(uri)?.(diagnostics);
  });
  connection.listen();
  await connection.sendRequest("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
  await connection.sendNotification("initialized", {});
  const open = async (model, text = textOf(model)) => {
    const uri = pathToFileURL(join(root, "models", model)).href;
    const diagnosed = new Promise((done) => waiting.set(uri, done));
    await connection.sendNotification("textDocument/didOpen", { textDocument: { uri, languageId: languageOf(model), version: 1, text } });
    return { uri, diagnostics: published.get(uri) ?? (await diagnosed) };
  };
  const stop = async () => {
    await connection.sendRequest("shutdown");
    await connection.sendNotification("exit");
    await new Promise((done) => child.on("close", done));
    connection.dispose();
  };
  return { connection, open, stop };
}

test("models of all three languages are diagnosed, and BIR has lenses for `birk.check`", async () => {
  const { connection, open, stop } = await client();
  const { uri, diagnostics } = await open("traffic_light_broken.bir");
  assert.deepEqual(diagnostics, []);
  const lenses = await connection.sendRequest("textDocument/codeLens", { textDocument: { uri } });
  assert.deepEqual(lenses.map(({ command }) => [command.command, command.arguments]), [
    ["birk.check", [uri, null]],
    ["birk.check", [uri, "safe"]],
  ]);
  assert.notDeepEqual((await open("promela/dining.pml", "active proctype P() { x = 1 }")).diagnostics, []);
  assert.notDeepEqual((await open("dve/ring.dve", "process P { state a; init b; }")).diagnostics, []);
  await stop();
});

test("the manifest names the command, the languages and the grammar that the extension has", () => {
  const manifest = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  const code = readFileSync(join(here, "src/extension.ts"), "utf8");
  for (const { command } of manifest.contributes.commands) assert.ok(code.includes(`command("${command}"`), command);
  assert.deepEqual(manifest.contributes.languages.map(({ id }) => id), ["bir", "promela", "dve"]);
  const grammar = readFileSync(join(here, manifest.contributes.grammars[0].path), "utf8");
  assert.equal(grammar, readFileSync(join(root, "editors/textmate/bir.tmLanguage.json"), "utf8"));
  const lock = readFileSync(join(here, "package-lock.json"), "utf8");
  assert.ok(!lock.includes('"resolved"'), "the lock file names no registry");
});
