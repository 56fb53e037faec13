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
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const button = (text, act, attributes = {}) => {
    const element = make("button", { type: "button", ...attributes }, text);
    element.addEventListener("click", act);
    return element;
  };
  const say = (text, fine = false) => { by("news").textContent = text; by("news").className = fine ? "fine" : ""; };
  const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  const cut = (text, most) => [...text].length > most ? [...text].slice(0, most - 1).join("") + "…" : text;

  // A view is a state on the page; in a tree, a state by the way that leads to it. A box shows a view, or, folded, all views whose
  // chosen values are the same.
  const states = new Map(), expansions = new Map(), origins = new Map(), way = new Set();
  let start = null, unfolded = new Set(), selected = null, views = new Map(), busy = Promise.resolve(), tab = "graph";
  const LINES = 12, LINE = 36, MANY_THREADS = 6, MANY_LABELS = 3;
  let chosen = new Set(), hiddenThreads = new Set(), locations = [];
  const canvas = canvasOf(by("graph"), by("minimap"));
  const isTree = () => by("shape").value === "tree";
  const isFolded = () => by("show").value === "folded" && !isTree();
  const childKey = (view, edge, index) => isTree() ? `${view.key}/${index}` : String(edge.to);
  const boxKey = (view) => isFolded() ? JSON.stringify([...chosen].map((index) => states.get(view.id).values[index])) : view.key;

  const expansion = async (id) => {
    if (!expansions.has(id)) {
      const answer = await ask("expand", { node: id });
      answer.nodes.forEach((node) => states.set(node.id, node));
      answer.edges.forEach((edge, index) => { if (!origins.has(edge.to) && !isRoot(edge.to)) origins.set(edge.to, [id, index]); });
      expansions.set(id, answer);
    }
    return expansions.get(id);
  };

  // The initial states are the first that there are.
  const isRoot = (id) => id < start.nodes.length;
  const rootKey = (id) => !isTree() ? String(id) : id ? `from ${id}` : "";
  const rootOf = (id) => views.get(rootKey(id));

  // Walks from the start along what is unfolded and not filtered out.
  const collect = () => {
    views = new Map();
    const edges = [], queue = start.nodes.map(({ id }) => ({ key: rootKey(id), id, parent: null, via: null, ordinal: null, depth: 0 }));
    queue.forEach((root) => views.set(root.key, root));
    for (let i = 0; i < queue.length; i++) {
      const view = queue[i], known = expansions.get(view.id);
      if (!unfolded.has(view.key) || !known) continue;
      known.edges.forEach((edge, index) => {
        if (hiddenThreads.has(edge.thread)) return;
        const key = childKey(view, edge, index);
        if (!views.has(key)) {
          views.set(key, { key, id: edge.to, parent: view, via: edge, ordinal: index, depth: view.depth + 1 });
          queue.push(views.get(key));
        }
        edges.push([view, views.get(key), edge]);
      });
    }
    return edges;
  };
  const root = () => views.values().next().value;

  // The steps to a view, as `birk replay` takes them.
  const stepsTo = (view) => {
    const steps = [];
    let at = view;
    for (; at.parent; at = at.parent) steps.push(at.ordinal);
    return `${at.id}:${steps.reverse().join(",")}`;
  };

  // The lines of a box: what it is, then its values; each with how it looks.
  const linesOf = (box) => {
    const view = box.members[0], state = states.get(view.id), before = view.parent && states.get(view.parent.id);
    const [bad, good] = ["violated", "reached"].map((kind) => [...new Set(box.members.flatMap((member) => states.get(member.id)[kind]))]);
    const waiting = box.members.filter((member) => states.get(member.id).enabled > 0 && !unfolded.has(member.key));
    const more = waiting.reduce((sum, member) => sum + states.get(member.id).enabled, 0);
    const name = box.members.length > 1 ? count(box.members.length, "state") : `state ${view.id}`;
    const has = bad.length || good.length;
    const lines = [[bad.length ? "✗ " + bad.join(", ") : good.length ? "✓ " + good.join(", ") : name + (more ? ` (+${more})` : ""), bad.length ? "bad" : "strong"]];
    if (has && box.members.length > 1) lines.push([name + (more ? ` (+${more})` : ""), "soft"]);
    const changed = (index) => before && before.values[index] !== state.values[index];
    const look = (index) => changed(index) && !isFolded() ? "strong" : "soft";
    if (by("show").value === "changes") {
      const told = locations.filter((index) => locations.length <= MANY_THREADS || changed(index) || state.values[index] !== start.nodes[0].values[index]);
      told.forEach((index) => lines.push([start.names[index] + state.values[index], look(index)]));
      if (told.length < locations.length) lines.push([`${told.length ? "the others" : "all threads"} as at the start`, "soft"]);
      start.names.forEach((other, index) => { if (!locations.includes(index) && (!before || changed(index))) lines.push([`${other} = ${state.values[index]}`, look(index)]); });
    } else {
      for (const index of chosen) lines.push([`${start.names[index]} = ${state.values[index]}`, look(index)]);
    }
    if (lines.length > LINES) lines.splice(LINES - 1, lines.length, [`… ${lines.length - LINES + 1} more`, "soft"]);
    return { bad, good, more, lines: lines.map(([text, kind]) => [cut(text, LINE), kind]) };
  };

  // Boxes and what is between them.
  const gather = (edges) => {
    const boxes = new Map(), arrows = new Map();
    let inside = 0;
    for (const view of views.values()) {
      const key = boxKey(view);
      if (!boxes.has(key)) boxes.set(key, { key, members: [], index: boxes.size });
      boxes.get(key).members.push(view);
    }
    for (const [a, b, edge] of edges) {
      const [from, to] = [boxes.get(boxKey(a)), boxes.get(boxKey(b))];
      if (from === to && isFolded()) { inside++; continue; }
      const key = `${from.index}>${to.index}`;
      if (!arrows.has(key)) arrows.set(key, { from, to, labels: new Set(), hints: [], isWay: false });
      const arrow = arrows.get(key), thread = start.threads[edge.thread];
      arrow.labels.add(JSON.stringify([thread, edge.title.slice(thread.length + 1).split(" → ")[0]]));
      arrow.hints.push(`${edge.title} ${edge.effect}`);
      arrow.isWay ||= way.has(a.key + ">" + b.key);
    }
    return { boxes: [...boxes.values()], arrows: [...arrows.values()], inside };
  };
  const labelsOf = (arrow) => {
    const all = [...arrow.labels].map((text) => JSON.parse(text)), shown = all.slice(0, MANY_LABELS);
    const lines = shown.flatMap(([thread, place]) => [[cut(thread, LINE), ""], [cut(place, LINE), "soft"]]);
    if (all.length > shown.length) lines.push([`… ${all.length - shown.length} more`, "soft"]);
    return lines;
  };
  const wide = (lines, each, around) => Math.max(...lines.map(([text]) => [...text].length)) * each + around;

  const draw = async () => {
    const { boxes, arrows, inside } = gather(collect());
    const texts = boxes.map(linesOf), sizes = texts.map(({ lines }) => [Math.max(80, wide(lines, 7.4, 16)), lines.length * 15 + 16]);
    const labels = arrows.map(labelsOf), labelSizes = labels.map((lines) => [wide(lines, 6.8, 6), lines.length * 13 + 6]);
    const drawing = await ask("layout", {}, { boxes: sizes, edges: arrows.map(({ from, to }, i) => [from.index, to.index, ...labelSizes[i]]) });
    const children = arrows.map((arrow, i) => makeSvg("g", { class: "edge" + (arrow.isWay ? " way" : "") }, makeSvg("title", {}, arrow.hints.slice(0, 20).join("\n")), makeSvg("path", { d: drawing.edges[i].path, "marker-end": "url(#tip)" })));
    boxes.forEach((box, i) => {
      const { bad, good, more, lines } = texts[i], [x, y] = drawing.boxes[i], view = box.members[0];
      const isSelected = selected && box.members.some((member) => member.key === selected.key);
      const kinds = ["box node", bad.length && "bad violated", good.length && "good reached", view.parent === null && "first", more && "folded", isSelected && "selected"].filter(Boolean);
      const group = makeSvg("g", { class: kinds.join(" "), tabindex: 0, role: "button", "data-id": view.id, "data-key": box.key, transform: `translate(${x} ${y})`,
        "aria-label": `${box.members.length > 1 ? count(box.members.length, "state") : `state ${view.id}`}${bad.length ? ", violates " + bad.join(", ") : ""}${more ? `, ${count(more, "step")} to expand` : ""}` },
        makeSvg("title", {}, start.names.map((name, at) => `${name} = ${states.get(view.id).values[at]}`).slice(0, 60).join("\n")),
        makeSvg("rect", { width: sizes[i][0], height: sizes[i][1], rx: 6 }),
        ...lines.map(([text, kind], row) => makeSvg("text", { class: row === 0 ? `mark ${kind}` : kind, x: 8, y: 19 + 15 * row }, text)));
      group.addEventListener("click", () => pick(box));
      group.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(box); } });
      children.push(group);
    });
    arrows.forEach((arrow, i) => {
      const at = drawing.edges[i].label;
      if (!at) return;
      children.push(makeSvg("g", { class: "label" + (arrow.isWay ? " lit" : "") }, makeSvg("rect", { x: at[0], y: at[1], width: labelSizes[i][0], height: labelSizes[i][1], rx: 2 }),
        ...labels[i].map(([text, kind], row) => makeSvg("text", { class: kind, x: at[0] + labelSizes[i][0] / 2, y: at[1] + 12.5 + 13 * row }, text))));
    });
    const focus = document.activeElement?.dataset?.key;
    canvas.put(children, drawing.size, boxes.map((_, i) => [...drawing.boxes[i], ...sizes[i], texts[i].bad.length > 0]));
    const find = (key) => key !== undefined && canvas.world.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (focus !== undefined) find(focus)?.focus({ preventScroll: true });
    by("count").textContent = `${count(boxes.length, "box").replace("boxs", "boxes")}, ${count(states.size, "state")} known`;
    by("fold-note").hidden = !isFolded() || tab !== "graph";
    by("fold-note").textContent = `folded: ${count(views.size, "state")} in ${count(boxes.length, "box").replace("boxs", "boxes")}; states that agree on the chosen values share a box${inside ? `; ${count(inside, "step")} inside boxes not drawn` : ""}`;
    const at = selected && boxes.findIndex((box) => box.members.some((member) => member.key === selected.key));
    if (at !== null && at >= 0) canvas.show([...drawing.boxes[at], ...sizes[at]]);
    if (tab === "threads") await drawThreads();
  };

  const drawThreads = async () => {
    const { threads, states: known } = await ask("threads", { node: selected.id });
    const note = make("p", { class: "soft" }, `Lit: where the threads are in state ${selected.id}, and what they can do there. Counts and “never taken” are about the steps of the ${count(known, "state")} expanded so far.`);
    by("automata").replaceChildren(note, ...threads.map(({ svg }) => { const holder = make("span", { class: "automaton" }); holder.innerHTML = svg; return holder; }));
  };

  const drawProperties = () => {
    const state = states.get(selected.id);
    by("properties").tBodies[0].replaceChildren(...start.properties.map(({ name, kind, wanted, isOfStates }) => {
      const field = wanted ? "reached" : "violated", is = state[field].includes(name);
      const here = !isOfStates ? "about executions" : wanted ? (is ? "✓ reached" : "not here") : is ? "✗ violated" : "holds";
      const met = [...states.values()].filter((other) => other[field].includes(name));
      const soFar = !isOfStates ? ["ask birk check"] : met.length ? [button(`state ${met[0].id}`, () => goTo(met[0].id)), met.length > 1 ? ` and ${met.length - 1} more` : ""] : [wanted ? "not met" : "not violated"];
      return make("tr", {}, make("td", { title: kind }, name), make("td", { class: is ? (wanted ? "good" : "bad") : null }, here), make("td", { class: met.length ? (wanted ? "good" : "bad") : "soft" }, ...soFar));
    }));
  };

  const details = async () => {
    const view = selected, state = states.get(view.id), known = await expansion(view.id);
    by("title").textContent = `state ${view.id}, ${count(view.depth, "step")} from the start`;
    by("marks").textContent = state.violated.map((name) => `✗ ${name} violated`).concat(state.fault ? [state.fault] : []).join("; ");
    by("address").textContent = "#s=" + stepsTo(view);
    history.replaceState(null, "", location.pathname + location.search + "#s=" + stepsTo(view));
    const same = isFolded() ? [...views.values()].filter((other) => boxKey(other) === boxKey(view)) : [];
    by("members").hidden = same.length < 2;
    by("members").replaceChildren("its box: ", ...same.slice(0, 40).flatMap((member) => [button(String(member.id), () => choose(member)), " "]), same.length > 40 ? `and ${same.length - 40} more` : "");
    drawProperties();
    const before = view.parent && states.get(view.parent.id);
    by("values").replaceChildren(...start.names.map((name, i) => make("tr", { class: before && before.values[i] !== state.values[i] ? "changed" : null }, make("td", {}, name), make("td", {}, state.values[i]))));
    const steps = known.edges.map((edge, index) => make("li", {}, button(edge.title, () => later(async () => { hiddenThreads.delete(edge.thread); unfolded.add(view.key); tick(); collect(); await select(views.get(childKey(view, edge, index))); })), " ", edge.effect));
    const off = known.disabled.map((transition) => {
      const line = make("li", { class: "off" }, `${transition.title} is not enabled `);
      const why = button("why?", async () => { why.remove(); line.append(make("pre", {}, (await ask("why", { node: view.id, transition: transition.transition })).lines.slice(1).join("\n") || "it is cut")); }, { class: "why" });
      line.append(why);
      return line;
    });
    if (!steps.length && !off.length) steps.push(make("li", { class: "off" }, "no thread has a step here"));
    const fold = button("collapse this state", () => later(async () => { unfolded.delete(view.key); await draw(); }));
    by("steps").replaceChildren(...steps, ...off, ...(unfolded.has(view.key) ? [make("li", {}, fold)] : []));
  };

  // Clicks are answered one after the other, each on what the one before has left.
  const later = (act) => (busy = busy.then(act).catch((error) => say(error.message)));
  // Selects a view and expands it.
  const select = async (view) => {
    if (!view) return;
    await expansion(view.id);
    unfolded.add(view.key);
    collect();
    selected = views.get(view.key) ?? root();
    await details();
    await draw();
  };
  const choose = (view) => later(() => select(view));
  // A box with several states expands all of them.
  const pick = (box) => later(async () => {
    for (const member of box.members.slice(0, 100)) { await expansion(member.id); unfolded.add(member.key); }
    await select(views.get(box.members[0].key));
  });
  const tick = () => { for (const box of by("threads").querySelectorAll("input")) box.checked = !hiddenThreads.has(Number(box.value)); };
  // Unfolds a path from a view on, and selects its end.
  const follow = async (view, path, isShown = true) => {
    way.clear();
    for (const id of path.slice(1)) {
      const known = await expansion(view.id);
      unfolded.add(view.key);
      const index = known.edges.findIndex((edge) => edge.to === id), key = childKey(view, known.edges[index], index);
      if (isShown) way.add(view.key + ">" + key);
      hiddenThreads.delete(known.edges[index].thread);
      collect();
      view = views.get(key);
    }
    tick();
    await select(view);
  };
  const goTo = (id) => later(async () => {
    const view = [...views.values()].find((other) => other.id === id);
    if (view) return select(view);
    const path = [id];
    while (!isRoot(path[0])) path.unshift(origins.get(path[0])[0]);
    await follow(rootOf(path[0]), path, false);
  });

  by("search").addEventListener("submit", (event) => {
    event.preventDefault();
    later(async () => {
      say("searching…", true);
      by("found").hidden = true;
      const from = selected, { found, states: visited, isEverything } = await ask("search", { node: from.id, condition: by("condition").value });
      const rows = found.map(({ path, title, changes }) => {
        const row = make("li", {}, button(`${count(path.length - 1, "step")}: ${title}`, () => later(() => open(row, path)), { title: changes }), make("div", { class: "soft" }, cut(changes, 100)));
        return row;
      });
      const open = async (row, path) => {
        rows.forEach((other) => other.classList.toggle("now", other === row));
        collect();
        await follow(views.get(from.key) ?? root(), views.has(from.key) ? path : [0]);
      };
      by("found-title").textContent = `${count(found.length, "state")} found${isEverything ? "" : `, the nearest; there may be more`} (${visited} visited)`;
      by("results").replaceChildren(...rows);
      by("found").hidden = false;
      await open(rows[0], found[0].path);
      say(`${count(found[0].path.length - 1, "step")} away`, true);
    });
  });
  by("found-close").addEventListener("click", () => { by("found").hidden = true; });
  by("level").addEventListener("click", () => later(async () => {
    const folded = [...views.values()].filter((view) => states.get(view.id).enabled > 0 && !unfolded.has(view.key));
    if (folded.length > 300) return say(`${folded.length} states would be expanded; hide a thread or collapse some first`);
    for (const view of folded) { await expansion(view.id); unfolded.add(view.key); }
    say("");
    await draw();
    drawProperties();
  }));
  const again = () => later(async () => { unfolded = new Set(); way.clear(); canvas.reset(); collect(); selected = root(); say(""); await details(); await draw(); });
  by("again").addEventListener("click", again);
  by("shape").addEventListener("change", again);
  by("show").addEventListener("change", () => later(async () => { canvas.reset(); if (by("show").value !== "changes") by("values-of").open = true; await details(); await draw(); }));
  const turn = (to) => later(async () => {
    tab = to;
    for (const name of ["graph", "threads"]) by("tab-" + name).setAttribute("aria-selected", String(name === to));
    by("graph").hidden = to !== "graph";
    by("automata").hidden = to !== "threads";
    for (const id of ["zoom-in", "zoom-out", "fit"]) by(id).hidden = to !== "graph";
    by("stage").className = to;
    await draw();
  });
  by("tab-graph").addEventListener("click", () => turn("graph"));
  by("tab-threads").addEventListener("click", () => turn("threads"));
  by("zoom-in").addEventListener("click", () => canvas.zoom(1.25));
  by("zoom-out").addEventListener("click", () => canvas.zoom(0.8));
  by("fit").addEventListener("click", () => canvas.fit());

  // What is saved is what the tab shows, all of it.
  const drawn = (isFixed) => {
    if (tab === "graph") return fileOf(canvas.tip, [...canvas.world.children], canvas.size(), isFixed);
    let below = 0, widest = 0;
    const parts = [...by("automata").querySelectorAll("svg")].map((svg) => {
      const part = makeSvg("g", { transform: `translate(0 ${below})` }, ...[...svg.children].filter((child) => child.tagName === "g").map((child) => child.cloneNode(true)));
      below += svg.height.baseVal.value;
      widest = Math.max(widest, svg.width.baseVal.value);
      return part;
    });
    return fileOf(canvas.tip, parts, [widest, below], isFixed);
  };
  const fileName = (kind) => `${start.system}-${tab === "graph" ? "states" : "threads"}.${kind}`;
  by("save-svg").addEventListener("click", () => saveAs(new Blob([drawn(false).text], { type: "image/svg+xml" }), fileName("svg")));
  by("save-png").addEventListener("click", () => later(async () => saveAs(await pngOf(drawn(true)), fileName("png"))));
  by("copy").addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(location.href); say("copied", true); } catch { say("the browser does not allow it: copy the address from its address bar"); }
  });

  // Opens the state that the address names.
  const openAddress = async () => {
    const steps = /^#s=([0-9]+:[0-9,]*)$/.exec(location.hash);
    if (!steps) { say("this is not the address of a state: it ends with #s=0: and the numbers of the steps"); return; }
    const { path } = await ask("open", { steps: steps[1] });
    collect();
    await follow(rootOf(path[0]), path, false);
    say("");
  };
  window.addEventListener("hashchange", () => later(openAddress));

  start = await ask("start");
  start.nodes.forEach((node) => states.set(node.id, node));
  if (start.initial > start.nodes.length) say(`there are ${start.initial} initial states; the first ${start.nodes.length} are shown`, true);
  document.title = `${start.system} - Birk explorer`;
  by("system").textContent = start.system;
  by("model").textContent = start.model;
  locations = start.names.map((_, i) => i).filter((i) => start.names[i].endsWith("@"));
  chosen = new Set(locations);
  start.threads.forEach((name, i) => {
    const box = make("input", { type: "checkbox", value: i, checked: "" });
    box.addEventListener("change", () => later(async () => { if (box.checked) hiddenThreads.delete(i); else hiddenThreads.add(i); await draw(); }));
    by("threads").append(make("label", {}, box, " " + name));
  });
  // The values of each thread together, each group with a box for all of it.
  const groups = new Map([["", []]]);
  start.names.forEach((name, i) => {
    const owner = start.threads.find((thread) => name === thread + "@" || name.startsWith(thread + ".")) ?? "";
    groups.set(owner, [...(groups.get(owner) ?? []), i]);
  });
  const chosenChanged = () => later(async () => {
    const boxes = [...by("variables").querySelectorAll("input[value]")];
    chosen = new Set(boxes.filter((box) => box.checked).map((box) => Number(box.value)));
    if (by("show").value === "changes") by("show").value = "chosen";
    await details();
    await draw();
  });
  for (const [owner, members] of [...groups].filter(([, members]) => members.length)) {
    const inputs = members.map((i) => make("input", { type: "checkbox", value: i, checked: chosen.has(i) ? "" : null }));
    const all = make("input", { type: "checkbox", "data-group": owner, checked: members.every((i) => chosen.has(i)) ? "" : null });
    all.addEventListener("change", () => { inputs.forEach((input) => { input.checked = all.checked; }); chosenChanged(); });
    inputs.forEach((input) => input.addEventListener("change", () => { all.checked = inputs.every((other) => other.checked); chosenChanged(); }));
    by("variables").append(make("label", {}, all, " " + (owner || "the system")), ...inputs.map((input, at) => make("label", { class: "mono member" }, input, " " + start.names[members[at]])));
  }
  // Menus close when something else is clicked.
  document.addEventListener("pointerdown", (event) => { for (const menu of document.querySelectorAll(".filters details[open]")) if (!menu.contains(event.target)) menu.open = false; });
  const wanted = location.hash;
  again();
  if (wanted.startsWith("#s=")) later(async () => { history.replaceState(null, "", location.pathname + location.search + wanted); await openAddress(); });
})();
