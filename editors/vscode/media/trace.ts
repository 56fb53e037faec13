// The trace view: a table of steps, a sequence chart and the values of a state, all at the same step.

import { changeText, show, type Row } from "../src/report";
import type { Chart } from "../src/chart";
import type { FromView, ToView, View } from "../src/view";

declare function acquireVsCodeApi(): { postMessage(message: FromView): void };

/** A longer trace is shown in parts of so many steps. */
const PAGE = 400;
const ROW = 26;
const ARROW = 24;
const GUTTER = 18;

const editor = acquireVsCodeApi();
let view: View | undefined;
let step = 0;
let page = -1;

function byId<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`there is no element ${id}`);
  return found as T;
}

/** An element with a class and a text; texts are never read as HTML. */
function element<K extends keyof HTMLElementTagNameMap>(tag: K, name = "", text = ""): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.textContent = text;
  return made;
}

function drawing(tag: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.textContent = text;
  return made;
}

function open(shown: View): void {
  view = shown;
  page = -1;
  byId("model").textContent = shown.model;
  byId("properties").replaceChildren(
    ...shown.properties.map(({ name, verdict, grade }) => {
      const item = element("li");
      const word = element("strong", verdict, verdict);
      item.append(word, ` ${grade ?? "-"} `, element("code", "", name));
      return item;
    }),
  );
  byId("covered").textContent = shown.covered;
  byId("why").textContent = shown.why.join("\n");
  const traces = byId<HTMLSelectElement>("traces");
  traces.replaceChildren(...shown.traces.map((name) => element("option", "", name)));
  traces.selectedIndex = shown.chosen;
  byId<HTMLInputElement>("slider").max = String(shown.rows.length);
  go(shown.step);
}

/** The step before or after this one; behind the last step of a lasso comes the first of its cycle. */
function neighbour(by: number): number {
  if (!view) return 0;
  const last = view.rows.length;
  if (by > 0 && step === last && view.loop !== null && view.loop < last) return view.loop + 1;
  return Math.min(Math.max(step + by, 0), last);
}

/** Shows the state after so many steps, and tells the editor. */
function go(to: number): void {
  if (!view) return;
  const { rows } = view;
  step = to;
  if (page !== Math.floor(Math.max(step - 1, 0) / PAGE)) {
    page = Math.floor(Math.max(step - 1, 0) / PAGE);
    drawTable(view);
    drawChart(view);
  }
  const row = rows[step - 1];
  byId("where").textContent = row
    ? `Step ${step} of ${rows.length}: ${row.thread}${row.isInCycle ? ", in the cycle" : ""}`
    : `Start of ${rows.length} steps`;
  byId<HTMLInputElement>("slider").value = String(step);
  byId<HTMLButtonElement>("first").disabled = byId<HTMLButtonElement>("previous").disabled = step === 0;
  byId<HTMLButtonElement>("last").disabled = step === rows.length;
  byId<HTMLButtonElement>("next").disabled = neighbour(1) === step;
  mark();
  drawState(view, row);
  editor.postMessage({ type: "step", step });
}

/** Marks the step in table and chart, and scrolls both to it. */
function mark(): void {
  for (const old of document.querySelectorAll(".now")) {
    old.classList.remove("now");
    old.removeAttribute("aria-current");
    if (old.hasAttribute("tabindex")) old.setAttribute("tabindex", "-1");
  }
  for (const found of document.querySelectorAll<HTMLElement | SVGElement>(`[data-step="${step}"]`)) {
    const hadFocus = document.activeElement?.hasAttribute("data-step") && found instanceof HTMLElement;
    found.classList.add("now");
    if (found instanceof HTMLElement) {
      found.setAttribute("aria-current", "step");
      found.tabIndex = 0;
      if (hadFocus) found.focus({ preventScroll: true });
    }
    const frame = found.closest<HTMLElement>(".scroll");
    if (!frame) continue;
    // Only the frame scrolls, never the page.
    const [inner, outer] = [found.getBoundingClientRect(), frame.getBoundingClientRect()];
    const head = frame.querySelector("thead, .lanes")?.getBoundingClientRect().height ?? 0;
    if (inner.top < outer.top + head) frame.scrollTop -= outer.top + head - inner.top + ROW;
    if (inner.bottom > outer.bottom) frame.scrollTop += inner.bottom - outer.bottom + ROW;
  }
}

function bounds({ rows }: View): [number, number] {
  return [page * PAGE, Math.min((page + 1) * PAGE, rows.length)];
}

function drawTable(shown: View): void {
  const [from, to] = bounds(shown);
  const start = element("tr");
  start.append(element("td", "number", "0"), element("td", "", ""), element("td", "", "(start)"), element("td"));
  start.dataset["step"] = "0";
  start.tabIndex = -1;
  const rows = shown.rows.slice(from, to).map((row) => tableRow(row, shown.loop));
  byId("rows").replaceChildren(...(from === 0 ? [start] : [jump(`steps ${from - PAGE + 1} to ${from}`, from)]), ...rows);
  if (to < shown.rows.length) byId("rows").append(jump(`steps from ${to + 1} on`, to + 1));
}

function tableRow(row: Row, loop: number | null): HTMLElement {
  const line = element("tr", row.isInCycle ? "cycle" : "");
  line.dataset["step"] = String(row.step);
  line.tabIndex = -1;
  const number = element("td", "number", String(row.step));
  if (row.isInCycle) {
    const sign = element("span", "sign", loop === row.step - 1 ? "↻" : "│");
    sign.setAttribute("role", "img");
    sign.setAttribute("aria-label", loop === row.step - 1 ? "the cycle begins" : "in the cycle");
    number.prepend(sign);
  }
  const changes = element("td", "changes");
  for (const change of row.changes) changes.append(element("code", "", changeText(change)), " ");
  const statement = element("td", "statement");
  statement.append(element("code", "", row.statement), element("span", "move", row.move));
  line.append(number, element("td", "thread", row.thread), statement, changes);
  return line;
}

function jump(text: string, to: number): HTMLElement {
  const line = element("tr");
  const cell = element("td");
  const button = element("button", "", text);
  cell.colSpan = 4;
  button.addEventListener("click", () => go(to));
  cell.append(button);
  line.append(cell);
  return line;
}

function drawState(shown: View, row: Row | undefined): void {
  const changed = new Set((row?.changes ?? []).map(({ name }) => name.replace(/(?<=.)[[.].*$/, "")));
  const rows = Object.entries(shown.states[step] ?? {}).map(([name, value]) => {
    const isChanged = changed.has(name) || row?.changes.some((change) => change.name.startsWith(name)) === true;
    const line = element("tr", isChanged ? "changed" : "");
    line.append(element("td", "", name), element("td", "", show(value)));
    return line;
  });
  byId("state").replaceChildren(...rows);
}

function drawChart(shown: View): void {
  const { chart } = shown;
  byId("chart-part").hidden = chart === null;
  if (chart === null) return;
  const frame = byId("chart");
  const width = Math.round(Math.min(Math.max((frame.clientWidth - GUTTER - 16) / chart.lanes.length, 104), 240));
  const lanes = element("div", "lanes");
  for (const name of chart.lanes) {
    const lane = element("span", "", name);
    lane.title = name;
    lanes.append(lane);
  }
  const svg = drawing("svg", {
    role: "img",
    "aria-label": "Sequence chart; the table has the same steps",
    class: "drawing",
    width: GUTTER + width * chart.lanes.length,
  });
  const height = drawSteps(svg, chart, width, shown);
  svg.setAttribute("height", String(height));
  frame.replaceChildren(lanes, svg);
  // A style that a script sets is no inline style for the security policy.
  frame.style.setProperty("--lane", `${width}px`);
}

/** Draws life lines, boxes and arrows of the steps of this part, and returns the height. */
function drawSteps(svg: SVGElement, chart: Chart, width: number, shown: View): number {
  const [from, to] = bounds(shown);
  const middle = (lane: number) => GUTTER + width * (lane + 0.5);
  const clipped = (text: string, pixels: number) => {
    const most = Math.floor(pixels / 6.7);
    return text.length > most ? `${text.slice(0, most - 1)}…` : text;
  };
  const parts: SVGElement[] = [];
  let y = 6;
  let cycleTop: number | undefined;
  for (let at = from; at < Math.min(to, chart.steps.length); at += 1) {
    const { lane, title } = chart.steps[at] ?? { lane: 0, title: "" };
    if (shown.loop === at || (at === from && shown.loop !== null && shown.loop < at)) cycleTop = y;
    const group = drawing("g", { class: "step", "data-step": at + 1 });
    for (const message of chart.messages.filter((message) => message.step === at + 1)) {
      const [x1, x2] = [middle(message.from), middle(message.to)];
      const end = x2 > x1 ? x2 - 1 : x2 + 1;
      const head = x2 > x1 ? -7 : 7;
      group.append(
        drawing("line", { class: message.isRendezvous ? "message" : "message delayed", x1, x2: end, y1: y + 17, y2: y + 17 }),
        drawing("path", { class: "head", d: `M${end},${y + 17} l${head},-4 v8 z` }),
        drawing("text", { x: (x1 + x2) / 2, y: y + 12, class: "label" }, clipped(message.label, Math.max(Math.abs(x2 - x1), width))),
      );
      y += ARROW;
    }
    const text = drawing("text", { x: middle(lane), y: y + 14 }, clipped(`${at + 1}. ${title}`, width - 14));
    const box = drawing("rect", { x: middle(lane) - width / 2 + 4, y, width: width - 8, height: ROW - 6, rx: 3 });
    group.append(box, text, drawing("title", {}, `${at + 1}. ${title}`));
    parts.push(group);
    y += ROW;
  }
  const lines = chart.lanes.map((_, lane) => drawing("line", { class: "life", x1: middle(lane), x2: middle(lane), y1: 0, y2: y }));
  if (cycleTop !== undefined) {
    lines.push(drawing("path", { class: "bracket", d: `M14,${cycleTop} H7 V${y - 6} H14` }));
  }
  svg.append(...lines, ...parts);
  return y;
}

function stepOf(target: EventTarget | null): number | undefined {
  const found = target instanceof Element ? target.closest("[data-step]")?.getAttribute("data-step") : undefined;
  return found == null ? undefined : Number(found);
}

byId("first").addEventListener("click", () => go(0));
byId("previous").addEventListener("click", () => go(neighbour(-1)));
byId("next").addEventListener("click", () => go(neighbour(1)));
byId("last").addEventListener("click", () => go(view?.rows.length ?? 0));
byId<HTMLInputElement>("slider").addEventListener("input", (event) => go(Number((event.target as HTMLInputElement).value)));
byId("traces").addEventListener("change", (event) => {
  editor.postMessage({ type: "choose", trace: (event.target as HTMLSelectElement).selectedIndex });
});
for (const id of ["rows", "chart"]) {
  byId(id).addEventListener("click", ({ target }) => {
    const to = stepOf(target);
    if (to === undefined) return;
    go(to);
    if (to > 0) editor.postMessage({ type: "reveal", step: to });
  });
}

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || !view) return;
  if (event.target instanceof HTMLSelectElement || event.target instanceof HTMLInputElement) return;
  const isRow = stepOf(event.target) !== undefined;
  const moves: Record<string, number> = { ArrowLeft: neighbour(-1), ArrowRight: neighbour(1), Home: 0, End: view.rows.length };
  if (isRow) Object.assign(moves, { ArrowUp: neighbour(-1), ArrowDown: neighbour(1) });
  const to = moves[event.key];
  if (to !== undefined) {
    event.preventDefault();
    go(to);
  } else if (isRow && event.key === "Enter" && step > 0) {
    editor.postMessage({ type: "reveal", step });
  }
});

window.addEventListener("message", ({ data }: MessageEvent<ToView>) => {
  if (data.type === "view") open(data.view);
  if (data.type === "move") go(neighbour(data.by));
  if (data.type === "chart" && view) {
    view.chart = data.chart;
    drawChart(view);
    mark();
  }
});
window.addEventListener("resize", () => {
  if (view) drawChart(view);
  mark();
});
editor.postMessage({ type: "ready" });
