"use strict";
// The sequence chart of a trace: a lane for each thread, a row for each step, an arrow for each message.
// A row has one box. So an arrow that runs along the rows of its ends, and down between two lanes, passes no other box.
const sequenceChart = (() => {
  const FONT = 'ui-monospace, "DejaVu Sans Mono", Menlo, monospace';
  const TEXT = "12px " + FONT, BOLD = "bold 12px " + FONT, LABEL = "11px " + FONT;
  // Numbers and the bracket of a loop stand left of the lanes.
  const LEFT = 66, FOOT = 26, HEAD = 28, BOX = 22, PORT = 13, GAP = 26, TRACK = 8, TIP = 14, FOLDED = 9, MOST = 44;
  const canvas = document.createElement("canvas").getContext("2d"), known = new Map();
  const measure = (text, font) => {
    const key = font + text;
    if (!known.has(key)) { canvas.font = font; known.set(key, canvas.measureText(text).width); }
    return known.get(key);
  };
  // Steps of which it is known that they do not matter to the end of the trace.
  const isMinor = (step) => Boolean(step.role) && step.role !== "matters" && step.role !== "unknown";
  const short = (text) => (text.length > MOST ? text.slice(0, MOST - 1) + "…" : text);
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  // The boxes of a lane are as wide as the widest of the whole trace, so that pages look alike.
  const widest = new WeakMap();
  const titles = (trace, words) => {
    if (!widest.has(trace)) {
      const seen = trace.lanes.map(() => new Set());
      for (const step of trace.steps) seen[step.l].add(step.t);
      widest.set(trace, seen.map((set) => Math.max(0, ...[...set].map((word) => measure(short(words[word]), TEXT)))));
    }
    return widest.get(trace);
  };

  // A message [sent, taken, from, to, label] leaves its sender on the side of its taker.
  const side = (message) => (message[3] < message[2] ? -1 : 1);
  const meets = (message) => (message[2] === message[3] ? 1 : -side(message));

  // What is drawn of the steps from..to: lanes, rows and arrows, with their places.
  const layout = (trace, words, from, to, folded) => {
    const names = trace.lanes.map((lane) => words[lane]), widths = titles(trace, words);
    const lanes = names.map((name, i) => ({
      name, isFolded: folded.has(name),
      half: folded.has(name) ? FOLDED : Math.max(36, widths[i] / 2 + 9, measure("▾ " + name, BOLD) / 2 - 6),
    }));
    const arrows = trace.messages.filter(([sent, taken]) => taken >= from && sent < to).map((message) => {
      const [sent, taken, a, b, label] = message, isHidden = lanes[a].isFolded || lanes[b].isFolded;
      return { message, sent, taken, a, b, text: words[label], room: isHidden || taken >= to ? 0 : measure(words[label], LABEL) + TIP };
    });

    // Where arrows leave and meet the boxes of each row: what is taken first, then what is sent.
    const ports = new Map(), port = (row, way, arrow) => {
      const key = row + (way < 0 ? "l" : "r");
      if (!ports.has(key)) ports.set(key, []);
      ports.get(key).push(arrow);
    };
    for (const arrow of arrows) if (arrow.taken < to && arrow.taken !== arrow.sent) port(arrow.taken, meets(arrow.message), arrow);
    for (const arrow of arrows) if (arrow.sent >= from) port(arrow.sent, side(arrow.message), arrow);
    const rows = [];
    let y = 0;
    for (let s = from; s < to; s++) {
      const most = Math.max(ports.get(s + "l")?.length ?? 0, ports.get(s + "r")?.length ?? 0);
      const box = Math.max(BOX, most * PORT + 6);
      rows.push({ step: s, top: y, middle: y + box / 2 + 4, box, height: box + 8 });
      y += box + 8;
    }
    const portAt = (row, way, arrow) => {
      const all = ports.get(row + (way < 0 ? "l" : "r"));
      return rows[row - from].middle + (all.indexOf(arrow) - (all.length - 1) / 2) * PORT;
    };

    // Between two lanes, arrows that go down at the same time have tracks of their own.
    const tracks = new Map();
    for (const arrow of [...arrows].sort((one, other) => one.sent - other.sent)) {
      if (arrow.sent === arrow.taken) continue;
      const key = arrow.a + (side(arrow.message) < 0 ? "l" : "r");
      if (!tracks.has(key)) tracks.set(key, []);
      const ends = tracks.get(key), free = ends.findIndex((end) => end < arrow.sent);
      arrow.track = free < 0 ? ends.length : free;
      ends[arrow.track] = arrow.taken;
    }
    const tracksOf = (lane, way) => tracks.get(lane + (way < 0 ? "l" : "r"))?.length ?? 0;

    // gaps[i] is left of lane i, the last one right of all.
    const gaps = lanes.map((_, i) => i === 0 ? 8 : GAP);
    gaps.push(10);
    for (let i = 0; i <= lanes.length; i++) {
      const own = (i > 0 ? tracksOf(i - 1, 1) : 0) + (i < lanes.length ? tracksOf(i, -1) : 0);
      if (own) gaps[i] = Math.max(gaps[i], own * TRACK + 18);
    }
    const offset = (arrow) => (arrow.sent === arrow.taken ? 0 : 10 + arrow.track * TRACK);
    // Every label has room before its box: what is missing is added to the gap there.
    const between = (arrow) => {
      const low = Math.min(arrow.a, arrow.b), high = Math.max(arrow.a, arrow.b);
      let room = gaps[high];
      for (let i = low + 1; i < high; i++) room += 2 * lanes[i].half + gaps[i];
      return room + (arrow.sent === arrow.taken ? lanes[arrow.b].half : 0);
    };
    for (const arrow of arrows) {
      if (!arrow.room) continue;
      if (arrow.a === arrow.b) { gaps[arrow.a + 1] = Math.max(gaps[arrow.a + 1], offset(arrow) + arrow.room + 4); continue; }
      const missing = offset(arrow) + arrow.room + 6 - between(arrow);
      if (missing > 0) gaps[arrow.a < arrow.b ? arrow.b : arrow.b + 1] += missing;
    }
    let x = LEFT;
    lanes.forEach((lane, i) => { x += gaps[i]; lane.x = x + lane.half; x += 2 * lane.half; });
    const width = Math.ceil(x + gaps[lanes.length]), bottom = y;

    for (const arrow of arrows) {
      const way = side(arrow.message), back = meets(arrow.message), { a, b, sent, taken } = arrow;
      const start = { x: lanes[a].x + way * lanes[a].half, y: sent < from ? -4 : portAt(sent, way, arrow) };
      if (sent === taken) {
        arrow.points = [start, { x: lanes[b].x - way * 2, y: start.y }];
        arrow.label = { x: lanes[b].x - way * TIP, y: start.y - 5, anchor: way > 0 ? "end" : "start" };
        continue;
      }
      const track = start.x + way * offset(arrow);
      const end = { x: lanes[b].x + back * lanes[b].half, y: taken >= to ? bottom + 4 : portAt(taken, back, arrow) };
      arrow.points = [...(sent < from ? [] : [start]), { x: track, y: start.y }, { x: track, y: end.y }, ...(taken >= to ? [] : [end])];
      arrow.label = { x: end.x + back * TIP, y: end.y - 5, anchor: back > 0 ? "start" : "end" };
    }
    const head = lanes.some((lane) => lane.isFolded)
      ? Math.min(170, Math.max(HEAD, ...lanes.filter((lane) => lane.isFolded).map((lane) => measure("▸ " + lane.name, BOLD) + 14))) : HEAD;
    return { lanes, rows, arrows, width, height: bottom + FOOT, bottom, head, from, to };
  };

  // A line with round corners.
  const line = (points) => {
    let path = `M${points[0].x} ${points[0].y}`;
    for (let i = 1; i < points.length - 1; i++) {
      const [before, here, after] = points.slice(i - 1, i + 2);
      const toward = (other) => {
        const length = Math.hypot(other.x - here.x, other.y - here.y), part = length ? Math.min(6, length / 2) / length : 0;
        return `${here.x + (other.x - here.x) * part} ${here.y + (other.y - here.y) * part}`;
      };
      path += `L${toward(before)}Q${here.x} ${here.y} ${toward(after)}`;
    }
    const last = points[points.length - 1];
    return path + `L${last.x} ${last.y}`;
  };

  const drawHeads = (plan, zoom, toggle) => {
    const svg = make("svg", { class: "heads", width: plan.width * zoom, height: plan.head * zoom, viewBox: `0 0 ${plan.width} ${plan.head}` });
    for (const lane of plan.lanes) {
      const head = make("g", { class: "head", role: "button", tabindex: 0, "data-lane": lane.name, "aria-expanded": !lane.isFolded, "aria-label": `thread ${lane.name}` });
      const middle = plan.head - 10;
      const half = lane.isFolded ? FOLDED : Math.max(lane.half, measure("▾ " + lane.name, BOLD) / 2 + 3);
      head.append(make("rect", { class: "handle", x: lane.x - half, y: lane.isFolded ? 2 : middle - 15, width: 2 * half, height: lane.isFolded ? plan.head - 4 : 22, rx: 4 }),
        lane.isFolded
          ? make("text", { x: lane.x + 4, y: middle + 2, transform: `rotate(-90 ${lane.x + 4} ${middle + 2})` }, "▸ " + lane.name)
          : make("text", { x: lane.x, y: middle, "text-anchor": "middle" }, "▾ " + lane.name),
        make("title", {}, lane.isFolded ? `${lane.name}: click to unfold` : `${lane.name}: click to fold`));
      head.addEventListener("click", () => toggle(lane.name));
      head.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(lane.name); }
      });
      svg.append(head);
    }
    return svg;
  };

  const drawLoop = (svg, trace, plan) => {
    if (trace.loop === null || trace.loop >= plan.to || plan.to <= plan.from) return;
    const top = Math.max(trace.loop, plan.from), start = plan.rows[top - plan.from].top + 5, end = plan.bottom - 5;
    svg.append(make("path", { class: "loop", d: `M24 ${end}H10V${start}H24`, "marker-end": top === trace.loop ? "url(#chart-back)" : null }),
      make("text", { class: "loop-label", x: 8, y: end + 18 }, "loop, forever"));
  };

  // `say` is what a row says of itself; `toggle` folds a lane, `go` moves to a step.
  const draw = (trace, words, plan, zoom, { say, toggle, go }) => {
    const { lanes, rows, width, height } = plan;
    const svg = make("svg", { class: "rows", width: width * zoom, height: height * zoom, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": "chart-title chart-desc" },
      make("title", { id: "chart-title" }, "Sequence chart"),
      make("desc", { id: "chart-desc" }, `Steps ${plan.from + 1} to ${plan.to}; one column for each thread. The table of changes has the same content.`),
      make("defs", {}, ...["tip", "back"].map((kind) => make("marker", { id: "chart-" + kind, markerWidth: 9, markerHeight: 9, refX: 8, refY: 4, orient: "auto", markerUnits: "userSpaceOnUse" }, make("path", { d: "M0 0L9 4L0 8z", class: kind })))));
    const lifelines = make("g"), boxes = make("g"), lines = make("g"), labels = make("g");
    for (const lane of lanes) lifelines.append(make("line", { class: "lane", x1: lane.x, x2: lane.x, y1: 0, y2: plan.bottom }));
    for (const { step: s, top, middle, box, height: tall } of rows) {
      const step = trace.steps[s], lane = lanes[step.l], isLast = s === trace.steps.length - 1 && trace.loop === null;
      const row = make("g", { class: "row" + (isLast ? " last" : "") + (isMinor(step) ? " minor" : ""), "data-step": s + 1 },
        make("rect", { class: "band", x: 28, y: top, width: width - 28, height: tall }),
        make("text", { class: "soft", x: 60, y: middle + 4, "text-anchor": "end" }, String(s + 1)),
        make("rect", { class: "box", x: lane.x - lane.half, y: middle - box / 2, width: 2 * lane.half, height: box, rx: 5 }),
        lane.isFolded ? "" : make("text", { x: lane.x, y: middle + 4, "text-anchor": "middle" }, short(words[step.t])),
        make("title", {}, say(s)));
      row.addEventListener("click", () => go(s + 1));
      boxes.append(row);
    }
    drawLoop(lifelines, trace, plan);
    for (const { points, text, label, room, taken } of plan.arrows) {
      const arrow = make("path", { class: "message", d: line(points), "marker-end": taken < plan.to ? "url(#chart-tip)" : null }, make("title", {}, text));
      lines.append(arrow);
      if (room) labels.append(make("text", { class: "label", x: label.x, y: label.y, "text-anchor": label.anchor }, text));
    }
    svg.append(lifelines, boxes, lines, labels);
    return [drawHeads(plan, zoom, toggle), svg];
  };
  return { layout, draw, isMinor };
})();
