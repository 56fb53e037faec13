// The extension: the language server, and the commands.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import { run } from "./birk";
import { birkPath, Checker, complain } from "./check";
import { Explorers } from "./explore";
import { TraceView } from "./trace";

const LANGUAGES = ["bir", "promela", "dve"];

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("Birk");
  const traces = new TraceView(context.extensionUri);
  const checker = new Checker(output, traces, context.workspaceState);
  const explorers = new Explorers(output);
  const command = (name: string, act: (...given: never[]) => unknown) => vscode.commands.registerCommand(name, act);
  context.subscriptions.push(
    output,
    traces,
    checker,
    explorers,
    // A code lens gives the address of the model, and a property or null. Without them, it is the model in the editor.
    command("birk.check", (uri?: string | vscode.Uri, property?: string | null) => {
      const given = typeof uri === "string" ? vscode.Uri.parse(uri, true) : (uri ?? activeModel()?.uri);
      return given && checker.check(given, typeof property === "string" ? property : null);
    }),
    command("birk.selectProfile", () => checker.selectProfile()),
    command("birk.showTrace", () => traces.show()),
    command("birk.nextStep", () => traces.move(1)),
    command("birk.previousStep", () => traces.move(-1)),
    command("birk.explore", () => {
      const document = activeModel();
      return document && explorers.open(document);
    }),
    command("birk.restartServer", () => restart()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("birk.path")) void restart();
    }),
  );
  await restart();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

/** The model in the editor that has the focus; with a message where there is none. */
function activeModel(): vscode.TextDocument | undefined {
  const document = vscode.window.activeTextEditor?.document;
  if (document && LANGUAGES.includes(document.languageId)) return document;
  void vscode.window.showInformationMessage("Open a model first: a file that ends in .bir, .pml, .prom or .dve.");
  return undefined;
}

/** Starts the server, in place of the one that runs. */
async function restart(): Promise<void> {
  await client?.stop().catch(() => undefined);
  client = undefined;
  const command = birkPath();
  try {
    // The client would only say that a process could not be spawned.
    await run(command, ["--version"], process.cwd());
  } catch (error) {
    // Not awaited: the commands that need no server are there already.
    void complain(String(error instanceof Error ? error.message : error));
    return;
  }
  const documentSelector = LANGUAGES.map((language) => ({ scheme: "file", language }));
  client = new LanguageClient("birk", "Birk Language Server", { command, args: ["lsp"] }, { documentSelector });
  await client.start();
}
