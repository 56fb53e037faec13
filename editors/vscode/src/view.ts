// What the trace view shows, and the messages between it and the editor.

import type { Chart } from "./chart";
import { rowsOf, tracesOf, type Report, type Row, type State } from "./report";
import type { Place, Source } from "./source";

export interface View {
  model: string;
  properties: { name: string; verdict: string; grade: string | null }[];
  covered: string;
  /** The traces to choose from, violations first, and the one that is shown. */
  traces: string[];
  chosen: number;
  why: string[];
  /** The step from which the rest repeats forever. */
  loop: number | null;
  rows: Row[];
  /** One more than rows. */
  states: State[];
  chart: Chart | null;
  /** How many steps are taken. */
  step: number;
}

export type FromView =
  | { type: "ready" }
  | { type: "step"; step: number }
  | { type: "reveal"; step: number }
  | { type: "choose"; trace: number };

export type ToView = { type: "view"; view: View } | { type: "chart"; chart: Chart | null } | { type: "move"; by: number };

/** A trace opens at its end, and a lasso at the first step of its cycle, as in the HTML report. */
export function viewOf(report: Report, chosen: number, source: Source): { view: View; places: (Place | undefined)[] } {
  const traces = tracesOf(report);
  const trace = traces[chosen]?.trace;
  if (trace === undefined) throw new Error(`there is no trace ${chosen}`);
  const places = trace.steps.map((step) => source.statement(step.source));
  const isLasso = trace.loop !== null && trace.loop < trace.length;
  const view: View = {
    model: report.model,
    properties: report.properties.map(({ name, verdict, grade }) => ({ name, verdict, grade })),
    covered: report.coverage.statement,
    traces: traces.map(({ name }) => name),
    chosen,
    why: [...(trace.why ?? []), ...(trace.shows === "part" ? ["  this trace shows a part of what decides the property"] : [])],
    loop: trace.loop,
    rows: rowsOf(trace, places.map((place) => source.text(place))),
    states: trace.states,
    chart: null,
    step: isLasso ? (trace.loop ?? 0) + 1 : trace.length,
  };
  return { view, places };
}
