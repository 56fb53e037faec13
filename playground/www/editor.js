// A text field with line numbers, colours and places of diagnostics. The text is that of a plain `textarea`; what is coloured lies behind it.

// Of BIR, then of Promela and DVE.
const KEYWORDS = new Set(`
  system const typealias enum boolean byte int function active thread loc when do goto return choose assert assume start
  skip invariant reachable ltl true false forall exists library import record procedure ctl mu nu expect refines set of
  if else while for either or atomic await break send receive broadcast except sequence map to crashes in let count sum always eventually next until
  proctype init run mtype typedef bit bool byte short unsigned inline never unless timeout atomic d_step do od fi printf hidden
  process state trans commit guard effect sync async accept property channel`.trim().split(/\s+/));
const TOKEN = /(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|("[^"\n]*")|\b(\d+)\b|([A-Za-z_]\w*)/g;

const escaped = (text) => text.replace(/[&<>]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[letter]);

// The text as HTML, with every token in its colour.
const coloured = (text) => {
  let out = "", at = 0;
  for (const token of text.matchAll(TOKEN)) {
    const [whole, comment, string, number, word] = token;
    const kind = comment ? "comment" : string ? "string" : number ? "number" : KEYWORDS.has(word) ? "keyword" : null;
    if (!kind) continue;
    out += escaped(text.slice(at, token.index)) + `<span class="${kind}">${escaped(whole)}</span>`;
    at = token.index + whole.length;
  }
  return out + escaped(text.slice(at));
};

// Where bytes of UTF-8 lie in a string.
export const indexOf = (text, byte) => new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, byte)).length;

export class Editor {
  constructor(field, back, gutter) {
    Object.assign(this, { field, back, gutter, marks: [], heard: [] });
    field.addEventListener("input", () => { this.marks = []; this.draw(); this.heard.forEach((tell) => tell()); });
    field.addEventListener("scroll", () => this.follow());
    field.addEventListener("keydown", (event) => this.key(event));
    this.draw();
  }

  get text() { return this.field.value; }

  set text(text) {
    this.field.value = text;
    this.field.scrollTop = 0;
    this.field.dispatchEvent(new Event("input"));
  }

  onChange(tell) { this.heard.push(tell); }

  // Replaces a part as if it had been typed, so that it can be undone.
  replace(start, end, by) {
    this.field.focus();
    this.field.setSelectionRange(start, end);
    if (!document.execCommand("insertText", false, by)) {
      this.field.setRangeText(by, start, end, "end");
      this.field.dispatchEvent(new Event("input"));
    }
  }

  // Underlines places: {start, end, severity}, in letters.
  mark(marks) {
    this.marks = marks;
    this.draw();
  }

  go(start, end) {
    this.field.focus();
    this.field.setSelectionRange(start, end);
    const line = this.text.slice(0, start).split("\n").length - 1;
    this.field.scrollTop = Math.max(0, line * parseFloat(getComputedStyle(this.field).lineHeight) - this.field.clientHeight / 2);
  }

  // Two spaces instead of a tab; Escape gives the tab key back to the page.
  key(event) {
    if (event.key === "Escape") this.field.dataset.leaves = "yes";
    else if (event.key === "Tab" && !event.shiftKey && !this.field.dataset.leaves) {
      event.preventDefault();
      this.replace(this.field.selectionStart, this.field.selectionEnd, "  ");
    } else if (event.key !== "Shift") delete this.field.dataset.leaves;
  }

  draw() {
    const text = this.text, rows = text.split("\n").length;
    this.gutter.textContent = Array.from({ length: rows }, (_, i) => i + 1).join("\n");
    this.back.innerHTML = `<div class="colours">${coloured(text)}\n</div><div class="marks">${this.marked(text)}\n</div>`;
    this.follow();
  }

  marked(text) {
    let out = "", at = 0;
    for (const { start, end, severity } of [...this.marks].sort((a, b) => a.start - b.start)) {
      if (start < at) continue;
      const stop = Math.max(end, start + 1);
      out += escaped(text.slice(at, start)) + `<span class="${severity}">${escaped(text.slice(start, stop)) || " "}</span>`;
      at = stop;
    }
    return out + escaped(text.slice(at));
  }

  follow() {
    this.back.style.transform = `translate(${-this.field.scrollLeft}px, ${-this.field.scrollTop}px)`;
    this.gutter.style.transform = `translateY(${-this.field.scrollTop}px)`;
  }
}
