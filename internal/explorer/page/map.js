// The confusion map on a canvas: a row for each true class, a column for each predicted one,
// both in the order of the tree. Cells smaller than two pixels are added up in bins.
"use strict";
const C = { x: 0, y: 0, s: 0, w: 0, h: 0, left: 0, top: 0, bin: 1, row: -1, column: -1, drawn: 0 };

const cellEdges = [.02, .05, .1, .25], rightEdges = [.5, .7, .85, .95];
function shareInk(share, right, bin) {
  const edges = right ? rightEdges : cellEdges.map(e => bin > 1 ? e / 5 : e);
  let i = 0;
  while (i < edges.length && share >= edges[i]) i++;
  return ink[(right ? "ir" : "im") + (i + 1)];
}

function mapLimits(m) {
  const side = min(C.w - C.left - 8, C.h - C.top - 8), fitting = side / m.k;
  C.s = min(max(C.s || fitting, fitting), max(fitting, 34));
  C.x = max(0, min(C.x, m.k - (C.w - C.left - 8) / C.s));
  C.y = max(0, min(C.y, m.k - (C.h - C.top - 8) / C.s));
}

function drawMap() {
  const m = state.m;
  if (!m) return;
  const [g, w, h] = sized($("map"));
  C.w = w; C.h = h;
  C.left = w < 560 ? 92 : 190; C.top = w < 560 ? 70 : 120;
  C.drawn = 0;
  if (!m.cells) return;
  mapLimits(m);
  const { start, column, number } = m.cells, s = C.s, X = c => C.left + (c - C.x) * s, Y = r => C.top + (r - C.y) * s;
  const r0 = max(0, floor(C.y)), r1 = min(m.k, ceil(C.y + (h - C.top) / s)), c0 = max(0, floor(C.x)), c1 = min(m.k, ceil(C.x + (w - C.left) / s));
  g.save();
  g.beginPath(); g.rect(C.left, C.top, min(w - C.left, (m.k - C.x) * s), min(h - C.top, (m.k - C.y) * s)); g.clip();
  g.fillStyle = ink.field; g.fillRect(C.left, C.top, w, h);
  const support = r => m.support[m.classAt[r]];
  if (s >= 2) {
    C.bin = 1;
    const gap = s >= 6 ? 1 : 0;
    const cell = (r, c, n, right) => {
      g.fillStyle = shareInk(n / support(r), right, 1);
      g.fillRect(X(c), Y(r), s - gap, s - gap);
      if (s >= 18 && n) {
        g.fillStyle = n / support(r) >= (right ? .85 : .1) ? ink.io : ink.iw;
        g.font = font(s > 26 ? 12 : 10); g.textAlign = "center"; g.textBaseline = "middle";
        g.fillText(n, X(c) + s / 2, Y(r) + s / 2);
      }
      C.drawn++;
    };
    for (let r = r0; r < r1; r++) {
      if (r >= c0 && r < c1 && support(r)) cell(r, r, m.right[m.classAt[r]], true);
      for (let i = start[r]; i < start[r + 1]; i++) if (column[i] >= c0 && column[i] < c1) cell(r, column[i], number[i], false);
    }
  } else {
    const bin = C.bin = ceil(3 / s), br0 = floor(r0 / bin), bc0 = floor(c0 / bin), rows = floor((r1 - 1) / bin) - br0 + 1, columns = floor((c1 - 1) / bin) - bc0 + 1;
    const wrong = new Float32Array(rows * columns), right = new Float32Array(rows), total = new Float32Array(rows);
    for (let r = r0; r < r1; r++) {
      const b = floor(r / bin) - br0;
      total[b] += support(r); right[b] += m.right[m.classAt[r]];
      for (let i = start[r]; i < start[r + 1]; i++) if (column[i] >= c0 && column[i] < c1) wrong[b * columns + floor(column[i] / bin) - bc0] += number[i];
    }
    for (let a = 0; a < rows; a++) for (let b = 0; b < columns; b++) {
      const diagonal = a + br0 === b + bc0, n = wrong[a * columns + b];
      if (!diagonal && !n || diagonal && !total[a]) continue;
      g.fillStyle = shareInk((diagonal ? right[a] + n : n) / total[a], diagonal, bin);
      g.fillRect(X((b + bc0) * bin), Y((a + br0) * bin), bin * s, bin * s);
      C.drawn++;
    }
  }
  // Squares of the groups along the diagonal.
  g.strokeStyle = ink.edge; g.lineWidth = 1; g.beginPath();
  const stack = [[0, Infinity]];
  while (stack.length) {
    const [v, above] = stack.pop(), a = m.before[v], b = past(m, v), size = (b - a) * s;
    if (size < 14 || Y(b) < C.top || Y(a) > h || isLeaf(m, v)) continue;
    const draw = b - a <= .75 * above;
    if (draw && v) { g.rect(round(X(a)) + .5, round(Y(a)) + .5, round(size), round(size)); C.drawn++; }
    for (let c = v + 1; c < m.end[v]; c = m.end[c]) stack.push([c, draw ? b - a : above]);
  }
  g.stroke();
  if (C.row >= 0) {
    g.strokeStyle = ink.link; g.lineWidth = 2;
    g.strokeRect(X(C.column), Y(C.row), max(s, 4), max(s, 4));
  }
  g.restore();
  // Names of rows, then of columns.
  const closed = m.closed;
  m.closed = new Set();
  const names = (at, from, to, side) => labelled(m, v => at(m.before[v]), v => at(past(m, v)), to, (v, a, b, own) => {
    const y = (max(a, from) + min(b, to)) / 2;
    if (b < from + 6 || a > to - 6) return;
    const group = !isLeaf(m, v) && !own;
    g.font = font(11, group ? (m.names[v] ? "600" : "italic") : "");
    g.fillStyle = group ? ink.ia : ink.iw;
    g.textAlign = side ? "left" : "right"; g.textBaseline = "middle";
    const text = ellipsis(g, title(m, v) + (group ? " · " + count(classesBelow(m, v)) : ""), (side ? C.top : C.left) - 12);
    if (side) { g.save(); g.translate(y, C.top - 6); g.rotate(-Math.PI / 2); g.fillText(text, 0, 0); g.restore(); }
    else g.fillText(text, C.left - 6, y);
    C.drawn++;
  });
  names(Y, C.top, min(h, Y(m.k)), false);
  names(X, C.left, min(w, X(m.k)), true);
  m.closed = closed;
  g.font = font(11); g.fillStyle = ink.ia; g.textAlign = "right"; g.textBaseline = "top";
  g.fillText("predicted →", C.left - 8, C.top - 32);
  g.fillText("true ↓", C.left - 8, C.top - 16);
}

const cellAt = (m, x, y) => {
  const c = floor(C.x + (x - C.left) / C.s), r = floor(C.y + (y - C.top) / C.s);
  return x < C.left || y < C.top || r < 0 || c < 0 || r >= m.k || c >= m.k ? null : [r, c];
};

// inside lists the cells of an area that are not 0, the most frequent first.
function inside(m, r0, r1, c0, c1) {
  const { start, column, number } = m.cells, out = [];
  let examples = 0;
  for (let r = max(0, r0); r < min(m.k, r1); r++) for (let i = start[r]; i < start[r + 1]; i++) if (column[i] >= c0 && column[i] < c1) { out.push([m.classAt[r], m.classAt[column[i]], number[i]]); examples += number[i]; }
  return { examples, cells: out.length, list: out.sort((a, b) => b[2] - a[2] || a[0] - b[0] || a[1] - b[1]).slice(0, 12) };
}

function mapZoom(factor, x, y) {
  const m = state.m;
  if (!m.cells) return;
  const cx = C.x + (x - C.left) / C.s, cy = C.y + (y - C.top) / C.s;
  C.s *= factor;
  mapLimits(m);
  C.x = cx - (x - C.left) / C.s; C.y = cy - (y - C.top) / C.s;
  mapLimits(m);
  redraw();
}

const mapMiddle = f => mapZoom(f, (C.left + C.w) / 2, (C.top + C.h) / 2);

// mapTo shows the square of a group, or all.
function mapTo(m, v) {
  const a = m.before[v], b = past(m, v), side = min(C.w - C.left - 8, C.h - C.top - 8);
  C.s = side / (b - a); C.x = C.y = a;
  mapLimits(m);
  redraw();
}

function mapClick(m, x, y) {
  const at = cellAt(m, x, y);
  if (!at) { // a name
    let hit = -1;
    if (x < C.left && y > C.top) { const r = floor(C.y + (y - C.top) / C.s); if (r < m.k) hit = r; }
    else if (y < C.top && x > C.left) { const c = floor(C.x + (x - C.left) / C.s); if (c < m.k) hit = c; }
    if (hit >= 0) { if (C.s >= least) choose(m.nodeOf[m.classAt[hit]]); else { let v = m.nodeOf[m.classAt[hit]]; while (v > 0 && classesBelow(m, v) * C.s < least) v = m.parent[v]; choose(v); mapTo(m, v); } }
    return;
  }
  [C.row, C.column] = at;
  if (C.s >= 5) showCell(m.classAt[at[0]], m.classAt[at[1]]);
  else { // too small to be meant alone: what is around it, and nearer
    const near = ceil(6 / C.s);
    showArea(inside(m, at[0] - near, at[0] + near + 1, at[1] - near, at[1] + near + 1));
    mapZoom(4, x, y);
  }
  redraw();
}

function mapKey(e) {
  const m = state.m;
  if (!m.cells) return;
  const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key];
  if (move) {
    const by = max(1, round(4 / C.s));
    if (C.row < 0) { C.row = floor(C.y); C.column = floor(C.x); }
    else { C.row = min(m.k - 1, max(0, C.row + by * move[0])); C.column = min(m.k - 1, max(0, C.column + by * move[1])); }
    const rows = (C.h - C.top) / C.s, columns = (C.w - C.left) / C.s;
    if (C.row < C.y || C.row + 1 > C.y + rows) C.y = C.row - rows / 2;
    if (C.column < C.x || C.column + 1 > C.x + columns) C.x = C.column - columns / 2;
    const t = m.classAt[C.row], p = m.classAt[C.column];
    say(cellText(m, t, p));
  } else if (e.key === "Enter" && C.row >= 0) mapClick(m, C.left + (C.column + .5 - C.x) * C.s, C.top + (C.row + .5 - C.y) * C.s);
  else if (e.key === "+" || e.key === "=") C.row < 0 ? mapMiddle(1.6) : mapZoom(1.6, C.left + (C.column + .5 - C.x) * C.s, C.top + (C.row + .5 - C.y) * C.s);
  else if (e.key === "-" || e.key === "−") mapMiddle(1 / 1.6);
  else if (e.key === "0") mapTo(m, 0);
  else return;
  e.preventDefault();
  redraw();
}

function cellText(m, t, p) {
  const r = m.rowOf[t], c = m.rowOf[p], { start, column, number } = m.cells;
  let n = 0;
  if (t === p) n = m.right[t];
  else for (let i = start[r]; i < start[r + 1]; i++) if (column[i] === c) n = number[i];
  const share = m.support[t] ? " (" + percent(n / m.support[t]) + " of " + count(m.support[t]) + ")" : "";
  return t === p ? clean(label(m, t)) + ": " + count(n) + " right" + share : clean(label(m, t)) + " predicted as " + clean(label(m, p)) + ": " + plural(n, "example") + share;
}
