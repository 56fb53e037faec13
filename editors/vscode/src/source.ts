// Places in the text of a model: the statement of a step, a part of a file. Lines and characters count from 0
// and in UTF-16 units, as the editor counts; Birk counts from 1 and in code points.

import type { Position, Region } from "./report";

export interface Place {
  line: number;
  start: number;
  endLine: number;
  end: number;
}

/** Longer statements are marked on their first line only. */
const MOST_LINES = 40;

/** A model's text, with comments and strings blanked out for those who look for signs. */
export class Source {
  readonly lines: string[];
  private readonly signs: string[];

  constructor(
    readonly whole: string,
    private readonly language: string,
  ) {
    this.lines = whole.split(/\r\n|\r|\n/);
    const blank = (comment: string) => comment.replace(/[^\r\n]/g, " ");
    this.signs = whole.replace(/\/\/.*|\/\*[^]*?(?:\*\/|$)|"(?:\\.|[^"\\\n])*"/g, blank).split(/\r\n|\r|\n/);
  }

  /** The statement or guarded command that begins at a position; nothing where the text is too short for it. */
  statement(position: Position): Place | undefined {
    const line = position.line - 1;
    const text = this.lines[line];
    if (text === undefined) return undefined;
    const start = units(text, position.column);
    const [endLine, end] = this.end(line, start);
    return { line, start, endLine, end };
  }

  /** A part of the text, as a report gives it; nothing where the text is too short for it. */
  region({ line, column, end_line, end_column }: Omit<Region, "file">): Place | undefined {
    const [first, last] = [this.lines[line - 1], this.lines[end_line - 1]];
    if (first === undefined || last === undefined) return undefined;
    return { line: line - 1, start: units(first, column), endLine: end_line - 1, end: units(last, end_column) };
  }

  /** The text of a place in one line. */
  text(place: Place | undefined): string {
    if (place === undefined) return "";
    const lines = this.lines.slice(place.line, place.endLine + 1);
    if (place.line === place.endLine) return (lines[0] ?? "").slice(place.start, place.end);
    lines[0] = (lines[0] ?? "").slice(place.start);
    lines[lines.length - 1] = (lines[lines.length - 1] ?? "").slice(0, place.end);
    return lines.join(" ").replace(/\s+/g, " ");
  }

  /** The end of a statement: its semicolon, its last brace, or where what contains it ends. */
  private end(line: number, start: number): [number, number] {
    let depth = 0;
    for (let at = line; at < Math.min(line + MOST_LINES, this.signs.length); at += 1) {
      const signs = this.signs[at] ?? "";
      for (let column = at === line ? start : 0; column < signs.length; column += 1) {
        const sign = signs[column] ?? "";
        if ("([{".includes(sign)) depth += 1;
        if (")]}".includes(sign)) depth -= 1;
        if (depth < 0 || (depth === 0 && this.separates(signs, column))) return this.trimmed(line, start, at, column);
        if (depth === 0 && (sign === ";" || (sign === "}" && this.isLast(at, column)))) return [at, column + 1];
      }
      // A line of Promela or DVE without a separator is a statement, too.
      if (depth === 0 && this.language === "promela") break;
    }
    const first = this.signs[line] ?? "";
    return [line, Math.max(first.trimEnd().length, start)];
  }

  private separates(signs: string, column: number): boolean {
    if (this.language === "promela") return /^(?:->|::)/.test(signs.slice(column));
    return this.language === "dve" && signs[column] === ",";
  }

  /** Whether a closing brace ends its statement: `goto` and `else` go on with it. */
  private isLast(line: number, column: number): boolean {
    const rest = `${(this.signs[line] ?? "").slice(column + 1)} ${this.signs[line + 1] ?? ""}`;
    return !/^\s*(?:goto|return|else|or)\b/.test(rest);
  }

  /** An end without the blanks before it. */
  private trimmed(line: number, start: number, endLine: number, column: number): [number, number] {
    for (let at = endLine; at >= line; at -= 1) {
      const text = (this.signs[at] ?? "").slice(0, at === endLine ? column : undefined).trimEnd();
      if (text.length > (at === line ? start : 0)) return [at, text.length];
    }
    return [line, start];
  }
}

/** A column of Birk in the editor's units. */
function units(line: string, column: number): number {
  return Array.from(line).slice(0, column - 1).join("").length;
}
