// The trace view, and the step that it shows in the source: highlighted, with the changed values beside it.

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { Chart } from "./chart";
import { besideLine, tracesOf, type Report, type Trace } from "./report";
import { Source, type Place } from "./source";
import { viewOf, type FromView, type ToView, type View } from "./view";

/** Draws the chart of a trace; nothing where that is not possible. */
export type Draw = (trace: Trace) => Promise<Chart | null>;

interface Shown {
  document: vscode.TextDocument;
  report: Report;
  draw: Draw;
  source: Source;
  view: View;
  places: (Place | undefined)[];
}

export class TraceView implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private shown: Shown | undefined;
  private readonly statement: vscode.TextEditorDecorationType;
  private readonly beside: vscode.TextEditorDecorationType;
  private readonly listeners: vscode.Disposable[];

  constructor(private readonly extension: vscode.Uri) {
    this.statement = vscode.window.createTextEditorDecorationType({
      backgroundColor: new vscode.ThemeColor("editor.stackFrameHighlightBackground"),
      overviewRulerColor: new vscode.ThemeColor("focusBorder"),
    });
    this.beside = vscode.window.createTextEditorDecorationType({
      after: { color: new vscode.ThemeColor("editorCodeLens.foreground"), fontStyle: "italic", margin: "0 0 0 2em" },
    });
    this.listeners = [
      // Other text may have moved the statements: nothing is shown rather than something wrong.
      vscode.workspace.onDidChangeTextDocument((event) => {
        if (event.document === this.shown?.document && event.contentChanges.length > 0) this.undecorate();
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.decorate()),
    ];
  }

  /** Opens the view on the traces of a report that has some. */
  open(document: vscode.TextDocument, report: Report, draw: Draw): void {
    const source = new Source(document.getText(), document.languageId);
    this.shown = { document, report, draw, source, ...viewOf(report, 0, source) };
    void vscode.commands.executeCommand("setContext", "birk.hasTrace", true);
    this.show();
    this.send();
  }

  /** Brings the view to the front. */
  show(): void {
    if (this.shown === undefined) return;
    if (this.panel !== undefined) {
      this.panel.reveal(undefined, true);
      return;
    }
    const where = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    const media = vscode.Uri.joinPath(this.extension, "dist");
    const panel = vscode.window.createWebviewPanel("birk.trace", "Trace", where, {
      enableScripts: true,
      localResourceRoots: [media],
    });
    const uri = (name: string) => panel.webview.asWebviewUri(vscode.Uri.joinPath(media, name)).toString();
    panel.webview.onDidReceiveMessage((message: FromView) => this.receive(message));
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.undecorate();
    });
    panel.webview.html = page(uri("trace.js"), uri("trace.css"), panel.webview.cspSource, randomBytes(16).toString("hex"));
    this.panel = panel;
  }

  /** Goes some steps forwards or back. */
  move(by: number): void {
    this.show();
    this.post({ type: "move", by });
  }

  dispose(): void {
    this.panel?.dispose();
    for (const one of [this.statement, this.beside, ...this.listeners]) one.dispose();
  }

  private post(message: ToView): void {
    void this.panel?.webview.postMessage(message);
  }

  private receive(message: FromView): void {
    if (this.shown === undefined) return;
    switch (message.type) {
      case "ready":
        this.send();
        break;
      case "choose":
        Object.assign(this.shown, viewOf(this.shown.report, message.trace, this.shown.source));
        this.send();
        break;
      case "step":
        this.shown.view.step = message.step;
        this.decorate();
        this.reveal(false);
        break;
      case "reveal":
        this.shown.view.step = message.step;
        this.reveal(true);
        break;
    }
  }

  /** Sends the chosen trace, and its chart as soon as it is drawn. */
  private send(): void {
    const { shown } = this;
    if (shown === undefined || this.panel === undefined) return;
    const { view } = shown;
    this.panel.title = `Trace: ${view.traces[view.chosen] ?? ""}`;
    this.post({ type: "view", view });
    const trace = tracesOf(shown.report)[view.chosen]?.trace;
    if (view.chart !== null || trace === undefined) return;
    void shown.draw(trace).then((chart) => {
      view.chart = chart;
      if (this.shown?.view === view) this.post({ type: "chart", chart });
    });
  }

  private place(): Place | undefined {
    return this.shown?.places[this.shown.view.step - 1];
  }

  private decorate(): void {
    const { shown } = this;
    if (shown === undefined || this.panel === undefined) return;
    if (isEdited(shown)) return this.undecorate();
    const place = this.place();
    const row = shown.view.rows[shown.view.step - 1];
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document !== shown.document) continue;
      const ranges = place ? [rangeOf(place)] : [];
      editor.setDecorations(this.statement, ranges);
      const line = place && shown.document.lineAt(place.line).range;
      const after = row && line ? [{ range: line, renderOptions: { after: { contentText: besideLine(row) } } }] : [];
      editor.setDecorations(this.beside, after);
    }
  }

  private undecorate(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      editor.setDecorations(this.statement, []);
      editor.setDecorations(this.beside, []);
    }
  }

  /** Scrolls the source to the step; opens it, with the cursor there, if it was asked for. */
  private reveal(isAskedFor: boolean): void {
    const place = this.place();
    if (this.shown === undefined || place === undefined) return;
    if (isEdited(this.shown)) {
      if (isAskedFor) void vscode.window.showInformationMessage("The model was edited since this trace was found. Check it again.");
      return;
    }
    const { document } = this.shown;
    // Its beginning only: the end of a long line would scroll the line's beginning out of sight.
    const { start } = rangeOf(place);
    const selection = new vscode.Range(start, start);
    const editor = vscode.window.visibleTextEditors.find((one) => one.document === document);
    if (!isAskedFor) return editor?.revealRange(selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    const viewColumn = editor?.viewColumn ?? vscode.ViewColumn.One;
    void vscode.window.showTextDocument(document, { viewColumn, selection, preserveFocus: false }).then(() => this.decorate());
  }
}

function isEdited({ document, source }: Shown): boolean {
  return document.getText() !== source.whole;
}

/** A place of a source as the editor's range. */
export function rangeOf(place: Place): vscode.Range {
  return new vscode.Range(place.line, place.start, place.endLine, place.end);
}

/** The page: it loads one script, by its nonce, and one style sheet; its texts come as messages. */
export function page(script: string, style: string, styles: string, nonce: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${styles}; script-src 'nonce-${nonce}'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${style}">
<title>Trace</title>
</head>
<body>
<h1 id="model"></h1>
<ul id="properties" aria-label="verdicts"></ul>
<p>covered: <span id="covered"></span></p>
<div id="bar" role="toolbar" aria-label="steps of the trace">
<select id="traces" aria-label="trace"></select>
<button id="first" title="first state (Home)" aria-label="first state">⇤</button>
<button id="previous" title="previous step (←)" aria-label="previous step">←</button>
<button id="next" title="next step (→)" aria-label="next step">→</button>
<button id="last" title="last step (End)" aria-label="last step">⇥</button>
<input id="slider" type="range" min="0" value="0" aria-label="step">
<span id="where" role="status"></span>
</div>
<pre id="why" tabindex="0" role="group" aria-label="what the trace shows"></pre>
<div class="scroll" id="steps">
<table>
<thead><tr><th scope="col">step</th><th scope="col">thread</th><th scope="col">statement</th><th scope="col">changed values</th></tr></thead>
<tbody id="rows"></tbody>
</table>
</div>
<section id="chart-part" hidden>
<h2>Sequence chart</h2>
<div class="scroll" id="chart" tabindex="0" role="group" aria-label="sequence chart"></div>
</section>
<details open>
<summary>State after the step</summary>
<table><tbody id="state"></tbody></table>
</details>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>
`;
}
