// The page as a whole: loading a model, choosing, searching, pointer and keys.
"use strict";
let asked = false;
function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(now => { asked = false; step(now); const bin = C.bin; state.view === "tree" ? drawTree() : drawMap(); if (bin !== C.bin) legend(); });
}
let saying = 0;
function say(text) { clearTimeout(saying); saying = setTimeout(() => { $("said").textContent = text; }, 120); }

function problem(e) {
  $("problem").hidden = !e;
  $("problem").textContent = e ? e.message : "";
}

// choose selects a node; with second, or after "Compare", a class beside the one that is chosen.
function choose(v, second) {
  const m = state.m;
  const a = state.chosen >= 0 ? m.cls[state.chosen] : -1, b = v >= 0 ? m.cls[v] : -1;
  if ((second || state.comparing) && a >= 0 && b >= 0 && a !== b) { pair(a, b); redraw(); return; }
  state.chosen = v; state.other = -1; state.comparing = false;
  showNode(v);
  if (v >= 0) {
    const s = currentScale(), x = s ? s.of(m, m.before[v], past(m, v)) : NaN;
    say(title(m, v) + (isLeaf(m, v) ? ", class" : ", group of " + plural(classesBelow(m, v), "class", "classes")) + (Number.isNaN(x) ? "" : ", " + s.name.toLowerCase() + " " + s.text(x)));
  }
  redraw();
}

function legend() {
  const s = currentScale(), box = $("legend");
  box.replaceChildren();
  const scale = (edges, inks, mark) => el("span", { class: "scale" }, ...inks.map((k, i) => { const sw = el("i"); sw.style.background = ink[k]; return el("span", sw, el("b", edges[i] !== undefined ? mark(edges[i]) : "\u00a0")); }));
  if (state.view === "map") {
    const by = C.bin > 1 ? 5 : 1, part = (name, edges, inks, f) => el("span", { class: "part" }, name, scale(edges, inks, x => +(f * x).toFixed(1) + ""));
    if (state.first?.data) box.append(part("right:", rightEdges, diverging.slice(5), 100), part("mistakes:", cellEdges, diverging.slice(0, 5).reverse(), 100 / by), "% of the examples of the true class");
  } else if (s) box.append(s.name + ":", scale(s.edges, s.inks, s.mark), s.unit);
  else box.append("No test examples: all classes have one colour.");
}

function setView(view) {
  state.view = view;
  for (const v of ["tree", "map"]) {
    $(v).hidden = v !== view;
    $("tab-" + v).setAttribute("aria-selected", String(v === view));
    $("tab-" + v).tabIndex = v === view ? 0 : -1;
  }
  $("view").setAttribute("aria-labelledby", "tab-" + view);
  $("colours").hidden = view === "map" || !state.first?.data;
  $("tip").hidden = true;
  const m = state.m, none = view === "map" && m && !m.sums;
  $("empty").hidden = !none;
  if (none) $("empty").textContent = "The confusion map needs test examples: start treeloss explore with --data.";
  $("keys").textContent = view === "tree" ? "Drag to move, wheel or pinch to zoom, double click to zoom to a group, click a circle to fold. Keys: arrows, Enter zooms, Space folds, + − 0; with Shift a second class; / searches."
    : "Drag to move, wheel or pinch to zoom, click a cell for its examples. Keys: arrows, Enter, + − 0.";
  if (view === "map" && m && m.sums && !m.cells) cells(m).then(() => { redraw(); legend(); }, problem);
  legend();
  redraw();
}

// ---- search ----
let found = [], at = -1;
function search() {
  const m = state.m, q = $("search").value.trim().toLowerCase(), list = $("found");
  found = []; at = -1;
  if (!m || !q) { closeSearch(); return; }
  m.lower ||= m.names.map(x => x.toLowerCase());
  const begins = [], words = [], holds = [];
  for (let v = 0; v < m.n; v++) {
    const i = m.lower[v] ? m.lower[v].indexOf(q) : -1;
    if (i < 0) continue;
    (i === 0 ? begins : /[\s_\-/.]/.test(m.lower[v][i - 1]) ? words : holds).push(v);
    if (begins.length >= 50) break;
  }
  found = [...begins, ...words, ...holds].slice(0, 50);
  const all = begins.length + words.length + holds.length;
  list.replaceChildren(...found.map((v, i) => el("li", { role: "option", id: "found-" + i, "aria-selected": "false", onpointerdown: e => { e.preventDefault(); pick(i); } }, el("bdi", clean(m.names[v])), isLeaf(m, v) ? "" : el("span", { class: "small" }, " · " + plural(classesBelow(m, v), "class", "classes")))));
  if (!found.length) list.append(el("li", { class: "none", role: "presentation" }, "No class has this in its name."));
  else if (all > 50) list.append(el("li", { class: "none", role: "presentation" }, "and " + (begins.length >= 50 ? "more" : count(all - 50) + " more")));
  list.hidden = false;
  $("search").setAttribute("aria-expanded", "true");
  say(found.length ? plural(all, "match", "matches") : "No match");
}
function closeSearch() {
  $("found").hidden = true;
  $("search").setAttribute("aria-expanded", "false");
  $("search").removeAttribute("aria-activedescendant");
}
function mark(i) {
  const items = $("found").querySelectorAll("[role=option]");
  items.forEach((x, n) => x.setAttribute("aria-selected", String(n === i)));
  at = i;
  if (items[i]) { items[i].scrollIntoView({ block: "nearest" }); $("search").setAttribute("aria-activedescendant", "found-" + i); }
}
function pick(i) {
  const m = state.m, v = found[i];
  if (v === undefined) return;
  closeSearch();
  if (state.view === "map") { let u = v; while (u > 0 && classesBelow(m, u) < 12) u = m.parent[u]; mapTo(m, u); }
  choose(v);
  reveal(m, v);
}
$("search").addEventListener("input", search);
$("search").addEventListener("focus", () => { if ($("search").value) search(); });
$("search").addEventListener("blur", closeSearch);
$("search").addEventListener("keydown", e => {
  if (e.key === "ArrowDown" || e.key === "ArrowUp") { e.preventDefault(); if (found.length) mark((at + (e.key === "ArrowDown" ? 1 : found.length - (at < 0 ? 0 : 1))) % found.length); }
  else if (e.key === "Enter") { e.preventDefault(); pick(max(at, 0)); }
  else if (e.key === "Escape") closeSearch();
});

// ---- pointer: one drags, two pinch ----
for (const id of ["tree", "map"]) {
  const canvas = $(id), fingers = new Map();
  let moved = 0, apart = 0;
  const place = e => { const r = canvas.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
  const zoom = (f, x, y) => id === "tree" ? treeZoom(f, y) : mapZoom(f, x, y);
  canvas.addEventListener("pointerdown", e => { canvas.setPointerCapture(e.pointerId); fingers.set(e.pointerId, place(e)); if (fingers.size === 1) moved = 0; apart = 0; $("tip").hidden = true; });
  canvas.addEventListener("pointermove", e => {
    const m = state.m, p = place(e), before = fingers.get(e.pointerId);
    if (!m) return;
    if (!before) return tip(m, id, p);
    const dx = p[0] - before[0], dy = p[1] - before[1];
    fingers.set(e.pointerId, p);
    moved += abs(dx) + abs(dy);
    if (fingers.size === 2) {
      const [a, b] = [...fingers.values()], d = Math.hypot(a[0] - b[0], a[1] - b[1]);
      if (apart > 0) zoom(d / apart, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      apart = d;
    } else if (moved > 4) {
      T.moving = null;
      if (id === "tree") { T.top -= dy / T.scale; treeLimits(m); } else { C.x -= dx / C.s; C.y -= dy / C.s; mapLimits(m); }
      redraw();
    }
  });
  const up = e => {
    const m = state.m, was = fingers.delete(e.pointerId);
    apart = 0;
    if (!was || e.type === "pointercancel" || moved > 4 || !m || fingers.size) return;
    const [x, y] = place(e);
    if (id === "map") { if (m.cells) mapClick(m, x, y); return; }
    const disc = discAt(m, x, y);
    if (disc >= 0) return fold(m, disc);
    choose(nodeAt(m, x, y), e.shiftKey);
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => { $("tip").hidden = true; });
  canvas.addEventListener("dblclick", e => {
    if (id !== "tree" || !state.m) return;
    const [x, y] = place(e), v = nodeAt(state.m, x, y);
    if (v >= 0 && discAt(state.m, x, y) < 0) isLeaf(state.m, v) ? reveal(state.m, v) : zoomTo(state.m, v);
  });
  canvas.addEventListener("wheel", e => {
    e.preventDefault();
    if (!state.m) return;
    const [x, y] = place(e), unit = e.deltaMode === 1 ? 16 : 1;
    if (e.shiftKey && id === "tree") { T.top += (e.deltaY || e.deltaX) * unit / T.scale; treeLimits(state.m); redraw(); } else zoom(Math.exp(-max(-200, min(200, e.deltaY * unit)) * .002), x, y);
  }, { passive: false });
  canvas.addEventListener("keydown", e => { if (state.m && !e.ctrlKey && !e.metaKey && !e.altKey) id === "tree" ? treeKey(e) : mapKey(e); });
}

function tip(m, id, [x, y]) {
  let text = "";
  if (id === "tree") {
    const v = nodeAt(m, x, y);
    if (v >= 0) {
      const a = m.before[v], b = past(m, v);
      text = cut(title(m, v), 160) + (isLeaf(m, v) ? "" : "\n" + plural(b - a, "class", "classes"));
      if (m.sums) { const n = sum(m, "support", a, b); text += "\n" + (n ? percent(sum(m, "right", a, b) / n) + " of " + plural(n, "example") + " right" : "no test examples"); }
      if (m.base && sum(m, "support", a, b)) text += "\n" + scales.gain.text(scales.gain.of(m, a, b)) + " to the baseline";
      if (state.flow?.mass.get(v)) text += "\nprobability " + percent(state.flow.mass.get(v));
    }
  } else if (m.cells) {
    const c = cellAt(m, x, y);
    if (c && C.bin > 1) { const n = C.bin, r = c[0] - c[0] % n, q = c[1] - c[1] % n, found = inside(m, r, r + n, q, q + n); text = plural(found.examples, "mistake") + " in " + count(n) + " × " + count(n) + " cells" + (found.list.length ? "\n" + cut(cellText(m, found.list[0][0], found.list[0][1]), 160) : ""); }
    else if (c) text = cut(cellText(m, m.classAt[c[0]], m.classAt[c[1]]), 220);
  }
  const t = $("tip");
  t.hidden = !text;
  if (!text) return;
  t.textContent = text;
  const wide = id === "tree" ? T : C;
  t.style.left = max(4, min(x + 14, wide.w - t.offsetWidth - 6)) + "px";
  t.style.top = max(4, y + 18 + t.offsetHeight > wide.h ? y - t.offsetHeight - 8 : y + 18) + "px";
}

// ---- buttons ----
for (const [id, f] of [["in", 1.6], ["out", 1 / 1.6]]) $(id).addEventListener("click", () => state.view === "tree" ? treeZoom(f, T.h / 2) : mapMiddle(f));
$("fit").addEventListener("click", () => { const m = state.m; if (!m) return; if (state.view === "tree") { m.closed.clear(); layout(m); zoomTo(m, 0); } else mapTo(m, 0); });
$("colour").addEventListener("change", () => { state.colour = $("colour").value; legend(); redraw(); });
for (const v of ["tree", "map"]) {
  $("tab-" + v).addEventListener("click", () => setView(v));
  $("tab-" + v).addEventListener("keydown", e => { if (e.key === "ArrowLeft" || e.key === "ArrowRight") { const other = v === "tree" ? "map" : "tree"; setView(other); $("tab-" + other).focus(); } });
}
$("model").addEventListener("change", () => { state.model = $("model").value; load(); });
$("secret").addEventListener("submit", e => { e.preventDefault(); $("secret").hidden = true; begin(); });
$("form").addEventListener("submit", e => { e.preventDefault(); if (state.m) tryText($("text").value, ""); });
$("text").addEventListener("keydown", e => { if (e.key === "Enter" && !e.shiftKey) { e.preventDefault(); $("form").requestSubmit(); } });
$("clear").addEventListener("click", () => { tries++; state.flow = null; $("clear").hidden = true; $("text").value = ""; $("answer").replaceChildren(); $("text").focus(); redraw(); });
document.addEventListener("keydown", e => { if (e.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) { e.preventDefault(); $("search").focus(); } });
new ResizeObserver(() => redraw()).observe($("view"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readInks(); legend(); redraw(); });

// ---- a model ----
async function load() {
  cache = new Map();
  problem(null);
  try {
    for (let waited = 0; ; waited++) {
      try { state.first = await piece("start"); break; } catch (e) {
        if (e.status !== 503 || waited > 30) throw e;
        problem(new Error("The tree of this model is being built …"));
      }
    }
    problem(null);
  } catch (e) { problem(e); return; }
  const f = state.first, m = state.m = build(f);
  Object.assign(state, { chosen: -1, other: -1, flow: null, comparing: false });
  Object.assign(T, { top: 0, scale: 0, left: 0, moving: null });
  Object.assign(C, { x: 0, y: 0, s: 0, row: -1, column: -1, bin: 1 });
  $("name").replaceChildren(bdi(f.model));
  document.title = clean(f.model) + " – treeloss explorer";
  $("about").textContent = plural(m.k, "class", "classes") + (f.data ? " · " + plural(f.data.examples, "test example") + " of " + f.data.files.map(clean).join(", ") : " · no test examples") + " · " + ({ model: "tree of the model", softmaxes: "tree of softmaxes", weights: "linkage of the weights", names: "alphabetical order" })[f.tree];
  if (f.data) scales.support.edges = supportEdges(m);
  const modes = f.data ? ["accuracy", "support"].concat(m.base ? ["gain"] : []) : [];
  $("colour").replaceChildren(...modes.map(k => el("option", { value: k }, scales[k].name)));
  state.colour = modes.includes(state.colour) ? state.colour : modes[0] || "";
  $("colour").value = state.colour;
  const what = f.columns ? "Numbers: " + f.columns.slice(0, 6).map(clean).join(", ") + (f.columns.length > 6 ? ", … (" + f.columns.length + ")" : "") : ({ "sparse features": "A LIBSVM line, such as 3:1 7:0.5", pictures: "A JPEG or PNG file as base64" })[f.examples] || "Type a text, then press Enter";
  $("what").textContent = what; $("text").placeholder = what;
  $("try-head").textContent = f.columns || f.examples !== "text" ? "Try an example" : "Try a text";
  $("hedging").hidden = !f.hedges;
  $("form").hidden = inFiles; $("no-try").hidden = !inFiles;
  $("no-try").textContent = "These are files without the model. To try a text, run treeloss explore --model with the model file.";
  $("clear").hidden = true; $("answer").replaceChildren();
  setView(state.view);
  showStart();
}

async function begin() {
  readInks();
  try {
    if (!inFiles) {
      const list = (await ask("v1/models")).models;
      $("model").replaceChildren(...list.map(x => el("option", x.model)));
      $("models").hidden = list.length < 2;
      $("links").hidden = false;
      state.model = list[0].model;
    }
  } catch (e) { problem(e); return; }
  await load();
}
begin();
