"use strict";
// The explorer: which states are unfolded, and how they look. Everything else is asked of the server.
(async () => {
  const token = new URLSearchParams(location.search).get("token");
  const by = (id) => document.getElementById(id);
  const ask = async (what, parameters = {}, body = null) => {
    const query = new URLSearchParams({ ...parameters, token });
    const answer = await fetch(`/api/${what}?${query}`, body === null ? {} : { method: "POST", body: JSON.stringify(body) });
    const value = await answer.json();
    if (!answer.ok) throw new Error(value.error);
    return value;
  };
  const make = (tag, attributes = {}, ...children) => {
    const svg = ["svg", "g", "rect", "path", "text", "title", "defs", "marker"].includes(tag);
    const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const say = (text, fine = false) => { by("news").textContent = text; by("news").className = fine ? "fine" : ""; };

  // A view is a box on the page: a state, or, in a tree, a state by the way that leads to it.
  const states = new Map(), expansions = new Map(), way = new Set();
  let start = null, unfolded = new Set(), selected = null, views = new Map(), busy = Promise.resolve();
  const LINES = 7, WIDE = 190, GAP = 26;
  let shownNames = [], hiddenThreads = new Set();
  const isTree = () => by("shape").value === "tree";
  const childKey = (view, edge, index) => isTree() ? `${view.key}/${index}` : String(edge.to);

  const expansion = async (id) => {
    if (!expansions.has(id)) {
      const answer = await ask("expand", { node: id });
      answer.nodes.forEach((node) => states.set(node.id, node));
      expansions.set(id, answer);
    }
    return expansions.get(id);
  };

  // Walks from the start along what is unfolded and not filtered out.
  const collect = () => {
    views = new Map();
    const root = { key: isTree() ? "" : "0", id: 0, parent: null, via: null, depth: 0 };
    views.set(root.key, root);
    const edges = [], queue = [root];
    for (let i = 0; i < queue.length; i++) {
      const view = queue[i], known = expansions.get(view.id);
      if (!unfolded.has(view.key) || !known) continue;
      known.edges.forEach((edge, index) => {
        if (hiddenThreads.has(edge.thread)) return;
        const key = childKey(view, edge, index);
        if (!views.has(key)) {
          views.set(key, { key, id: edge.to, parent: view, via: edge, depth: view.depth + 1 });
          queue.push(views.get(key));
        }
        edges.push([view, views.get(key), edge]);
      });
    }
    return edges;
  };

  const draw = async () => {
    const edges = collect(), list = [...views.values()], place = new Map(list.map((view, i) => [view.key, i]));
    const lines = Math.min(LINES, shownNames.length) + 1, HIGH = 16 + 15 * lines;
    const label = (edge) => { const text = edge.title.split(" → ")[0]; return text.length > 26 ? text.slice(0, 25) + "…" : text; };
    const ends = ([a, b, edge]) => [place.get(a.key), place.get(b.key), 6.6 * label(edge).length + 6, 16];
    const drawing = await ask("layout", {}, { boxes: list.map(() => [WIDE, HIGH]), edges: edges.map(ends) });
    const x = (view) => 20 + drawing.boxes[place.get(view.key)][0], y = (view) => 16 + drawing.boxes[place.get(view.key)][1];
    const width = drawing.size[0] + 40, height = drawing.size[1] + 32;
    const svg = make("svg", { width, height, viewBox: `0 0 ${width} ${height}` },
      make("defs", {}, make("marker", { id: "tip", markerWidth: 8, markerHeight: 8, refX: 7, refY: 4, orient: "auto", markerUnits: "userSpaceOnUse" }, make("path", { d: "M0 0L8 4L0 8z", class: "tip" }))));
    const under = make("g", { transform: "translate(20 16)" });
    svg.append(under);
    edges.forEach(([a, b, edge], i) => {
      const route = drawing.edges[i], onWay = way.has(a.key + ">" + b.key) ? " way" : "";
      under.append(make("path", { class: "edge" + onWay, d: route.path, "marker-end": "url(#tip)" }, make("title", {}, `${edge.title} ${edge.effect}`)));
      if (route.label) under.append(make("text", { class: "edge-label", x: route.label[0] + 3, y: route.label[1] + 12 }, label(edge)));
    });
    for (const view of list) {
      const state = states.get(view.id), bad = state.violated.length > 0, good = state.reached.length > 0;
      const folded = state.enabled > 0 && !unfolded.has(view.key);
      const kinds = ["node", bad && "violated", good && "reached", folded && "folded", view.key === selected?.key && "selected"].filter(Boolean);
      const words = bad ? "✗ " + state.violated.join(", ") : good ? "✓ " + state.reached.join(", ") : `state ${view.id}` + (folded ? ` (+${state.enabled})` : "");
      const box = make("g", { class: kinds.join(" "), tabindex: 0, role: "button", "data-id": view.id, "data-key": view.key,
        "aria-label": `state ${view.id}${bad ? ", violates " + state.violated.join(", ") : ""}${folded ? `, ${state.enabled} steps to expand` : ""}`, transform: `translate(${x(view)} ${y(view)})` },
        make("rect", { width: WIDE, height: HIGH, rx: 7 }), make("text", { class: "mark", x: 9, y: 17 }, words.length > 25 ? words.slice(0, 24) + "…" : words));
      const before = view.parent && states.get(view.parent.id);
      shownNames.slice(0, LINES).forEach((index, row) => {
        const line = `${before && before.values[index] !== state.values[index] ? "*" : " "}${start.names[index]} = ${state.values[index]}`;
        box.append(make("text", { class: "soft", x: 9, y: 33 + 15 * row, "xml:space": "preserve" }, line.length > 24 ? line.slice(0, 23) + "…" : line));
      });
      box.addEventListener("click", () => pick(view.key));
      box.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(view.key); } });
      svg.append(box);
    }
    const focus = document.activeElement?.dataset?.key;
    by("graph").replaceChildren(svg);
    if (focus !== undefined) svg.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
    by("count").textContent = `${list.length} box${list.length === 1 ? "" : "es"}, ${states.size} states known`;
    const box = selected && svg.querySelector(`[data-key="${CSS.escape(selected.key)}"]`);
    if (box) {
      const inner = box.getBoundingClientRect(), outer = by("graph").getBoundingClientRect();
      if (inner.left < outer.left || inner.right > outer.right) by("graph").scrollLeft += inner.left - outer.left - outer.width / 2 + inner.width / 2;
      if (inner.top < outer.top || inner.bottom > outer.bottom - 60) by("graph").scrollTop += inner.top - outer.top - outer.height / 3;
    }
  };

  const details = async () => {
    const view = selected, state = states.get(view.id), known = await expansion(view.id);
    by("title").textContent = `state ${view.id}, ${view.depth} step${view.depth === 1 ? "" : "s"} from the start`;
    by("marks").textContent = state.violated.map((name) => `✗ ${name} violated`).concat(state.fault ? [state.fault] : []).join("; ");
    const before = view.parent && states.get(view.parent.id);
    by("values").replaceChildren(...start.names.map((name, i) => make("tr", { class: before && before.values[i] !== state.values[i] ? "changed" : null }, make("td", {}, name), make("td", {}, state.values[i]))));
    const steps = known.edges.map((edge, index) => {
      const button = make("button", { type: "button" }, edge.title);
      button.addEventListener("click", () => { const key = childKey(view, edge, index); if (views.has(key)) pick(key); });
      return make("li", {}, button, " ", edge.effect);
    });
    const off = known.disabled.map((transition) => {
      const line = make("li", { class: "off" }, `${transition.title} is not enabled `), button = make("button", { type: "button", class: "why" }, "why?");
      button.addEventListener("click", async () => { button.remove(); line.append(make("pre", {}, (await ask("why", { node: view.id, transition: transition.transition })).lines.slice(1).join("\n") || "it is cut")); });
      line.append(button);
      return line;
    });
    if (!steps.length && !off.length) steps.push(make("li", { class: "off" }, "no thread has a step here"));
    const fold = make("button", { type: "button" }, "collapse this state");
    fold.addEventListener("click", () => later(async () => { unfolded.delete(view.key); await draw(); }));
    by("steps").replaceChildren(...steps, ...off, ...(unfolded.has(view.key) ? [make("li", {}, fold)] : []));
  };

  // Clicks are answered one after the other, each on what the one before has left.
  const later = (act) => (busy = busy.then(act).catch((error) => say(error.message)));
  const pick = (key) => later(async () => {
    const view = views.get(key);
    if (!view) return;
    await expansion(view.id);
    unfolded.add(key);
    collect();
    selected = views.get(key);
    await details();
    await draw();
  });

  by("search").addEventListener("submit", (event) => {
    event.preventDefault();
    later(async () => {
      say("searching…", true);
      const { path } = await ask("find", { node: selected.id, condition: by("condition").value });
      way.clear();
      let view = selected;
      for (const id of path.slice(1)) {
        const known = await expansion(view.id);
        unfolded.add(view.key);
        const index = known.edges.findIndex((edge) => edge.to === id), key = childKey(view, known.edges[index], index);
        way.add(view.key + ">" + key);
        hiddenThreads.delete(known.edges[index].thread);
        collect();
        view = views.get(key);
      }
      for (const box of by("threads").querySelectorAll("input")) box.checked = !hiddenThreads.has(Number(box.value));
      selected = view;
      say(`${path.length - 1} step${path.length === 2 ? "" : "s"} away`, true);
      await details();
      await draw();
    });
  });
  by("level").addEventListener("click", () => later(async () => {
    const folded = [...views.values()].filter((view) => states.get(view.id).enabled > 0 && !unfolded.has(view.key));
    if (folded.length > 300) return say(`${folded.length} boxes would be expanded; hide a thread or collapse some first`);
    for (const view of folded) { await expansion(view.id); unfolded.add(view.key); }
    say("");
    await draw();
  }));
  const again = () => later(async () => { unfolded = new Set(); way.clear(); collect(); selected = [...views.values()][0]; say(""); await details(); await draw(); });
  by("again").addEventListener("click", again);
  by("shape").addEventListener("change", again);

  start = await ask("start");
  states.set(0, start.node);
  document.title = `${start.system} - Birk explorer`;
  by("system").textContent = start.system;
  by("model").textContent = start.model;
  shownNames = start.names.map((_, i) => i).slice(0, LINES);
  start.threads.forEach((name, i) => {
    const box = make("input", { type: "checkbox", value: i, checked: "" });
    box.addEventListener("change", () => later(async () => { if (box.checked) hiddenThreads.delete(i); else hiddenThreads.add(i); await draw(); }));
    by("threads").append(make("label", {}, box, " " + name));
  });
  start.names.forEach((name, i) => {
    const box = make("input", { type: "checkbox", value: i, checked: i < LINES ? "" : null });
    box.addEventListener("change", () => later(async () => {
      shownNames = [...by("variables").querySelectorAll("input:checked")].map((other) => Number(other.value));
      if (shownNames.length > LINES) say(`a box has room for the first ${LINES} of them`); else say("");
      await draw();
    }));
    by("variables").append(make("label", { class: "mono" }, box, " " + name));
  });
  again();
})();
