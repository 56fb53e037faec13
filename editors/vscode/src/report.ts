// The JSON report of `birk check` (docs/src/json.md), and what is shown of it: pure functions, without the editor.

/** A value of a state: arrays, sets and channels are lists, records are objects. */
export type Value = null | boolean | number | string | Value[] | { [field: string]: Value };

/** Every variable of a state by name; the location of a thread `T` is `T@`. */
export type State = Record<string, Value>;

export interface Position {
  line: number;
  column: number;
}

/** A part of a file: its first letter, and behind its last. */
export interface Region extends Position {
  file: string;
  end_line: number;
  end_column: number;
}

export interface Property {
  name: string;
  kind: string;
  verdict: string;
  grade: string | null;
  /** Null for what is asked of every model. */
  source: Region | null;
  trace: number | null;
  untraced_steps?: number;
  reason?: string;
}

export interface Step {
  thread: string;
  from: string;
  to: string | null;
  source: Position;
  changes: State;
}

export interface Trace {
  property: string | null;
  length: number;
  /** The step from which the rest repeats forever; equal to `length` where the trace stutters. */
  loop: number | null;
  steps: Step[];
  states: State[];
  replay: string;
  why?: string[];
  shows?: string;
  fault?: { kind: string; message: string; source: Position };
}

export interface Coverage {
  kind: string;
  grade: string;
  /** As the report for people says it. */
  statement: string;
  unchecked?: string[];
}

export interface Report {
  schema: number;
  model: string;
  system: string;
  engine: string;
  verdict: string;
  coverage: Coverage;
  stopped_by: string;
  properties: Property[];
  stats: { states: number | string | null; max_depth: number; seconds: number };
  traces: Trace[];
  reproduce: string;
  continue: string | null;
}

/** The version of the format that these types describe. */
const SCHEMA = 1;

/** Reads a report, and refuses what is none. */
export function parseReport(text: string): Report {
  const report = JSON.parse(text) as Partial<Report> | null;
  if (report?.schema !== SCHEMA) {
    throw new Error(`the report has the schema ${String(report?.schema)}, and this extension reads schema ${SCHEMA}`);
  }
  return report as Report;
}

/** A value as reports for people write it. */
export function show(value: Value | undefined): string {
  if (value === undefined) return "";
  if (Array.isArray(value)) return `[${value.map(show).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    return `{${Object.entries(value).map(([field, of]) => `${field}: ${show(of)}`).join(", ")}}`;
  }
  return String(value);
}

/** The value of a variable or of a part of it, such as `a[0]`, `r.x` or `T[1].queue`. */
export function valueAt(state: State | undefined, name: string): Value | undefined {
  if (state === undefined) return undefined;
  if (name in state) return state[name];
  // The longest variable that the name begins with; the rest are indices and fields.
  for (let end = name.length - 1; end > 0; end -= 1) {
    const variable = name.slice(0, end);
    if (!(variable in state)) continue;
    const parts = name.slice(end).match(/\[(\d+)\]|\.([^.[\]]+)/g) ?? [];
    if (parts.join("") !== name.slice(end)) continue;
    return parts.reduce<Value | undefined>(part, state[variable]);
  }
  return undefined;
}

function part(value: Value | undefined, path: string): Value | undefined {
  if (path.startsWith("[")) return Array.isArray(value) ? value[Number(path.slice(1, -1))] : undefined;
  const isRecord = value !== null && typeof value === "object" && !Array.isArray(value);
  return isRecord ? value[path.slice(1)] : undefined;
}

/** A changed value, before and after. */
export interface Change {
  name: string;
  before: string;
  after: string;
}

/** A row of the trace view: one step. */
export interface Row {
  /** From 1. */
  step: number;
  thread: string;
  /** The locations of the thread, `from → to`. */
  move: string;
  /** The statement as it is written; empty where the source is not at hand. */
  statement: string;
  changes: Change[];
  isInCycle: boolean;
}

/** The rows of a trace; `statements` has the text of each step. */
export function rowsOf(trace: Trace, statements: string[]): Row[] {
  return trace.steps.map((step, at) => ({
    step: at + 1,
    thread: step.thread,
    move: `${step.from} → ${step.to ?? "fault"}`,
    statement: statements[at] ?? "",
    changes: Object.entries(step.changes).map(([name, after]) => ({
      name,
      before: show(valueAt(trace.states[at], name)),
      after: show(after),
    })),
    isInCycle: trace.loop !== null && at >= trace.loop,
  }));
}

export function changeText(change: Change): string {
  return `${change.name}: ${change.before} → ${change.after}`;
}

/** The text beside the statement of a step in the editor. */
export function besideLine(row: Row): string {
  const changes = row.changes.map(changeText).join(", ") || row.move;
  const text = `${row.step}. ${row.thread}: ${changes}`;
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
}

/** `1,234 states`; digits that no number holds stay as they are. */
export function counted(count: number | string | null, word: string): string {
  const digits = String(count ?? 0).replace(/\B(?=(\d{3})+$)/g, ",");
  return `${digits} ${word}${digits === "1" ? "" : "s"}`;
}

/** The verdict of one property in a sentence. */
export function verdictOf(report: Report, property: Property): string {
  const trace = property.trace === null ? undefined : report.traces[property.trace];
  const name = `\`${property.name}\``;
  if (property.reason !== undefined) return `${name} was not checked: ${property.reason}`;
  switch (property.verdict) {
    case "violated":
      if (trace) return `${name} is violated in ${counted(trace.length, "step")}`;
      if (property.untraced_steps !== undefined) return `${name} is violated in ${counted(property.untraced_steps, "step")}; the trace is not known`;
      return `${name} is violated: nothing of the kind can be reached`;
    case "holds":
      return trace ? `${name} holds: a witness has ${counted(trace.length, "step")}` : `${name} holds`;
    default:
      return `${name} is not decided. Covered: ${report.coverage.statement}`;
  }
}

/** The report in lines: the whole, a line for each property, the coverage statement. */
export function reportLines(report: Report): string[] {
  const width = Math.max(...report.properties.map((property) => property.name.length));
  const lines = report.properties.map((property) => {
    const trace = property.trace === null ? undefined : report.traces[property.trace];
    const note = property.reason ? `not checked: ${property.reason}` : trace ? counted(trace.length, "step") : "";
    return `  ${property.verdict.padEnd(12)} ${property.grade ?? "-"}  ${property.name.padEnd(width)}  ${note}`.trimEnd();
  });
  const unasked = (report.coverage.unchecked ?? []).map((name) => `  not checked     ${name}  (labels: --property ${name})`);
  return [`${report.verdict}: ${report.model} (${report.system})`, ...lines, ...unasked, `covered: ${report.coverage.statement}`];
}

/** The traces to show: violations before witnesses. */
export function tracesOf(report: Report): { trace: Trace; name: string }[] {
  const verdict = (trace: Trace) => report.properties.find((property) => property.name === trace.property)?.verdict;
  return report.traces
    .map((trace) => ({
      trace,
      name: `${trace.property ?? "trace"} ${verdict(trace) === "violated" ? "violated" : "reached"} (${counted(trace.length, "step")})`,
      isViolation: verdict(trace) === "violated",
    }))
    .sort((a, b) => Number(b.isViolation) - Number(a.isViolation))
    .map(({ trace, name }) => ({ trace, name }));
}
