// The explorer: one `birk explore` for each model, opened in the browser. Its page forbids framing.

import { spawn, type ChildProcess } from "node:child_process";
import { basename, dirname } from "node:path";
import * as vscode from "vscode";
import { notStarted } from "./birk";
import { birkPath, complain } from "./check";

export class Explorers implements vscode.Disposable {
  private readonly servers = new Map<string, { child: ChildProcess; address: Promise<string> }>();

  constructor(private readonly output: vscode.OutputChannel) {}

  /** Opens the explorer of a model; an edited model gets a new one. */
  async open(document: vscode.TextDocument): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      void vscode.window.showWarningMessage("Birk explores models in trusted workspaces only. Trust this one first.");
      return;
    }
    if (document.isDirty && !(await document.save())) return;
    const file = document.uri.fsPath;
    this.servers.get(file)?.child.kill();
    try {
      const server = this.start(file);
      this.servers.set(file, server);
      const address = await server.address;
      this.output.appendLine(`explorer of ${basename(file)}: ${address}`);
      await vscode.env.openExternal(vscode.Uri.parse(address, true));
    } catch (error) {
      await complain(String(error instanceof Error ? error.message : error));
    }
  }

  dispose(): void {
    for (const { child } of this.servers.values()) child.kill();
  }

  private start(file: string): { child: ChildProcess; address: Promise<string> } {
    const child = spawn(birkPath(), ["explore", basename(file)], { cwd: dirname(file), stdio: ["ignore", "pipe", "pipe"] });
    const address = new Promise<string>((resolve, reject) => {
      let [said, complaint] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        const found = /^http:\/\/127\.0\.0\.1:\d+\/\S*(?=\n)/m.exec(said);
        if (found) resolve(found[0]);
      });
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        complaint += text;
        this.output.append(text);
      });
      child.on("error", (error) => reject(new Error(notStarted(birkPath(), error))));
      child.on("close", (code) => reject(new Error(`birk explore ended with ${code}: ${complaint.split("\n")[0]}`)));
    });
    return { child, address };
  }
}
