// Loading pieces and what follows from the tree: numbers of every node in typed arrays.
"use strict";
const { min, max, floor, round, abs, ceil } = Math;
const $ = id => document.getElementById(id);
const inFiles = document.documentElement.hasAttribute("data-files");

// el makes an element, with attributes if an object of them comes first. Texts are set as text, so that no name can be HTML.
function el(tag, props, ...children) {
  const e = document.createElement(tag);
  if (props?.constructor !== Object) children.unshift(props);
  else for (const [k, v] of Object.entries(props)) {
    if (k === "class") e.className = v;
    else if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (k === "width") e.style.width = v;
    else e.setAttribute(k, v);
  }
  e.append(...children.filter(c => c !== undefined && c !== null && c !== false));
  return e;
}

// clean makes a name or a text harmless to lay out: direction marks and controls would
// move what stands beside it. isolated keeps its direction to itself.
const clean = s => s.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, "\ufffd");
const button = (text, onclick, props) => el("button", { type: "button", onclick, ...props }, text);
const link = (text, onclick) => button(text, onclick, { class: "link" });
// Long names may break behind such signs.
const bdi = s => el("bdi", ...clean(s).split(/(?<=[_/.+])/).flatMap((x, i) => i ? [el("wbr"), x] : [x]));

const state = { model: "", first: null, m: null, chosen: -1, other: -1, cell: null, flow: null, view: "tree", colour: "" };

// ---- pieces ----
let cache = new Map();
const waiting = new Map();
window.explorerPiece = (name, value) => waiting.get(name)?.(value);

class Failure extends Error {
  constructor(message, status) { super(message); this.status = status; }
}

async function ask(path, body) {
  const headers = {};
  if ($("token").value) headers.Authorization = "Bearer " + $("token").value;
  const r = await fetch(path, body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) });
  const text = await r.text();
  let v;
  try { v = JSON.parse(text); } catch { throw new Failure("The server sent no JSON (status " + r.status + ").", r.status); }
  if (r.status === 401) $("secret").hidden = false;
  if (!r.ok) throw new Failure(v.error || "status " + r.status, r.status);
  return v;
}

function fromFile(name) {
  return new Promise((done, failed) => {
    const s = el("script", { src: "data/" + name + ".js" });
    waiting.set(name, v => { waiting.delete(name); s.remove(); done(v); });
    s.addEventListener("error", () => { waiting.delete(name); s.remove(); failed(new Failure("The file data/" + name + ".js is missing. Was the folder copied whole?")); });
    document.head.append(s);
  });
}

// piece returns a piece of the model, asked for once.
function piece(name) {
  let p = cache.get(name);
  if (!p) {
    p = inFiles ? fromFile(name) : ask("api/" + encodeURIComponent(state.model) + "/" + name);
    p.catch(() => cache.delete(name));
    cache.set(name, p);
  }
  return p;
}

async function details(c) {
  const n = state.first.chunk;
  return (await piece("classes-" + floor(c / n))).classes[c % n];
}

// numbers reads a column: base64 of little-endian 32-bit integers.
function numbers(text) {
  const s = atob(text || ""), bytes = new Uint8Array(s.length);
  for (let i = 0; i < s.length; i++) bytes[i] = s.charCodeAt(i);
  return new Int32Array(bytes.buffer);
}

// build makes the arrays of a model. Nodes are in preorder, so the nodes below v are
// v+1 to end[v]-1; a row is a class in that order, and the rows below v are before[v] to
// before[end[v]]-1. Sums over rows are differences of running sums.
function build(first) {
  const parent = numbers(first.parent), cls = numbers(first.class), n = parent.length;
  const end = new Int32Array(n), depth = new Int32Array(n), before = new Int32Array(n + 1);
  for (let v = n - 1; v >= 0; v--) {
    if (end[v] < v + 1) end[v] = v + 1;
    if (v > 0 && end[parent[v]] < end[v]) end[parent[v]] = end[v];
  }
  let height = 0, rows = 0;
  for (let v = 0; v < n; v++) {
    depth[v] = v ? depth[parent[v]] + 1 : 0;
    height = max(height, depth[v]);
    before[v] = rows;
    if (cls[v] >= 0) rows++;
  }
  before[n] = rows;
  const classAt = new Int32Array(rows), rowOf = new Int32Array(rows), nodeOf = new Int32Array(rows);
  for (let v = 0; v < n; v++) if (cls[v] >= 0) { classAt[before[v]] = cls[v]; rowOf[cls[v]] = before[v]; nodeOf[cls[v]] = v; }
  const m = { n, k: rows, parent, cls, end, depth, height, before, classAt, rowOf, nodeOf, names: first.names, first, closed: new Set(), titles: new Map() };
  const d = first.data;
  if (d) {
    m.support = numbers(d.support); m.right = numbers(d.right); m.predicted = numbers(d.predicted);
    m.base = d.base ? numbers(d.base) : null;
    m.sums = {};
    for (const key of ["support", "right", "base"]) {
      if (!m[key]) continue;
      const s = m.sums[key] = new Float64Array(rows + 1);
      for (let r = 0; r < rows; r++) s[r + 1] = s[r] + m[key][classAt[r]];
    }
  }
  m.lower = null;
  layout(m);
  return m;
}

const sum = (m, key, a, b) => m.sums[key][b] - m.sums[key][a];
const past = (m, v) => m.before[m.end[v]]; // the row behind those below v
const classesBelow = (m, v) => past(m, v) - m.before[v];
const isLeaf = (m, v) => m.end[v] === v + 1;
const label = (m, c) => m.names[m.nodeOf[c]];

// layout places the rows: each has height 1, those of a closed group 1 together.
function layout(m) {
  const pos = m.pos = new Float64Array(m.k + 1), weight = new Float64Array(m.k).fill(1);
  for (const v of m.closed) {
    let hidden = false;
    for (let u = m.parent[v]; u >= 0; u = m.parent[u]) hidden ||= m.closed.has(u);
    if (!hidden) weight.fill(1 / classesBelow(m, v), m.before[v], past(m, v));
  }
  for (let r = 0; r < m.k; r++) pos[r + 1] = pos[r] + weight[r];
}

// title names a node. A group without a name of its own is called by the words that at least half
// of its classes have in their names, else by its first and last class.
function title(m, v) {
  if (m.names[v]) return clean(m.names[v]);
  if (v === 0) return "all classes";
  let t = m.titles.get(v);
  if (t !== undefined) return t;
  const a = m.before[v], b = past(m, v), step = max(1, floor((b - a) / 100)), count = new Map();
  let looked = 0;
  for (let r = a; r < b; r += step) {
    looked++;
    for (const w of new Set(clean(label(m, m.classAt[r])).toLowerCase().split(/[\s_\-/.,:;()]+/))) if (w.length > 2) count.set(w, (count.get(w) || 0) + 1);
  }
  const words = [...count].filter(x => x[1] * 2 >= looked && x[1] > 1).sort((x, y) => y[1] - x[1] || (x[0] < y[0] ? -1 : 1)).slice(0, 3).map(x => x[0]);
  t = words.length ? words.join(" ") : cut(clean(label(m, m.classAt[a])), 40) + " … " + cut(clean(label(m, m.classAt[b - 1])), 40);
  m.titles.set(v, t);
  return t;
}

const cut = (s, n) => s.length > n ? s.slice(0, n - 1) + "…" : s;
const count = n => n.toLocaleString("en");
const plural = (n, one, many) => count(n) + " " + (n === 1 ? one : many || one + "s");
const percent = x => (100 * x).toFixed(1) + " %";
const signed = (x, digits) => (x > 0 ? "+" : x < 0 ? "−" : "") + abs(x).toFixed(digits);

// cells has the mistakes by the row of the true class, once they were asked for.
async function cells(m) {
  if (m.cells) return m.cells;
  const p = await piece("confusions");
  if (m.cells) return m.cells;
  const t = numbers(p.true), q = numbers(p.predicted), c = numbers(p.count), n = t.length;
  const start = new Int32Array(m.k + 1), column = new Int32Array(n), number = new Int32Array(n), at = new Int32Array(m.k);
  for (let i = 0; i < n; i++) start[m.rowOf[t[i]] + 1]++;
  for (let r = 0; r < m.k; r++) start[r + 1] += start[r];
  for (let i = 0; i < n; i++) { const r = m.rowOf[t[i]], to = start[r] + at[r]++; column[to] = m.rowOf[q[i]]; number[to] = c[i]; }
  return m.cells = { start, column, number, n, left: p.left };
}

// mistakes lists what a class was predicted as, or what was predicted as it.
function mistakes(m, c, from) {
  const { start, column, number } = m.cells, out = [], r = m.rowOf[c];
  if (!from) for (let i = start[r]; i < start[r + 1]; i++) out.push([m.classAt[column[i]], number[i]]);
  else for (let s = 0; s < m.k; s++) for (let i = start[s]; i < start[s + 1]; i++) if (column[i] === r) out.push([m.classAt[s], number[i]]);
  return out.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
}

// ---- colours ----
const ink = {};
function readInks() {
  const css = getComputedStyle(document.documentElement);
  for (const name of ["ip", "iw", "ia", "ig", "i2", "i3", "io", "link", "chosen", "edge", "field"].concat(...[1, 2, 3, 4, 5].map(i => ["ir" + i, "im" + i]))) ink[name] = css.getPropertyValue("--" + name).trim();
}
const diverging = ["im5", "im4", "im3", "im2", "im1", "ir1", "ir2", "ir3", "ir4", "ir5"];
const scales = {
  accuracy: { name: "Accuracy", edges: [.5, .6, .7, .8, .85, .9, .95, .98, 1], inks: diverging, text: x => percent(x), mark: x => +(100 * x).toFixed(1) + "", unit: "% of the test examples that are right",
    of: (m, a, b) => { const n = sum(m, "support", a, b); return n ? sum(m, "right", a, b) / n : NaN; } },
  support: { name: "Support", inks: ["ir1", "ir2", "ir3", "ir4", "ir5"], text: x => count(round(x * 10) / 10), mark: x => count(x), unit: "test examples a class",
    of: (m, a, b) => sum(m, "support", a, b) / (b - a) },
  gain: { name: "Gain of sharing", edges: [-.2, -.1, -.05, -.01, -1e-9, 1e-9, .01, .05, .1, .2], inks: diverging.toSpliced(5, 0, "field"), text: x => signed(100 * x, 1) + " pp", mark: x => abs(x) < 1e-6 ? (x < 0 ? "" : "0") : signed(100 * x, 0), unit: "pp of accuracy above the baseline",
    of: (m, a, b) => { const n = sum(m, "support", a, b); return n ? (sum(m, "right", a, b) - sum(m, "base", a, b)) / n : NaN; } },
};

// nice numbers of support that cut the classes into five parts.
function supportEdges(m) {
  const sorted = Int32Array.from(m.support).sort(), edges = [];
  for (const q of [.2, .4, .6, .8]) {
    const x = max(1, sorted[floor(q * (sorted.length - 1))]), p = 10 ** floor(Math.log10(x)), nice = [1, 2, 3, 5, 7, 10].map(f => f * p).find(f => f >= x);
    edges.push(max(nice, (edges.at(-1) || 0) + 1));
  }
  return edges;
}
function inkOf(scale, x) {
  if (Number.isNaN(x)) return ink.ig;
  let i = 0;
  while (i < scale.edges.length && x >= scale.edges[i]) i++;
  return ink[scale.inks[i]];
}
const currentScale = () => state.colour ? scales[state.colour] : null;
