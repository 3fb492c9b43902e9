// The tree on a canvas: rows are classes, the root is at the left. Only what is in view and
// at least about a pixel high is drawn; a strip has the colours of all rows, averaged where
// several share a pixel. A group too small to open is a row with its title.
"use strict";
const least = 13; // pixels of a row with a label
const tallest = 26;
const T = { top: 0, scale: 0, left: 0, hits: [], drawn: 0, focus: 0, moving: null, x0: 16, x1: 0, w: 0, h: 0 };
const slow = matchMedia("(prefers-reduced-motion: reduce)");
const font = (px, style = "") => style + " " + px + "px system-ui, 'Segoe UI', Roboto, Arial, sans-serif";

// sized returns the context of a canvas with one unit a CSS pixel.
function sized(canvas) {
  const w = canvas.clientWidth, h = canvas.clientHeight, d = window.devicePixelRatio || 1;
  if (canvas.width !== round(w * d) || canvas.height !== round(h * d)) { canvas.width = round(w * d); canvas.height = round(h * d); }
  const g = canvas.getContext("2d");
  g.setTransform(d, 0, 0, d, 0, 0);
  g.clearRect(0, 0, w, h);
  return [g, w, h];
}

// ellipsis cuts a text to a width; widths are kept, as measuring is slow.
const widths = new Map();
function widthOf(g, text) {
  const key = g.font + "|" + text;
  let w = widths.get(key);
  if (w === undefined) {
    if (widths.size > 20000) widths.clear();
    widths.set(key, w = g.measureText(text).width);
  }
  return w;
}
function ellipsis(g, text, wide) {
  if (wide < 8) return "";
  if (text.length > 200) text = text.slice(0, 200);
  if (widthOf(g, text) <= wide) return text;
  let lo = 0, hi = text.length;
  while (lo < hi) { const mid = (lo + hi + 1) >> 1; if (g.measureText(text.slice(0, mid) + "…").width <= wide) lo = mid; else hi = mid - 1; }
  return lo ? text.slice(0, lo) + "…" : "";
}

const shut = (m, v) => isLeaf(m, v) || m.closed.has(v);
const topOf = (m, v) => 8 + (m.pos[m.before[v]] - T.top) * T.scale;
const bottomOf = (m, v) => 8 + (m.pos[past(m, v)] - T.top) * T.scale;
const middle = (m, v) => (topOf(m, v) + bottomOf(m, v)) / 2;

// across is how far right a node stands, before scaling: its depth in a low tree, else by
// the logarithm of its number of classes, which spreads deep binary trees evenly.
function across(m, v) {
  if (m.height <= 8) return shut(m, v) ? m.height : m.depth[v];
  const n = classesBelow(m, v);
  return n <= 1 || shut(m, v) ? 1 : 1 - Math.log(n) / Math.log(m.k);
}
function xOf(m, v) {
  const right = m.height <= 8 ? m.height : 1;
  return T.x0 + max(0, (across(m, v) - T.left) / max(right - T.left, 1e-9)) * (T.x1 - T.x0);
}

function rowAt(m, p) { // the row at a position, by bisection
  let lo = 0, hi = m.k - 1;
  while (lo < hi) { const mid = (lo + hi + 1) >> 1; if (m.pos[mid] <= p) lo = mid; else hi = mid - 1; }
  return lo;
}

// covering returns the deepest group that holds all rows from a to b.
function covering(m, a, b) {
  let v = 0;
  for (;;) {
    let next = -1;
    for (let c = v + 1; c < m.end[v]; c = m.end[c]) if (m.before[c] <= a && past(m, c) > b && !shut(m, c)) { next = c; break; }
    if (next < 0) return v;
    v = next;
  }
}

function treeLimits(m) {
  const total = m.pos[m.k], room = max(T.h - 16, 50);
  const fitting = min(tallest, room / total);
  // At first all is shown, or all names where they take two windows.
  T.scale = min(max(T.scale || (total * 15 <= 2 * room ? 15 : fitting), fitting), tallest);
  T.top = max(0, min(T.top, total - room / T.scale));
}

// labelled calls use with the nodes that get a row with a label: classes that are high enough, and
// groups that are while none of their parts is.
function labelled(m, top, bottom, h, use) {
  const stack = [0];
  while (stack.length) {
    const v = stack.pop(), a = top(v), b = bottom(v);
    if (b < 0 || a > h || b - a < least) continue;
    if (shut(m, v)) { use(v, a, b); continue; }
    let any = false;
    const own = m.cls[v] >= 0, line = (b - a) / classesBelow(m, v);
    const from = stack.length;
    for (let c = v + 1; c < m.end[v]; c = m.end[c]) if (bottom(c) - top(c) >= least) { any = true; stack.push(c); }
    if (!any) use(v, a, b);
    else if (own && line >= least) use(v, a, a + line, true);
    for (let i = from, j = stack.length - 1; i < j; i++, j--) [stack[i], stack[j]] = [stack[j], stack[i]];
  }
}

function drawTree() {
  const m = state.m;
  if (!m) return;
  const [g, w, h] = sized($("tree"));
  T.w = w; T.h = h;
  treeLimits(m);
  const labels = w < 560 ? round(w * .62) : min(380, round(w * .42));
  T.x1 = w - labels;
  const first = rowAt(m, T.top), last = rowAt(m, T.top + (h - 16) / T.scale - 1e-6);
  T.focus = covering(m, first, last);
  const goal = T.focus === 0 ? 0 : across(m, m.parent[T.focus]);
  if (slow.matches || abs(goal - T.left) < 1e-3) T.left = goal;
  else { T.left += (goal - T.left) * .3; redraw(); }
  let drawn = 0;

  // What is chosen, behind everything.
  for (const v of [state.chosen, state.other]) {
    if (v < 0) continue;
    const a = topOf(m, v), b = max(bottomOf(m, v), a + 2);
    g.fillStyle = ink.chosen;
    g.fillRect(shut(m, v) ? T.x1 : xOf(m, v), a, w, (m.cls[v] >= 0 && !shut(m, v) ? T.scale : b - a));
  }

  // The strip of colours.
  const scale = currentScale();
  const strip = 12;
  if (T.scale >= 3) {
    for (let r = first; r <= last && r < m.k; r++) {
      const a = 8 + (m.pos[r] - T.top) * T.scale, b = 8 + (m.pos[r + 1] - T.top) * T.scale;
      if (b - a < 2.9) continue;
      g.fillStyle = scale ? inkOf(scale, scale.of(m, r, r + 1)) : ink.ig;
      g.fillRect(T.x1, a, strip, max(b - a - (T.scale >= 6 ? 1 : 0), 1));
      drawn++;
    }
    for (const v of m.closed) { // a closed group is one row
      const a = topOf(m, v), b = bottomOf(m, v);
      if (b < 0 || a > h || b - a < 2) continue;
      g.fillStyle = scale ? inkOf(scale, scale.of(m, m.before[v], past(m, v))) : ink.ig;
      g.fillRect(T.x1, a, strip, b - a - 1);
      drawn++;
    }
  } else {
    let run = 8, colour = "";
    const bottom = min(h, 8 + (m.pos[m.k] - T.top) * T.scale);
    let r = first;
    for (let y = 8; y <= bottom; y++) {
      let c = "";
      if (y < bottom) {
        const p = T.top + (y + 1 - 8) / T.scale, from = r;
        while (r < m.k && m.pos[r + 1] <= p) r++;
        c = scale ? inkOf(scale, scale.of(m, from, max(r, min(from + 1, m.k)))) : ink.ig;
      }
      if (c !== colour) {
        if (colour) { g.fillStyle = colour; g.fillRect(T.x1, run, strip, y - run); drawn++; }
        colour = c; run = y;
      }
    }
  }

  // The branches: lines of all in one path, those of a text by their probability, then
  // the paths to what is chosen. What is too low for lines of its own is a wedge.
  const flow = state.flow, plain = new Path2D(), wedges = new Path2D(), chosenPath = new Path2D(), thick = [], discs = [];
  const marked = new Set();
  for (const c of [state.chosen, state.other]) for (let v = c; v >= 0; v = m.parent[v]) marked.add(v);
  const wedge = (x, y, a, b) => {
    if (b < -2 || a > h + 2) return;
    wedges.moveTo(x, y); wedges.lineTo(T.x1, max(a, -20)); wedges.lineTo(T.x1, min(b, h + 20)); wedges.closePath();
    drawn++;
  };
  const stack = [T.focus];
  if (T.focus > 0) { const y = round(min(max(middle(m, T.focus), 4), h - 4)) + .5; plain.moveTo(0, y); plain.lineTo(xOf(m, T.focus), y); }
  while (stack.length) {
    const v = stack.pop(), x = round(xOf(m, v)) + .5, mark = marked.has(v), mid = middle(m, v);
    let lo = Infinity, hi = -Infinity, lowMark = mid, highMark = mid, runA = NaN, runB = 0;
    const run = () => { if (!Number.isNaN(runA)) { const y = (runA + runB) / 2; lo = min(lo, y); hi = max(hi, y); wedge(x, y, runA, runB); runA = NaN; } };
    const line = (y, to, c) => {
      lo = min(lo, y); hi = max(hi, y);
      const p = flow && c >= 0 ? flow.mass.get(c) : 0;
      if (p) thick.push([x, y, to, p, v]);
      if (mark && marked.has(c)) { chosenPath.moveTo(x, y); chosenPath.lineTo(to, y); lowMark = min(lowMark, y); highMark = max(highMark, y); }
      if (y < -20 || y > h + 20) return;
      const at = round(y) + .5;
      plain.moveTo(x, at); plain.lineTo(to, at);
      drawn++;
    };
    if (m.cls[v] >= 0) line(8 + ((m.pos[m.before[v]] + m.pos[m.before[v] + 1]) / 2 - T.top) * T.scale, T.x1, -1);
    for (let c = v + 1; c < m.end[v]; c = m.end[c]) {
      const a = topOf(m, c), b = bottomOf(m, c), open = !shut(m, c), y = (a + b) / 2;
      if (b - a < 4 && !marked.has(c) && !(flow && flow.mass.has(c))) { // many of these are one wedge
        if (Number.isNaN(runA)) runA = a;
        runB = b;
        if (a > h + 2) { hi = max(hi, h + 5); runA = NaN; break; }
        continue;
      }
      run();
      line(y, open ? xOf(m, c) : T.x1, c);
      if (b < -2) continue;
      if (a > h + 2) break; // what follows is below the picture
      if (open && (b - a >= 14 || marked.has(c) || flow && flow.mass.has(c))) stack.push(c);
      else if (open) wedge(xOf(m, c), y, a, b);
    }
    run();
    if (hi > lo) { plain.moveTo(x, max(lo, -5)); plain.lineTo(x, min(hi, h + 5)); }
    if (highMark > lowMark) { chosenPath.moveTo(x, max(lowMark, -5)); chosenPath.lineTo(x, min(highMark, h + 5)); }
    if (v && bottomOf(m, v) - topOf(m, v) >= 22) discs.push([v, x, mid]);
  }
  g.fillStyle = ink.ig; g.fill(wedges);
  g.lineWidth = 1; g.strokeStyle = ink.edge; g.stroke(plain);
  if (flow) {
    g.strokeStyle = ink.i3; g.lineCap = "butt";
    for (const [x, y, to, p, v] of thick) {
      g.lineWidth = 1.5 + 8 * p;
      g.beginPath();
      const from = min(max(middle(m, v), -20), h + 20), at = min(max(y, -20), h + 20);
      g.moveTo(x, from); g.lineTo(x, at); g.lineTo(to, at);
      g.stroke();
    }
  }
  g.lineWidth = 2; g.strokeStyle = ink.link; g.stroke(chosenPath);
  for (const [v, x, y] of discs) {
    if (y < -5 || y > h + 5) continue;
    g.beginPath(); g.arc(x, y, 3.5, 0, 7);
    g.fillStyle = ink.ip; g.fill();
    g.lineWidth = 1; g.strokeStyle = ink.edge; g.stroke();
  }

  // Labels.
  T.hits = [];
  g.textBaseline = "middle";
  const wide = w > 340, valueRight = w - 12;
  labelled(m, v => topOf(m, v), v => bottomOf(m, v), h, (v, a, b, own) => {
    const single = isLeaf(m, v) || own, y = (max(a, 0) + min(b, h)) / 2, from = m.before[v], to = own ? from + 1 : past(m, v);
    T.hits.push({ v, a, b });
    if (min(b, h) - max(a, 0) < least - 3) return; // cut by the edge
    let value = "";
    if (flow) { const p = own ? 0 : flow.mass.get(v); value = p ? percent(p) : ""; }
    else if (scale) { const x = scale.of(m, from, to); value = Number.isNaN(x) ? "no examples" : scale.text(x); }
    g.font = font(12);
    g.textAlign = "right"; g.fillStyle = ink.ia;
    if (wide && value) g.fillText(value, valueRight, y);
    g.textAlign = "left";
    let x = T.x1 + strip + 8;
    if (!single) {
      g.strokeStyle = ink.edge; g.lineWidth = 1;
      g.beginPath(); g.moveTo(x - 3.5, max(a, 0) + 2); g.lineTo(x - 3.5, min(b, h) - 2); g.stroke();
      x += 3;
    }
    const room = (wide && value ? valueRight - widthOf(g, value) - 10 : valueRight) - x;
    g.fillStyle = ink.iw;
    if (single) g.fillText(ellipsis(g, title(m, v), room), x, y);
    else {
      g.font = font(12);
      const number = " · " + plural(classesBelow(m, v), "class", "classes"), n = widthOf(g, number);
      g.font = font(12, m.names[v] || v === 0 ? "600" : "italic");
      const text = ellipsis(g, (m.closed.has(v) ? "▸ " : "") + title(m, v), room - n);
      g.fillText(text, x, y);
      const used = g.measureText(text).width;
      g.font = font(12); g.fillStyle = ink.ia;
      if (text || n < room) g.fillText(number, x + used, y);
    }
    drawn++;
  });

  // Names of open groups, on their branches where there is room.
  g.font = font(11); g.textAlign = "left"; g.textBaseline = "bottom";
  const boxes = [];
  for (const [v, x, y] of discs) {
    if (!m.names[v] && !(flow && flow.hedged === v)) continue;
    const py = min(max(y, 14), h - 4), up = xOf(m, m.parent[v]), room = x - up - 8;
    if (room < 34) continue;
    const text = ellipsis(g, title(m, v), room);
    if (!text || boxes.some(b => abs(b[1] - py) < 12 && b[0] < x && up < b[2])) continue;
    boxes.push([up, py, x]);
    g.fillStyle = ink.ip; g.globalAlpha = .8; g.fillRect(up + 3, py - 14, widthOf(g, text) + 3, 13); g.globalAlpha = 1;
    g.fillStyle = ink.ia; g.fillText(text, up + 4, py - 2);
  }
  g.textBaseline = "middle";
  if (flow && flow.hedged >= 0) {
    const v = flow.hedged, leaf = shut(m, v) || bottomOf(m, v) - topOf(m, v) < 1.5;
    const y = middle(m, v), x = leaf ? T.x1 + 6 : round(xOf(m, v)) + .5;
    if (y > -10 && y < h + 10) {
      g.lineWidth = 3; g.strokeStyle = ink.i2; g.beginPath(); g.arc(x, y, 8, 0, 7); g.stroke();
    }
  }
  T.drawn = drawn;
  if (!T.first) T.first = performance.mark("first-picture");
}

// nodeAt returns the node at a point: what the line there leads to.
function nodeAt(m, x, y) {
  if (x >= T.x1 - 4) { const hit = T.hits.find(t => y >= t.a && y < t.b); if (hit) return hit.v; }
  let v = T.focus;
  if (y < topOf(m, v) || y > bottomOf(m, v)) return -1;
  for (;;) {
    if (xOf(m, v) >= x || shut(m, v)) return v;
    let next = -1;
    for (let c = v + 1; c < m.end[v]; c = m.end[c]) if (bottomOf(m, c) > y) { if (topOf(m, c) <= y) next = c; break; }
    if (next < 0 || bottomOf(m, next) - topOf(m, next) < 3) return next < 0 ? v : shut(m, next) ? next : v;
    v = next;
  }
}

// discAt returns the open group whose disc is at a point, -1 for none.
function discAt(m, x, y) {
  const v = nodeAt(m, x - 5, y);
  return v > 0 && !isLeaf(m, v) && Math.hypot(xOf(m, v) - x, middle(m, v) - y) < 8 ? v : -1;
}

// glide moves the view, at once for those who do not want to see it move.
function glide(top, scale) {
  if (slow.matches) { T.top = top; T.scale = scale; T.moving = null; return redraw(); }
  T.moving = { from: [T.top, T.scale], to: [top, scale], start: performance.now() };
  redraw();
}
function step(now) {
  const a = T.moving;
  if (!a) return;
  const t = min(1, max(0, (now - a.start) / 220)), e = 1 - (1 - t) ** 3;
  // In between the scale is a geometric mean, and the middle moves straight.
  const scale = a.from[1] * (a.to[1] / a.from[1]) ** e, half = T.h / 2;
  const from = a.from[0] + half / a.from[1], to = a.to[0] + half / a.to[1];
  T.scale = scale; T.top = from + (to - from) * e - half / scale;
  if (t >= 1) { [T.top, T.scale] = a.to; T.moving = null; }
  redraw();
}

function zoomTo(m, v, margin = 0) {
  const a = m.pos[m.before[v]], b = m.pos[past(m, v)], room = max(T.h - 16, 50), fitting = min(tallest, room / m.pos[m.k]);
  const scale = min(tallest, max(fitting, room / (b - a + margin)));
  glide(max(0, min((a + b) / 2 - room / scale / 2, m.pos[m.k] - room / scale)), scale);
}

// reveal opens the groups above a node and brings it into view, large enough to be read.
function reveal(m, v) {
  let opened = false;
  for (let u = m.parent[v]; u >= 0; u = m.parent[u]) opened = m.closed.delete(u) || opened;
  if (opened) layout(m);
  const a = m.pos[m.before[v]], b = m.pos[past(m, v)], room = max(T.h - 16, 50);
  const scale = (b - a) * T.scale < 16 ? min(tallest, 18 / (b - a)) : T.scale;
  let top = T.top;
  if (scale !== T.scale || a < top || min(b, a + room / scale) > top + room / scale) top = (a + min(b, a + room / scale)) / 2 - room / scale / 2;
  glide(max(0, min(top, max(0, m.pos[m.k] - room / scale))), scale);
}

function fold(m, v) {
  if (v <= 0 || isLeaf(m, v)) return;
  if (!m.closed.delete(v)) m.closed.add(v);
  layout(m);
  T.moving = null;
  redraw();
  say((m.closed.has(v) ? "Folded " : "Unfolded ") + title(m, v));
}

function treeZoom(factor, y) {
  const m = state.m;
  T.moving = null;
  const at = T.top + (y - 8) / T.scale;
  T.scale *= factor;
  treeLimits(m);
  T.top = at - (y - 8) / T.scale;
  redraw();
}

function treeKey(e) {
  const m = state.m, v = state.chosen;
  const order = T.hits;
  const at = order.findIndex(t => t.v === v);
  let next = -1;
  switch (e.key) {
    case "ArrowDown": next = at < 0 ? (v < 0 || !order.length ? order[0]?.v : order.find(t => t.a >= topOf(m, v))?.v) : order[at + 1]?.v ?? after(m, order.at(-1)?.v); break;
    case "ArrowUp": next = at < 0 ? order[0]?.v : order[at - 1]?.v ?? beforeNode(m, order[0]?.v); break;
    case "ArrowLeft": next = v > 0 ? m.parent[v] : 0; break;
    case "ArrowRight": if (v >= 0 && !isLeaf(m, v)) { if (m.closed.has(v)) fold(m, v); next = v + 1; } break;
    case "Home": next = order[0]?.v; break;
    case "End": next = order.at(-1)?.v; break;
    case "Enter": if (v >= 0) isLeaf(m, v) ? reveal(m, v) : zoomTo(m, v); break;
    case " ": fold(m, v); break;
    case "+": case "=": treeZoom(1.5, T.h / 2); break;
    case "-": case "−": treeZoom(1 / 1.5, T.h / 2); break;
    case "0": zoomTo(m, 0); break;
    default: return;
  }
  e.preventDefault();
  if (next !== undefined && next >= 0) { choose(next, e.shiftKey); reveal(m, next); }
}
const after = (m, v) => v === undefined || m.end[v] >= m.n ? undefined : leafFrom(m, m.end[v]);
const leafFrom = (m, v) => { while (!shut(m, v)) v++; return v; };
const beforeNode = (m, v) => { if (v === undefined || m.before[v] === 0) return undefined; let u = m.nodeOf[m.classAt[m.before[v] - 1]]; for (let p = u; p >= 0; p = m.parent[p]) if (m.closed.has(p)) u = p; return u; };
