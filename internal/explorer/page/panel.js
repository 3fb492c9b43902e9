// What is known about a class, a group, two classes, a cell of the map, and a text.
"use strict";
let turn = 0; // of what the panel shows; an answer that comes late is dropped

const classLink = c => link(bdi(label(state.m, c)), e => { choose(state.m.nodeOf[c], e.shiftKey); reveal(state.m, state.m.nodeOf[c]); });
const groupLink = u => link(el("bdi", cut(title(state.m, u), 48)), () => { choose(u); zoomTo(state.m, u); });
const pairLink = (a, b) => link(bdi(label(state.m, b)), () => pair(a, b));
const meter = (share, wrong) => el("span", { class: wrong ? "meter wrong" : "meter", width: min(100, 100 * share) + "%", "aria-hidden": "true" });
const heading = text => el("h3", text);
// note is a paragraph; what looks like a flag is not broken.
const note = text => el("p", { class: "note" }, ...text.split(/(--\w+)/).map((x, i) => i % 2 ? el("code", x) : x));

// table has its number in the last column.
function table(heads, rows) {
  const cells = (list, tag) => el("tr", ...list.map((x, i) => el(tag, i === heads.length - 1 ? { class: "n" } : {}, x)));
  return el("table", el("thead", cells(heads, "th")), el("tbody", ...rows.map(r => cells(r, "td"))));
}

function path(m, v) {
  const p = el("p", { class: "path" }), up = [];
  for (let u = m.parent[v]; u >= 0; u = m.parent[u]) up.unshift(u);
  // Of a deep tree the groups nearest to the root and to the class.
  const shown = up.length > 7 ? [...up.slice(0, 2), -1, ...up.slice(-4)] : up;
  for (const u of shown) p.append(...(u < 0 ? ["…"] : [groupLink(u), m.names[u] || !u ? "" : " · " + count(classesBelow(m, u))]), " › ");
  p.append("here");
  return up.length ? p : "";
}

function facts(list) {
  const d = el("dl");
  for (const [k, v] of list) if (v !== undefined) d.append(el("dt", k), el("dd", v));
  return d;
}

function example(m, x, truth) {
  const wrong = x.predicted !== truth;
  const info = el("small");
  if (wrong) info.append("predicted as ", bdi(label(m, x.predicted)), " with " + percent(x.p) + ", the true class " + percent(x.ptrue));
  else info.append("probability " + percent(x.p));
  info.append(" · ", bdi(x.id || x.place.split(/[\\/]/).pop()));
  const p = el("div", { class: "example" }, el("p", x.text ? bdi(x.text) : el("i", "no text")), info);
  if (!inFiles && x.text && state.first.examples === "text") p.append(" ", link(wrong ? "Why?" : "Show in tree", () => tryText(x.text, wrong ? label(m, truth) : "")));
  return p;
}

function featureTable(list, unit) {
  const most = max(...list.map(x => abs(x.weight)), 1e-9);
  return table(["feature", unit], list.map(x => [el("span", bdi(x.feature), meter(abs(x.weight) / most, x.weight < 0)), signed(x.weight, 2)]));
}

function show(...parts) {
  $("details").replaceChildren(...parts.filter(Boolean));
  return ++turn;
}

// classAsked adds to the panel when it has come, unless something else is shown by then.
async function later(mine, work) {
  const wait = note("Loading …");
  $("details").append(wait);
  try {
    const parts = await work();
    if (mine === turn) wait.replaceWith(...parts.filter(Boolean));
  } catch (e) { if (mine === turn) wait.replaceWith(note(e.message)); }
}

function showNode(v) {
  const m = state.m;
  if (v < 0) return showStart();
  const single = m.cls[v] >= 0;
  return single ? showClass(m.cls[v], v) : showGroup(v);
}

function showStart() {
  const m = state.m, d = state.first.data;
  const origin = {
    model: "The tree is that of the model.",
    softmaxes: "The tree is the one that predictions walk down.",
    weights: "The model was trained without a tree. This one joins classes with similar weights (average linkage).",
    names: "There is no tree over these classes: they are in alphabetical order, in groups of equal size.",
  }[state.first.tree];
  show(el("h2", "All classes"), facts([["Classes", count(m.k)], ["Test examples", d ? count(d.examples) : "none"],
    ["Accuracy", d ? percent(sum(m, "right", 0, m.k) / d.examples) : undefined],
    ["Baseline", m.base ? percent(sum(m, "base", 0, m.k) / d.examples) + " (" + clean(d.baseline) + ")" : undefined],
    ["Left out", d && d.unknown ? plural(d.unknown, "example") + " whose label was never trained" : undefined]]),
  note(origin), note("Groups in italics have no name of their own: they are called by the words that at least half of their classes share."),
  d ? note("Click a class or a group. Then hold Shift and click a second class to see why one and not the other." + (m.base ? "" : " For the gain of sharing, give a second model with --baseline.")) : note("There are no test examples, so accuracy and confusions are not known. Start treeloss explore with --data to see them."));
  if (d) later(turn, async () => { await cells(m); return worst(m, 0, m.k, "Most frequent mistakes"); });
}

const cellTable = x => table(["true class", "predicted as", "examples"], x.list.map(([t, p, n]) => [classLink(t), pairLink(t, p), count(n)]));
function worst(m, a, b, head) {
  const x = inside(m, a, b, 0, m.k);
  return x.list.length ? [heading(head), cellTable(x)] : [];
}

function showGroup(v) {
  const m = state.m, a = m.before[v], b = past(m, v), d = m.sums;
  const n = d ? sum(m, "support", a, b) : 0;
  const mine = show(el("h2", el("bdi", title(m, v))), path(m, v), facts([
    ["Classes", count(b - a)], ["Test examples", d ? count(n) : undefined], ["Right class", n ? percent(sum(m, "right", a, b) / n) : undefined],
    ["Gain over baseline", n && m.base ? signed(100 * (sum(m, "right", a, b) - sum(m, "base", a, b)) / n, 1) + " pp" : undefined]]),
  el("div", { class: "row" }, v > 0 && button(m.closed.has(v) ? "Unfold" : "Fold", () => { fold(m, v); showNode(v); }),
    button("Zoom to it", () => state.view === "tree" ? zoomTo(m, v) : mapTo(m, v))));
  if (!d || !n) return;
  later(mine, async () => {
    const x = await cells(m);
    let within = sum(m, "right", a, b);
    for (let r = a; r < b; r++) for (let i = x.start[r]; i < x.start[r + 1]; i++) if (x.column[i] >= a && x.column[i] < b) within += x.number[i];
    return [facts([["Right group", percent(within / n) + " are predicted as some class of it"]]), ...worst(m, a, b, "Most frequent mistakes on its classes")];
  });
}

function showClass(c, v) {
  const m = state.m, d = m.sums, n = d ? m.support[c] : 0;
  const mine = show(el("h2", bdi(label(m, c))), path(m, v), facts([
    ["Test examples", d ? count(n) : undefined],
    ["Recall", n ? percent(m.right[c] / n) + " of them are predicted as it" : undefined],
    ["Precision", d && m.predicted[c] ? percent(m.right[c] / m.predicted[c]) + " of " + count(m.predicted[c]) + " predictions are right" : undefined],
    ["Gain over baseline", n && m.base ? signed(100 * (m.right[c] - m.base[c]) / n, 1) + " pp" : undefined]]),
  el("div", { class: "row" }, el("button", { type: "button", "aria-pressed": String(!!state.comparing), onclick: () => { state.comparing = !state.comparing; say(state.comparing ? "Choose the second class" : ""); showNode(v); } }, state.comparing ? "Now choose the other class" : "Compare with another class"),
    !isLeaf(m, v) && v > 0 && button(m.closed.has(v) ? "Unfold" : "Fold", () => { fold(m, v); showNode(v); })));
  later(mine, async () => {
    const [x] = await Promise.all([details(c), d ? cells(m) : null]);
    const parts = [];
    if (d) {
      const list = (from, head) => {
        const rows = mistakes(m, c, from);
        if (!rows.length) return;
        parts.push(heading(head), table(["class", "examples"], rows.slice(0, 8).map(([o, k]) => [el("span", pairLink(c, o), meter(k / max(n, k), true)), count(k)])));
        if (rows.length > 8) parts.push(note("and " + plural(rows.length - 8, "more class", "more classes")));
      };
      list(false, "Predicted as another class");
      list(true, "Other classes predicted as it");
    }
    const near = (head, list) => list && parts.push(heading(head), table(["class", "cosine"], list.map(o => [pairLink(c, o.class), o.cosine.toFixed(2)])));
    near("Nearest classes by weights", x.weights);
    near("Nearest classes by name", x.names);
    if (x.features) {
      parts.push(heading("Strongest features"), note("Weights above the mean of all classes, in nats for a feature of value 1."), featureTable(x.features.for, "weight"));
      if (x.features.against.length) parts.push(heading("Strongest features against it"), featureTable(x.features.against.slice(0, 6), "weight"));
    } else if (!state.first.weights) parts.push(note("This kind of model has no weights of single classes to show."));
    if (x.wrong.length) parts.push(heading("Wrong answers, the surest first"), ...x.wrong.map(e => example(m, e, c)));
    if (x.right.length) parts.push(heading("Right answers, the surest first"), ...x.right.map(e => example(m, e, c)));
    return parts;
  });
}

// pair shows why one class and not another.
function pair(a, b) {
  const m = state.m;
  if (a === b) return;
  state.comparing = false;
  state.chosen = m.nodeOf[a]; state.other = m.nodeOf[b];
  let u = m.nodeOf[a];
  while (!(u <= m.nodeOf[b] && m.nodeOf[b] < m.end[u])) u = m.parent[u];
  const mine = show(el("h2", bdi(label(m, a)), el("span", { class: "note" }, " and not "), bdi(label(m, b)), "?"),
    el("p", { class: "path" }, "lowest common group: ", groupLink(u), " (" + plural(classesBelow(m, u), "class", "classes") + ")"),
    el("div", { class: "row" }, button("Swap", () => pair(b, a))));
  redraw();
  later(mine, async () => {
    const [x, y] = await Promise.all([details(a), details(b), m.sums ? cells(m) : null]);
    const parts = [];
    if (m.sums) {
      const n = (t, p) => mistakes(m, t).find(q => q[0] === p)?.[1] || 0;
      parts.push(heading("Confused"), facts([[el("span", bdi(label(m, a)), " as ", bdi(label(m, b))), count(n(a, b)) + " of " + count(m.support[a])], [el("span", bdi(label(m, b)), " as ", bdi(label(m, a))), count(n(b, a)) + " of " + count(m.support[b])]]));
    }
    const near = x.weights?.find(o => o.class === b) || y.weights?.find(o => o.class === a);
    if (near) parts.push(facts([["Cosine of weights", near.cosine.toFixed(2)]]));
    let f = null;
    if (!state.first.weights) parts.push(note("This kind of model has no weights of single classes to compare."));
    else if (inFiles) {
      f = x.pairs?.find(p => p.other === b)?.features;
      const g = !f && y.pairs?.find(p => p.other === a)?.features, turned = list => list.map(w => ({ feature: w.feature, weight: -w.weight }));
      if (g) f = { for: turned(g.against), against: turned(g.for) };
      if (!f) parts.push(note("The features that tell these two classes apart need the model, which these files do not have. Files have them for classes that are often confused; treeloss explore --model has them for any two."));
    } else f = (await piece("pair-" + a + "-" + b)).features;
    if (f) {
      parts.push(heading("Features for " + cut(clean(label(m, a)), 60)), f.for.length ? featureTable(f.for, "nats") : note("none"));
      parts.push(heading("Features for " + cut(clean(label(m, b)), 60)), f.against.length ? featureTable(f.against, "nats") : note("none"));
    }
    const ab = x.wrong.filter(e => e.predicted === b), ba = y.wrong.filter(e => e.predicted === a);
    if (ab.length) parts.push(heading("Predicted as " + cut(clean(label(m, b)), 60)), ...ab.map(e => example(m, e, a)));
    if (ba.length) parts.push(heading("Predicted as " + cut(clean(label(m, a)), 60)), ...ba.map(e => example(m, e, b)));
    return parts;
  });
}

function showCell(t, p) {
  const m = state.m;
  state.chosen = m.nodeOf[t]; state.other = t === p ? -1 : m.nodeOf[p];
  const mine = show(el("h2", bdi(label(m, t)), t === p ? ", right answers" : el("span", el("span", { class: "note" }, " predicted as "), bdi(label(m, p)))),
    note(cellText(m, t, p)), el("div", { class: "row" }, button(t === p ? "All about this class" : "Why one and not the other", () => t === p ? choose(m.nodeOf[t]) : pair(t, p))));
  say(cellText(m, t, p));
  later(mine, async () => {
    const x = await details(t), list = t === p ? x.right : x.wrong.filter(e => e.predicted === p);
    return list.length ? [heading("Examples"), ...list.map(e => example(m, e, t))] : [note(m.support[t] ? "No example of this cell was kept." : "There are no test examples of this class.")];
  });
}

function showArea(x) {
  const m = state.m;
  show(el("h2", "A part of the map"), note(plural(x.examples, "mistake") + " in " + plural(x.cells, "cell") + " near this place."), ...(x.list.length ? [cellTable(x)] : []));
}

// ---- a text ----
let tries = 0;
async function tryText(text, against) {
  const m = state.m, mine = ++tries;
  $("text").value = text;
  if (!text.trim()) { $("answer").replaceChildren(note("Type a text first.")); return; }
  const body = { model: state.model };
  if (state.first.columns) body.examples = [text.split(/[\s,;]+/).filter(Boolean).map(Number)];
  else body.text = text;
  if (state.first.hedges) {
    const c = Number($("confidence").value);
    if (!(c > 0 && c <= 100)) { $("answer").replaceChildren(note("The confidence must be above 0 and at most 100 %.")); return; }
    body.confidence = c / 100;
  }
  if (against) body.against = against;
  $("answer").setAttribute("aria-busy", "true");
  let a;
  try { a = await ask("api/why", body); } catch (e) {
    if (mine === tries) $("answer").replaceChildren(note(e.message));
    return;
  } finally { $("answer").removeAttribute("aria-busy"); }
  if (mine !== tries || m !== state.m) return;
  state.flow = { mass: new Map(a.mass.map(x => [x.node, x.p])), hedged: a.hedged ? a.hedged.node : -1 };
  $("clear").hidden = false;
  const parts = [table(["answer", "probability"], a.classes.slice(0, 5).map(x => [el("span", classLink(x.class), meter(x.p)), percent(x.p)]))];
  if (a.hedged) {
    const h = a.hedged, name = el("b", el("bdi", title(m, h.node)));
    parts.push(el("div", { class: "hedge" }, "Hedged answer, at least " + +(100 * h.confidence).toFixed(2) + " % sure: ",
      h.node === 0 && h.class < 0 ? "none; only the root is as probable." : el("span", name, h.class >= 0 ? "" : " (one of " + plural(h.classes, "class", "classes") + ")", ", " + percent(h.p) + ". It has the orange ring in the tree.")));
  }
  if (a.words?.length) {
    const most = max(...a.words.map(w => abs(w.contribution)), 1e-9), box = el("div", { class: "words" });
    for (const w of a.words) {
      const s = abs(w.contribution) / most, step = s >= .66 ? 3 : s >= .33 ? 2 : s >= .1 ? 1 : 0;
      box.append(step ? el("span", { class: (w.contribution > 0 ? "f" : "g") + step, title: signed(w.contribution, 2) + " nats" }, clean(w.text)) : clean(w.text));
    }
    parts.push(heading("Evidence"), el("p", { class: "note" }, "Blue words speak for ", bdi(label(m, a.classes[0].class)), ", orange ones for ", bdi(label(m, a.rival)), "." + (a.encoder ? " The sentence encoder adds " + signed(a.encoder, 2) + " nats that belong to no single word." : "")), box);
  }
  if (a.rival !== undefined && state.first.examples === "text" && !a.words) parts.push(note("The text is too long for its words to be highlighted."));
  if (a.rival !== undefined) {
    const list = [...(a.positive || []), ...(a.negative || [])];
    parts.push(el("details", el("summary", "Features: " + signed(a.difference, 2) + " nats above ", bdi(label(m, a.rival)), ", " + signed(a.bias, 2) + " of them bias"), list.length ? featureTable(list, "nats") : note("The model has none of the features of this example.")),
      el("div", { class: "row" }, button("Compare the two classes", () => pair(a.classes[0].class, a.rival))));
  }
  $("answer").replaceChildren(...parts);
  if (state.view !== "tree") setView("tree");
  // The part of the tree in which nearly all of the probability is.
  let v = 0;
  for (let next = 0; next >= 0;) { v = next; next = -1; for (let c = v + 1; c < m.end[v]; c = m.end[c]) if ((state.flow.mass.get(c) || 0) >= .97 && classesBelow(m, c) >= 8) next = c; }
  zoomTo(m, v);
}
