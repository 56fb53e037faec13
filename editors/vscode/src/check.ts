// The command `birk.check`: runs the search, and puts the verdicts into output, status bar and diagnostics.

import { basename, dirname } from "node:path";
import * as vscode from "vscode";
import { run, type Finished } from "./birk";
import { parseChart, type Chart } from "./chart";
import { counted, parseReport, reportLines, verdictOf, type Report, type Trace } from "./report";
import { Source, type Place } from "./source";
import { rangeOf, type TraceView } from "./trace";

/** Options that a trace needs to be replayed as it was found. */
const MODEL_OPTIONS = /^(?:-D|--define|--profile)/;
const NO_PROFILE = "default";

export class Checker implements vscode.Disposable {
  private readonly diagnostics = vscode.languages.createDiagnosticCollection("birk check");
  private readonly status = vscode.window.createStatusBarItem("birk.profile", vscode.StatusBarAlignment.Left);
  private readonly listener: vscode.Disposable;
  private profile: string;
  private verdict = "";

  constructor(
    private readonly output: vscode.OutputChannel,
    private readonly traces: TraceView,
    private readonly memory: vscode.Memento,
  ) {
    this.profile = memory.get("profile", NO_PROFILE);
    this.status.name = "Birk";
    this.status.command = "birk.selectProfile";
    this.listener = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      // What was found is about another text now.
      if (contentChanges.length > 0) this.diagnostics.delete(document.uri);
    });
    this.updateStatus();
  }

  /** Checks a model: one property, or all. */
  async check(uri: vscode.Uri, property: string | null): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      void vscode.window.showWarningMessage("Birk checks models in trusted workspaces only. Trust this one first.");
      return;
    }
    const document = await vscode.workspace.openTextDocument(uri);
    if (document.isDirty && !(await document.save())) return;
    const options = this.options();
    const title = `birk check ${basename(uri.fsPath)}${property ? ` --property ${property}` : ""}`;
    try {
      const finished = await vscode.window.withProgress(
        { location: vscode.ProgressLocation.Notification, title, cancellable: true },
        (progress, token) => this.search(uri.fsPath, [...options, ...(property ? ["--property", property] : [])], progress, token),
      );
      this.finish(document, options, finished);
    } catch (error) {
      await complain(String(error instanceof Error ? error.message : error));
    }
  }

  /** Lets a person choose a run profile; it stays chosen in this workspace. */
  async selectProfile(): Promise<void> {
    const items = Object.entries({ [NO_PROFILE]: [], ...profiles() }).map(([label, options]) => ({
      label,
      description: options.join(" "),
      picked: label === this.profile,
    }));
    const chosen = await vscode.window.showQuickPick(items, { title: "Run profile of birk check" });
    if (chosen === undefined) return;
    this.profile = chosen.label;
    await this.memory.update("profile", this.profile);
    this.updateStatus();
  }

  dispose(): void {
    for (const one of [this.diagnostics, this.status, this.listener]) one.dispose();
  }

  private options(): string[] {
    return profiles()[this.profile] ?? [];
  }

  private updateStatus(): void {
    this.status.text = `Birk: ${this.verdict ? `${this.verdict} (${this.profile})` : this.profile}`;
    this.status.tooltip = "Run profile; click to select another";
    this.status.show();
  }

  private search(
    file: string,
    options: string[],
    progress: vscode.Progress<{ message: string }>,
    token: vscode.CancellationToken,
  ): Promise<Finished> {
    const command = ["check", basename(file), "--format", "json", "--progress", "json", ...options];
    this.output.appendLine(`$ birk ${command.join(" ")}`);
    return run(birkPath(), command, dirname(file), {
      onErrorLine: (line) => {
        const message = progressOf(line);
        if (message) progress.report({ message });
        return message !== undefined;
      },
      onStart: (stop) => token.onCancellationRequested(stop),
    });
  }

  private finish(document: vscode.TextDocument, options: string[], { code, stdout, stderr }: Finished): void {
    if (stderr) this.output.appendLine(stderr.trimEnd());
    if (!stdout.trim()) {
      this.output.show(true);
      this.verdict = "not checked";
      this.diagnostics.delete(document.uri);
      void vscode.window.showErrorMessage(`Birk reported nothing (exit code ${code}): ${stderr.split("\n")[0] || "it was ended"}`);
      return this.updateStatus();
    }
    const report = parseReport(stdout);
    for (const line of [...reportLines(report), ""]) this.output.appendLine(line);
    this.verdict = `${report.verdict}, ${report.coverage.grade}`;
    this.updateStatus();
    this.diagnostics.set(document.uri, diagnose(document, report));
    if (report.traces.length > 0) {
      this.traces.open(document, report, (trace) => this.draw(document.uri.fsPath, options, trace));
    } else {
      void vscode.window.showInformationMessage(`${basename(report.model)}: ${report.verdict}. Covered: ${report.coverage.statement}`);
    }
  }

  /** The chart of a trace, by replaying it with the same constants. */
  private async draw(file: string, options: string[], trace: Trace): Promise<Chart | null> {
    const command = ["replay", basename(file), trace.replay, "--format", "mermaid", ...modelOptions(options)];
    try {
      const { code, stdout } = await run(birkPath(), command, dirname(file));
      return code === 0 ? parseChart(stdout) : null;
    } catch {
      return null;
    }
  }
}

/** The setting `birk.path`. */
export function birkPath(): string {
  return vscode.workspace.getConfiguration("birk").get<string>("path")?.trim() || "birk";
}

function profiles(): Record<string, string[]> {
  return vscode.workspace.getConfiguration("birk").get<Record<string, string[]>>("profiles") ?? {};
}

/** Shows why Birk cannot be used, with a button for the next step. */
export async function complain(message: string): Promise<void> {
  const settings = "Open Settings";
  if ((await vscode.window.showErrorMessage(message, settings)) === settings) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "birk.path");
  }
}

/** A line of `--progress json` for people; nothing where it is another line. */
export function progressOf(line: string): string | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const { states, depth, states_per_second, relief } = JSON.parse(line) as Record<string, number | undefined>;
    if (relief !== undefined) return `memory is short: ${relief}`;
    if (states === undefined) return undefined;
    const pace = states_per_second === undefined ? "" : `, ${counted(Math.round(states_per_second), "state")} a second`;
    return `${counted(states, "state")}, depth ${depth ?? 0}${pace}`;
  } catch {
    return undefined;
  }
}

/** Those of the options that say what model it is. */
export function modelOptions(options: string[]): string[] {
  return options.flatMap((option, at) => {
    if (!MODEL_OPTIONS.test(option)) return [];
    const isWhole = option.includes("=") || (option.startsWith("-D") && option.length > 2);
    return isWhole ? [option] : [option, options[at + 1] ?? ""];
  });
}

/** An error for what is violated, a note for what is not decided: at the property, or else at the statement that shows it. */
function diagnose(document: vscode.TextDocument, report: Report): vscode.Diagnostic[] {
  const source = new Source(document.getText(), document.languageId);
  const start = { line: 0, start: 0, endLine: 0, end: 0 };
  return report.properties.flatMap((property) => {
    if (property.verdict === "holds") return [];
    const trace = property.trace === null ? undefined : report.traces[property.trace];
    const last = trace && lastStatement(source, trace);
    const isHere = property.source?.file === report.model;
    const place = (isHere && property.source && source.region(property.source)) || last || start;
    const { Error, Information } = vscode.DiagnosticSeverity;
    const why = property.verdict === "violated" ? (trace?.fault?.message ?? "") : "";
    const message = `${verdictOf(report, property)}${why && `: ${why}`}`;
    const made = new vscode.Diagnostic(rangeOf(place), message, property.verdict === "violated" ? Error : Information);
    made.source = "birk check";
    made.code = property.name;
    if (last && last !== place) {
      const at = new vscode.Location(document.uri, rangeOf(last));
      made.relatedInformation = [new vscode.DiagnosticRelatedInformation(at, `the last of ${counted(trace.length, "step")}`)];
    }
    return [made];
  });
}

/** Where the runtime error is, or the last step. */
function lastStatement(source: Source, trace: Trace): Place | undefined {
  const position = trace.fault?.source ?? trace.steps[trace.steps.length - 1]?.source;
  return position && source.statement(position);
}
