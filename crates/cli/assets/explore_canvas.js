"use strict";
// A drawing that is larger than its window: zoom, pan, fit, a small map of it, and files of it.
const makeSvg = (tag, attributes = {}, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
  element.append(...children);
  return element;
};
const canvasOf = (frame, map) => {
  const SMALLEST = 0.02, LARGEST = 4, MARGIN = 20, TOOLS = 36;
  const world = makeSvg("g"), svg = makeSvg("svg", { class: "picture" }), tip = document.querySelector("#tips defs");
  const view = makeSvg("rect", { class: "window" });
  svg.append(world);
  frame.append(svg);
  // What is at x, y of the drawing is at x * scale + left, y * scale + top of the window.
  let scale = 1, left = MARGIN, top = MARGIN, size = [1, 1], isMoved = false, spots = [];
  const room = () => [frame.clientWidth || 1, frame.clientHeight || 1];
  const mapScale = () => Math.min((map.clientWidth - 8) / size[0], (map.clientHeight - 8) / size[1]);
  const apply = () => {
    world.setAttribute("transform", `translate(${left.toFixed(2)} ${top.toFixed(2)}) scale(${scale.toFixed(4)})`);
    const [wide, high] = room(), all = left >= 0 && top >= 0 && left + size[0] * scale <= wide && top + size[1] * scale <= high;
    map.toggleAttribute("hidden", all || !spots.length);
    const k = mapScale();
    if (!(k > 0)) return;
    for (const [name, value] of [["x", 4 - left / scale * k], ["y", 4 - top / scale * k], ["width", wide / scale * k], ["height", high / scale * k]]) view.setAttribute(name, value.toFixed(1));
  };
  const zoomAt = (factor, x = room()[0] / 2, y = room()[1] / 2) => {
    const next = Math.min(LARGEST, Math.max(SMALLEST, scale * factor));
    left = x - (x - left) * next / scale;
    top = y - (y - top) * next / scale;
    scale = next;
    isMoved = true;
    apply();
  };
  const moveBy = (x, y) => { left += x; top += y; isMoved = true; apply(); };
  const fit = (most = LARGEST) => {
    // Nothing is drawn below the buttons.
    const [wide, whole] = room(), high = Math.max(2 * MARGIN + 1, whole - TOOLS);
    scale = Math.max(SMALLEST, Math.min(most, 1.5, (wide - 2 * MARGIN) / size[0], (high - 2 * MARGIN) / size[1]));
    left = (wide - size[0] * scale) / 2;
    top = Math.max(MARGIN, (high - size[1] * scale) / 2);
    if (top + size[1] * scale > high) top = MARGIN;
    apply();
  };
  // Until somebody moves it, everything is shown if it can be read; otherwise at least this rectangle.
  const show = ([x, y, wide, high]) => {
    const [roomWide, roomHigh] = room();
    if (!isMoved) {
      fit(1);
      if (scale >= 0.6) return;
      scale = Math.max(scale, 0.75);
      left = Math.min(MARGIN, roomWide / 2 - (x + wide / 2) * scale);
      top = Math.min(MARGIN, roomHigh / 2 - (y + high / 2) * scale);
    }
    const [a, b, c, d] = [x * scale + left, y * scale + top, (x + wide) * scale + left, (y + high) * scale + top];
    if (a < 0 || c > roomWide) left += roomWide / 2 - (a + c) / 2;
    if (b < 0 || d > roomHigh) top += roomHigh / 2 - (b + d) / 2;
    apply();
  };
  const drawMap = () => {
    const k = mapScale(), path = (wanted) => spots.filter((spot) => Boolean(spot[4]) === wanted).map(([x, y, w, h]) =>
      `M${(4 + x * k).toFixed(1)} ${(4 + y * k).toFixed(1)}h${Math.max(1, w * k).toFixed(1)}v${Math.max(1, h * k).toFixed(1)}h${-Math.max(1, w * k).toFixed(1)}z`).join("");
    map.replaceChildren(makeSvg("path", { class: "boxes", d: path(false) }), makeSvg("path", { class: "bad", d: path(true) }), view);
  };
  // The spots are the boxes of the drawing: x, y, width, height, and whether something is wrong there.
  const put = (children, newSize, newSpots) => {
    world.replaceChildren(...children);
    size = [Math.max(1, newSize[0]), Math.max(1, newSize[1])];
    spots = newSpots;
    map.removeAttribute("hidden");
    drawMap();
    apply();
  };

  frame.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = frame.getBoundingClientRect(), step = event.deltaMode === 1 ? event.deltaY * 20 : event.deltaY;
    zoomAt(Math.exp(-Math.max(-200, Math.min(200, step)) * 0.002), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  const fingers = new Map();
  let travelled = 0;
  frame.addEventListener("pointerdown", (event) => { if (event.button === 0) { if (!fingers.size) travelled = 0; fingers.set(event.pointerId, [event.clientX, event.clientY]); } });
  window.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY], x = now[0] - before[0], y = now[1] - before[1];
    travelled += Math.abs(x) + Math.abs(y);
    if (fingers.size === 2) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)[1], box = frame.getBoundingClientRect();
      const apart = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]) || 1;
      zoomAt(apart(now) / apart(before), (now[0] + other[0]) / 2 - box.left, (now[1] + other[1]) / 2 - box.top);
    } else if (travelled > 4) { frame.classList.add("moving"); moveBy(x, y); }
    fingers.set(event.pointerId, now);
  });
  const lift = (event) => { fingers.delete(event.pointerId); frame.classList.remove("moving"); };
  window.addEventListener("pointerup", lift);
  window.addEventListener("pointercancel", lift);
  // A click that ends a drag is not meant for the box under it.
  frame.addEventListener("click", (event) => { if (travelled > 4) { event.stopPropagation(); event.preventDefault(); } }, true);
  frame.addEventListener("keydown", (event) => {
    const acts = { "+": () => zoomAt(1.25), "=": () => zoomAt(1.25), "-": () => zoomAt(0.8), 0: () => { isMoved = true; fit(); }, ArrowLeft: () => moveBy(60, 0), ArrowRight: () => moveBy(-60, 0), ArrowUp: () => moveBy(0, 60), ArrowDown: () => moveBy(0, -60) };
    if (acts[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); acts[event.key](); }
  });
  const jump = (event) => {
    const box = map.getBoundingClientRect(), k = mapScale(), [wide, high] = room();
    left = wide / 2 - (event.clientX - box.left - 4) / k * scale;
    top = high / 2 - (event.clientY - box.top - 4) / k * scale;
    isMoved = true;
    apply();
  };
  map.addEventListener("pointerdown", (event) => { map.setPointerCapture(event.pointerId); jump(event); });
  map.addEventListener("pointermove", (event) => { if (event.buttons) jump(event); });
  new ResizeObserver(apply).observe(frame);
  return { put, show, fit: () => { isMoved = true; fit(); }, zoom: zoomAt, reset: () => { isMoved = false; }, world, tip, size: () => size };
};

// A drawing as a file of its own. A picture for paper or a screen has the colours that are shown now.
const fileOf = (tip, children, [wide, high], isFixed) => {
  const names = [...document.getElementById("drawing-style").textContent.matchAll(/(--[a-z-]+):/g)].map((found) => found[1]);
  const shown = getComputedStyle(document.documentElement), style = document.getElementById("drawing-style").textContent;
  const now = isFixed ? `:root { ${[...new Set(names)].map((name) => `${name}: ${shown.getPropertyValue(name)}`).join("; ")} }` : "";
  const w = Math.ceil(wide + 40), h = Math.ceil(high + 40);
  const file = makeSvg("svg", { xmlns: "http://www.w3.org/2000/svg", class: "picture", width: w, height: h, viewBox: `-20 -20 ${w} ${h}` },
    makeSvg("title", {}, document.title), makeSvg("style", {}, style + now), tip.cloneNode(true), makeSvg("rect", { x: -20, y: -20, width: w, height: h, fill: "var(--ground)" }),
    ...children.map((child) => child.cloneNode(true)));
  for (const node of file.querySelectorAll("[tabindex]")) for (const name of ["tabindex", "role", "data-key", "data-id", "aria-label"]) node.removeAttribute(name);
  return { text: new XMLSerializer().serializeToString(file), wide: w, high: h };
};
const saveAs = (blob, name) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
const pngOf = ({ text, wide, high }) => new Promise((done, fail) => {
  // Twice as fine as the screen, but no larger than browsers can draw.
  const fine = Math.min(2, 16000 / wide, 16000 / high, Math.sqrt(120e6 / (wide * high)));
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" })), image = new Image();
  image.onload = () => {
    const sheet = document.createElement("canvas");
    [sheet.width, sheet.height] = [Math.floor(wide * fine), Math.floor(high * fine)];
    sheet.getContext("2d").drawImage(image, 0, 0, sheet.width, sheet.height);
    URL.revokeObjectURL(address);
    sheet.toBlob((blob) => blob ? done(blob) : fail(new Error("the browser cannot draw a picture of this size; save it as SVG")), "image/png");
  };
  image.onerror = () => fail(new Error("the browser cannot draw the picture; save it as SVG"));
  image.src = address;
});
