// The moving part of the report: which step of which trace is shown. Long traces are shown a page at a time.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const PAGE = 400;
  const by = (id) => document.getElementById(id);
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const themes = { "": "dark", dark: "light", light: "" };
  by("theme")?.addEventListener("click", () => {
    const root = document.documentElement, next = themes[root.dataset.theme || ""];
    if (next) root.dataset.theme = next; else delete root.dataset.theme;
    by("theme").textContent = "theme: " + (next || "system");
  });
  for (const button of document.querySelectorAll("[data-copy]"))
    button.addEventListener("click", async () => {
      const text = by(button.dataset.copy).textContent;
      try { await navigator.clipboard.writeText(text); button.textContent = "copied"; }
      catch { getSelection().selectAllChildren(by(button.dataset.copy)); button.textContent = "selected: copy it"; }
    });
  if (!data.traces.length) return;

  let trace = data.traces[0], at = 0, page = -1, states = [];
  const steps = () => trace.steps;
  const title = (step) => data.words[step.t];

  // A state every hundred steps; the others are found from the nearest one before.
  const prepare = () => {
    let now = trace.initial.slice();
    states = [now.slice()];
    steps().forEach((step, index) => {
      for (let i = 0; i < step.c.length; i += 2) now[step.c[i]] = step.c[i + 1];
      if ((index + 1) % 100 === 0) states.push(now.slice());
    });
  };
  const stateAt = (index) => {
    const base = Math.floor(index / 100), now = states[base].slice();
    for (let s = base * 100; s < index; s++) {
      const c = steps()[s].c;
      for (let i = 0; i < c.length; i += 2) now[c[i]] = c[i + 1];
    }
    return now;
  };
  const changes = (step) => {
    const parts = [];
    for (let i = 0; i < step.c.length; i += 2)
      if (step.c[i] !== step.own) parts.push(data.names[step.c[i]] + " = " + data.words[step.c[i + 1]]);
    return parts.join(", ");
  };
  // What an explanation says of a step.
  const ROLES = {
    matters: "matters", replaceable: "does not matter: another one in its place leads there, too", forced: "does not matter: there was no other",
    unavoidable: "does not matter: every execution leads there from here on", superfluous: "is superfluous: the others lead there without it",
    unknown: "may matter or not",
  };
  const inLoop = (index) => trace.loop !== null && index > trace.loop;
  const pageOf = (index) => Math.floor(Math.max(0, index - 1) / PAGE);
  const pageRange = (all) => all ? [0, steps().length] : [page * PAGE, Math.min(steps().length, (page + 1) * PAGE)];

  // The chart is as wide as it needs to be; beside it are state and source where there is room, otherwise below it.
  const BESIDE = 340, SPACE = 16, FRAME = 40, SMALLEST = 0.75;
  // What does not fit is drawn smaller, if it then fits and can be read.
  const fit = (width) => {
    const ratio = Math.min(1, (document.querySelector(".panes").clientWidth - FRAME) / width);
    return ratio < SMALLEST ? 1 : ratio;
  };
  const folded = new Set();
  let range = [0, 0], chosenZoom = null;
  const say = (s) => `${s + 1}. ${data.words[trace.lanes[steps()[s].l]]}: ${title(steps()[s])}${changes(steps()[s]) ? "; " + changes(steps()[s]) : ""}`;
  const drawChart = (from, to) => {
    range = [from, to];
    const plan = sequenceChart.layout(trace, data.words, from, to, folded);
    const panes = document.querySelector(".panes"), room = panes.clientWidth;
    const fitting = fit(plan.width), zoom = chosenZoom ?? fitting, needed = Math.ceil(plan.width * fitting) + FRAME;
    panes.dataset.layout = room < 900 ? "one" : isAutomata() ? "below" : needed + 2 * (SPACE + BESIDE) <= room ? "three" : needed + SPACE + BESIDE <= room ? "two" : "below";
    panes.style.setProperty("--chart", needed + "px");
    by("chart").replaceChildren(...sequenceChart.draw(trace, data.words, plan, zoom, { say, go, toggle }));
    if (isAutomata()) scaleAutomata(); else by("zoom").textContent = Math.round(zoom * 100) + " %";
  };
  const redraw = () => { drawChart(...range); mark(); drawSource(); };
  const toggle = (name) => {
    if (!folded.delete(name)) folded.add(name);
    redraw();
    by("chart").querySelector(`[data-lane="${CSS.escape(name)}"]`)?.focus();
  };

  // The automata of the threads: they are drawn already, and lit here.
  const placeOf = new Map(data.names.map((name, i) => [name, i]));
  const automata = [...document.querySelectorAll("#automata .automaton")].map((element) => ({
    svg: element.querySelector("svg"),
    instances: JSON.parse(element.dataset.instances).map(([name, index]) => [placeOf.get(name), index]),
    boxes: [...element.querySelectorAll("[data-location]")],
    arrows: [...element.querySelectorAll("[data-transitions]")].map((arrow) => [arrow, new Set(arrow.dataset.transitions.split(" ").map(Number))]),
  }));
  const isAutomata = () => !by("of-automata").hidden;
  let automataZoom = null;
  const scaleAutomata = () => {
    for (const { svg } of automata) {
      const { width, height } = svg.viewBox.baseVal, zoom = automataZoom ?? fit(width + 12);
      svg.setAttribute("width", width * zoom);
      svg.setAttribute("height", height * zoom);
    }
    by("zoom").textContent = Math.round((automataZoom ?? Math.min(1, ...automata.map(({ svg }) => fit(svg.viewBox.baseVal.width + 12)))) * 100) + " %";
  };
  const drawAutomata = () => {
    if (!isAutomata()) return;
    const now = stateAt(at), taken = at > 0 ? steps()[at - 1].p : null;
    let current = null;
    for (const { instances, boxes, arrows } of automata) {
      const here = new Map();
      for (const [place, index] of instances) {
        const location = data.words[now[place]];
        here.set(location, [...(here.get(location) ?? []), `[${index}]`]);
      }
      for (const box of boxes) {
        const indices = here.get(box.dataset.location) ?? [], line = box.querySelector(".here");
        box.classList.toggle("lit", indices.length > 0);
        if (!line) continue;
        line.dataset.room ??= line.textContent.length;
        const text = indices.join(" ");
        line.textContent = text.length > Number(line.dataset.room) ? `${indices.length} instances` : text;
      }
      for (const [arrow, transitions] of arrows) {
        const isTaken = taken !== null && transitions.has(taken);
        arrow.classList.toggle("lit", isTaken);
        if (isTaken) current = arrow;
      }
    }
    near(by("automata"), current);
  };
  const chooseTab = (isOfAutomata) => {
    by("of-automata").hidden = !isOfAutomata;
    by("chart").hidden = isOfAutomata;
    by("tab-automata").setAttribute("aria-selected", isOfAutomata);
    by("tab-chart").setAttribute("aria-selected", !isOfAutomata);
    redraw();
    drawAutomata();
  };
  // What is under the pointer, or in the middle, stays where it is.
  const zoomBy = (factor, x, y) => {
    if (isAutomata()) {
      automataZoom = factor === null ? null : Math.min(3, Math.max(0.3, (automataZoom ?? 1) * factor));
      return scaleAutomata();
    }
    const box = by("chart"), svg = box.querySelector(".rows"), old = svg.clientWidth / svg.viewBox.baseVal.width;
    chosenZoom = factor === null ? null : Math.min(3, Math.max(0.3, old * factor));
    const [left, top] = [box.scrollLeft + (x ?? box.clientWidth / 2), box.scrollTop + (y ?? box.clientHeight / 2)];
    drawChart(...range);
    const now = by("chart").querySelector(".rows"), grown = now.clientWidth / now.viewBox.baseVal.width / old;
    box.scrollLeft += left * (grown - 1);
    box.scrollTop += top * (grown - 1);
    mark(false);
  };

  const drawTable = (from, to) => {
    const body = by("steps").tBodies[0], rows = [];
    const row = (index, who, what, change, place) => {
      const step = steps()[index - 1], role = step && ROLES[step.role];
      const kind = step && sequenceChart.isMinor(step) ? "minor" : trace.loop === null ? null : inLoop(index) ? "loops" : "stem";
      const line = make("tr", { "data-step": index, class: kind, title: role ? `This step ${role}.` : null },
        make("td", {}, make("button", { type: "button", "aria-label": "go to step " + index }, String(index))),
        make("td", {}, who), make("td", {}, what), make("td", {}, change), make("td", { class: "soft" }, place));
      line.addEventListener("click", () => go(index));
      return line;
    };
    if (from === 0) rows.push(row(0, "(start)", "", "", ""));
    for (let s = from; s < to; s++) {
      const step = steps()[s], note = inLoop(s + 1) && s === trace.loop ? "loop begins: " : "";
      rows.push(row(s + 1, data.words[trace.lanes[step.l]], title(step), note + changes(step), "line " + data.lines[step.p]));
    }
    body.replaceChildren(...rows);
    by("page").textContent = steps().length > PAGE ? `steps ${from + 1} to ${to} of ${steps().length}` : "";
  };

  // The names as a tree: `link[0].kind` is below `[0]` below `link`. What has one part only is not a level of its own.
  const tree = { label: "", key: "", parts: new Map(), values: [] };
  data.names.forEach((name, i) => {
    let node = tree;
    for (const part of name.match(/\.?[^.[@]+|\[\d+\]|@/g)) {
      if (!node.parts.has(part)) node.parts.set(part, { label: part, key: node.key + part, parts: new Map(), values: [] });
      node = node.parts.get(part);
      node.values.push(i);
    }
  });
  // Small groups and those that this step changes are open, unless the reader has chosen.
  const FEW = 8, chosen = new Map();
  let onPaper = false;
  const drawState = () => {
    const now = stateAt(at), before = at > 0 ? stateAt(at - 1) : now, rows = [];
    const isChanged = (i) => now[i] !== before[i];
    const row = (label, i, depth) => rows.push(make("tr", { class: isChanged(i) ? "changed" : null },
      make("th", { scope: "row", class: "mono", style: `padding-left: ${depth}em`, title: data.names[i] }, label),
      make("td", { class: "mono" }, data.words[now[i]], isChanged(i) ? make("span", { class: "soft" }, " was " + data.words[before[i]]) : "")));
    const branch = (node, depth, label) => {
      if (node.values.length === 1) return row(label + data.names[node.values[0]].slice(node.key.length), node.values[0], depth);
      if (node.parts.size === 1) { const [part] = node.parts.values(); return branch(part, depth, label + part.label); }
      const open = onPaper || (chosen.get(node.key) ?? (node.values.length <= FEW || node.values.some(isChanged)));
      const toggle = make("button", { type: "button", class: "mono toggle", "aria-expanded": open }, `${open ? "▾" : "▸"} ${label}`);
      toggle.addEventListener("click", () => {
        chosen.set(node.key, !open);
        drawState();
        by("values").querySelector(`[data-group="${CSS.escape(node.key)}"] button`)?.focus();
      });
      rows.push(make("tr", { class: "group", "data-group": node.key }, make("th", { scope: "row", style: `padding-left: ${depth}em` }, toggle), make("td", { class: "soft" }, `${node.values.length} values`)));
      if (open) for (const part of node.parts.values()) branch(part, depth + 1, part.label.replace(/^\./, ""));
    };
    data.names.forEach((name, i) => { if (isChanged(i)) row(name, i, 0); });
    if (by("only").checked) {
      if (!rows.length) rows.push(make("tr", {}, make("td", { colspan: 2, class: "soft" }, "no value changed")));
    } else {
      if (rows.length) rows.push(make("tr", { class: "soft" }, make("th", { scope: "row", colspan: 2 }, "all values")));
      for (const part of tree.parts.values()) branch(part, 0, part.label);
    }
    by("values").tBodies[0].replaceChildren(...rows);
  };

  const near = (box, element, above = 30) => {
    if (!element) return;
    const inner = element.getBoundingClientRect(), outer = box.getBoundingClientRect();
    if (inner.top < outer.top + above || inner.bottom > outer.bottom - 30) box.scrollTop += inner.top - outer.top - outer.height / 2;
    if (inner.left < outer.left || inner.right > outer.right) box.scrollLeft += inner.left - outer.left - outer.width / 2;
  };
  const executed = new Map();
  const noteLines = () => {
    executed.clear();
    steps().forEach((step, index) => {
      for (const [file, first, last] of data.places[step.p])
        for (let line = first; line <= last; line++) if (!executed.has(file + ":" + line)) executed.set(file + ":" + line, index + 1);
    });
  };
  const drawSource = () => {
    const places = at > 0 ? data.places[steps()[at - 1].p] : [];
    let current = null;
    for (const line of document.querySelectorAll("[data-line]")) {
      const key = line.dataset.line, [file, number] = key.split(":").map(Number);
      const now = places.some((place) => file === place[0] && number >= place[1] && number <= place[2]);
      line.classList.toggle("now", now);
      line.classList.toggle("ran", executed.has(key) && executed.get(key) <= at);
      if (now && !current) current = line;
    }
    near(by("source"), current);
  };

  const mark = (follows = true) => {
    for (const old of document.querySelectorAll("#chart .now")) old.classList.remove("now");
    for (const old of document.querySelectorAll("#steps [aria-current]")) old.removeAttribute("aria-current");
    const row = document.querySelector(`#chart [data-step="${at}"]`), line = document.querySelector(`#steps [data-step="${at}"]`);
    row?.classList.add("now");
    line?.setAttribute("aria-current", "step");
    if (!follows) return;
    near(by("chart"), row?.querySelector(".box"), 10 + by("chart").firstElementChild.clientHeight);
    near(by("table"), line);
  };
  const show = (all = false) => {
    const wanted = pageOf(at);
    if (all || wanted !== page) {
      page = wanted;
      const [from, to] = pageRange(all);
      drawChart(from, to);
      drawTable(from, to);
    }
    by("slider").value = at;
    by("slider").setAttribute("aria-valuetext", "step " + at);
    const step = at > 0 ? steps()[at - 1] : null;
    const phase = trace.loop === null ? "" : inLoop(at) ? " (in the loop)" : " (in the stem)";
    by("where").textContent = step ? `Step ${at} of ${steps().length}${phase}: ${data.words[trace.lanes[step.l]]}, ${title(step)}${step.role ? "; it " + ROLES[step.role] : ""}` : `Start of ${steps().length} steps${phase}`;
    drawState();
    // What changed stands at the top.
    by("values").closest(".scroll").scrollTop = 0;
    drawSource();
    mark();
    drawAutomata();
  };
  const go = (to) => { at = Math.max(0, Math.min(steps().length, to)); show(); };
  const choose = (index) => {
    trace = data.traces[index];
    // A trace opens where it shows what it is for: at its end, or where it begins to repeat.
    at = Math.min(steps().length, trace.loop === null ? steps().length : trace.loop + 1);
    page = -1;
    by("slider").max = steps().length;
    by("ending").textContent = trace.ending;
    for (const kind of ["mermaid", "plantuml"]) by(kind).textContent = trace[kind];
    prepare(); noteLines(); show();
  };
  by("slider").addEventListener("input", (event) => go(Number(event.target.value)));
  by("back").addEventListener("click", () => go(at - 1));
  by("next").addEventListener("click", () => go(at + 1));
  by("first").addEventListener("click", () => go(0));
  by("end").addEventListener("click", () => go(steps().length));
  by("only").addEventListener("change", drawState);
  by("tab-chart").addEventListener("click", () => chooseTab(false));
  by("tab-automata").addEventListener("click", () => chooseTab(true));
  by("zoom-in").addEventListener("click", () => zoomBy(1.25));
  by("zoom-out").addEventListener("click", () => zoomBy(0.8));
  by("zoom").addEventListener("click", () => zoomBy(null));
  for (const id of ["chart", "automata"])
    by(id).addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const box = by(id).getBoundingClientRect();
      zoomBy(Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
  let resized = 0;
  addEventListener("resize", () => { cancelAnimationFrame(resized); resized = requestAnimationFrame(redraw); });
  by("trace").addEventListener("change", (event) => choose(Number(event.target.value)));
  addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, pre, button, [role=button]") || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: steps().length }[event.key];
    if (to !== undefined) { event.preventDefault(); go(to); }
  });
  // On paper there is no slider: show the whole run, unless it would fill a book.
  addEventListener("beforeprint", () => { onPaper = true; show(steps().length <= 2000); });
  addEventListener("afterprint", () => { onPaper = false; page = -1; show(); });
  choose(0);
})();
