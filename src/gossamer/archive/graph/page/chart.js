// The graph, drawn: a canvas that is moved and zoomed, with the same marks as the tree.

const chart = { found: [], owner: null, forces: null, x: 0, y: 0, zoom: 1, at: null, over: null, isStale: true, isMoved: false };
const canvas = $("canvas");
const pen = canvas.getContext("2d");
const shapes = MARKS.map((mark) => new Path2D(mark.path));
let colors = {};

const DRAWN = 3000; // links at once, the strongest
const LABELS = 40;

function readColors() {
  const style = getComputedStyle(document.documentElement);
  colors = Object.fromEntries(["--ink", "--faint", "--paper", "--web", "--out", "--in", ...MARKS.map((mark) => mark.color)].map((name) => [name, style.getPropertyValue(name)]));
}

/** Gather the bubbles anew; those that were there stay where they are. */
function rebuild() {
  const places = new Map(chart.found.map((each) => [keyOf(each), each]));
  if (!spread.size) spreadSome();
  Object.assign(chart, bubbles(), { at: null, over: null, isStale: false });
  for (const each of chart.found) {
    const before = places.get(keyOf(each)) || (each.folder && places.get(each.folder));
    if (before) { each.x = before.x + Math.random(); each.y = before.y + Math.random(); }
  }
  lay();
  point();
}

const keyOf = (bubble) => (bubble.node >= 0 ? bubble.node : bubble.folder);

function lay() {
  chart.forces = null;
  if ($("layout").value === "rings") {
    chart.found.forEach((each) => delete each.angle);
    layRings(chart.found);
  } else chart.forces = new Forces(chart.found);
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) while (chart.forces?.step());
  chart.isMoved = false;
  tickle();
}

let frame = 0;

function tickle() {
  if (!frame) frame = requestAnimationFrame(animate);
}

function animate() {
  frame = 0;
  const until = performance.now() + 14;
  while (chart.forces && performance.now() < until) if (!chart.forces.step()) chart.forces = null;
  if (!chart.isMoved) fit();
  draw();
  if (chart.forces) tickle();
}

function fit() {
  const { found } = chart;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (!found.length || !width) return;
  const edge = (value, pick) => pick(...found.map(value));
  const left = edge((b) => b.x - b.radius, Math.min), right = edge((b) => b.x + b.radius, Math.max);
  const top = edge((b) => b.y - b.radius, Math.min), bottom = edge((b) => b.y + b.radius, Math.max);
  chart.zoom = Math.min(2, (width - 40) / (right - left || 1), (height - 40) / (bottom - top || 1));
  chart.x = (left + right) / 2;
  chart.y = (top + bottom) / 2;
}

// --- drawing

function draw() {
  const scale = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
  if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.translate(width / 2, height / 2);
  pen.scale(chart.zoom, chart.zoom);
  pen.translate(-chart.x, -chart.y);
  drawLinks();
  chart.found.forEach(drawBubble);
  drawLabels();
}

function drawLinks() {
  const { found, at } = chart;
  chart.strong ??= [];
  if (chart.strongOf !== found) {
    chart.strongOf = found;
    chart.strong = found.flatMap((a, from) => a.links.filter((link) => link.to > from).map((link) => ({ a, b: found[link.to], count: link.out + link.in })));
    chart.strong.sort((a, b) => b.count - a.count).splice(DRAWN);
  }
  const most = chart.strong.length ? chart.strong[0].count : 1;
  pen.strokeStyle = colors["--web"];
  for (const { a, b, count } of chart.strong) {
    pen.globalAlpha = (at ? 0.3 : 0.75) * (0.4 + 0.6 * Math.sqrt(count / most));
    pen.lineWidth = (0.7 + 2.4 * Math.sqrt(count / most)) / chart.zoom;
    line(a, b);
  }
  pen.globalAlpha = at ? Math.max(0.35, Math.min(0.8, 25 / at.links.length)) : 1;
  for (const link of at ? at.links : []) {
    pen.lineWidth = 1.3 / chart.zoom;
    if (link.in) { pen.strokeStyle = colors["--in"]; pen.setLineDash([5 / chart.zoom, 4 / chart.zoom]); line(at, found[link.to], 1.5 / chart.zoom); pen.setLineDash([]); }
    if (link.out) { pen.strokeStyle = colors["--out"]; line(at, found[link.to], -1.5 / chart.zoom); }
  }
  pen.globalAlpha = 1;
}

function line(a, b, aside = 0) {
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const dx = ((b.y - a.y) / length) * aside, dy = (-(b.x - a.x) / length) * aside;
  pen.beginPath();
  pen.moveTo(a.x + dx, a.y + dy);
  pen.lineTo(b.x + dx, b.y + dy);
  pen.stroke();
}

const isDim = (bubble) => chart.at && bubble !== chart.at && !chart.at.links.some((link) => chart.found[link.to] === bubble);

function drawBubble(bubble) {
  pen.save();
  pen.globalAlpha = isDim(bubble) ? 0.35 : 1;
  pen.translate(bubble.x, bubble.y);
  if (bubble.node >= 0) drawMark(marks[bubble.node], sizeOf(bubble));
  else drawPie(bubble);
  if (bubble === chart.at || bubble === chart.over) {
    pen.beginPath();
    pen.arc(0, 0, sizeOf(bubble) + 4 / chart.zoom, 0, 2 * Math.PI);
    pen.strokeStyle = colors["--ink"];
    pen.lineWidth = 2 / chart.zoom;
    pen.stroke();
  }
  pen.restore();
}

/** The radius as it is drawn: however far away, a mark can be made out. */
const sizeOf = (bubble) => Math.max(bubble.radius, 4 / chart.zoom);

function drawMark(kind, radius) {
  const mark = MARKS[kind];
  pen.save();
  pen.scale(radius / 5, radius / 5);
  pen.translate(-5, -5);
  pen.lineWidth = 1.8;
  pen.fillStyle = mark.fill ? colors[mark.color] : colors["--paper"];
  pen.strokeStyle = mark.fill ? colors["--paper"] : colors[mark.color];
  pen.stroke(shapes[kind]);
  pen.fill(shapes[kind]);
  if (!mark.fill) pen.stroke(shapes[kind]);
  pen.restore();
}

/** A folder: a ring with a share for each kind of URL in it; dashed where it is what is left over of one. */
function drawPie(bubble) {
  const { counts, nodes, isRest } = bubble;
  const radius = sizeOf(bubble), width = Math.max(radius * 0.26, 1.6 / chart.zoom);
  const alpha = pen.globalAlpha;
  pen.globalAlpha = 1;
  pen.beginPath();
  pen.arc(0, 0, radius, 0, 2 * Math.PI);
  pen.fillStyle = colors["--paper"];
  pen.fill();
  pen.globalAlpha = alpha;
  pen.lineWidth = width;
  if (isRest) pen.setLineDash([radius * 0.3, radius * 0.18]);
  let at = -Math.PI / 2;
  counts.forEach((count, kind) => {
    if (!count) return;
    const end = at + (count / nodes) * 2 * Math.PI;
    pen.beginPath();
    pen.arc(0, 0, radius - width / 2, at, end);
    pen.strokeStyle = colors[MARKS[kind].color];
    pen.stroke();
    at = end;
  });
  pen.setLineDash([]);
  pen.fillStyle = colors["--ink"];
  pen.font = `${radius * 0.6}px system-ui, sans-serif`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  if (radius * chart.zoom > 11) pen.fillText(nodes < 10000 ? String(nodes) : `${Math.round(nodes / 1000)}k`, 0, 0, radius * 1.3);
}

function drawLabels() {
  const size = 12 / chart.zoom;
  pen.font = `${size}px system-ui, sans-serif`;
  pen.textAlign = "center";
  pen.textBaseline = "top";
  pen.lineJoin = "round";
  pen.lineWidth = 3 / chart.zoom;
  pen.strokeStyle = colors["--paper"];
  pen.fillStyle = colors["--ink"];
  const near = chart.at ? [chart.at, ...chart.at.links.map((link) => chart.found[link.to])] : chart.found;
  const wanted = [...new Set([chart.over, chart.at, ...[...near].sort((a, b) => b.radius - a.radius)])].filter(Boolean);
  const taken = [];
  for (const bubble of wanted) {
    if (taken.length >= LABELS) break;
    const text = bubble.name.length > 34 ? `${bubble.name.slice(0, 33)}…` : bubble.name;
    const half = pen.measureText(text).width / 2, top = bubble.y + sizeOf(bubble) + 3 / chart.zoom;
    const box = [bubble.x - half, top, bubble.x + half, top + size];
    if (bubble !== chart.over && taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) continue;
    taken.push(box);
    pen.strokeText(text, bubble.x, top);
    pen.fillText(text, bubble.x, top);
  }
}

// --- what a person does with it

function bubbleAt(event) {
  const box = canvas.getBoundingClientRect();
  const x = (event.clientX - box.left - box.width / 2) / chart.zoom + chart.x;
  const y = (event.clientY - box.top - box.height / 2) / chart.zoom + chart.y;
  let best = null, nearest = Infinity;
  for (const each of chart.found) {
    const distance = Math.hypot(each.x - x, each.y - y) - each.radius;
    if (distance < 6 / chart.zoom && distance < nearest) { best = each; nearest = distance; }
  }
  return best;
}

/** Mark what is selected, if it is shown by itself; else what stands for it. */
function point() {
  const { node, folder } = selected;
  chart.at = chart.found.find((each) => (node >= 0 ? each.node === node : folder && each.node < 0 && !each.isRest && each.folder === folder)) || null;
  if (!chart.at && node >= 0 && chart.owner?.[node] >= 0) chart.at = chart.found[chart.owner[node]];
  tell(chart.at);
}

function tell(bubble) {
  $("pointed").textContent = bubble ? `${bubble.name}${bubble.node >= 0 ? "" : `: ${counted(bubble.nodes, "URL")}; Enter or a double click unfolds it`}` : "";
}

function unfoldBubble(bubble) {
  if (bubble.node >= 0) return go({ node: bubble.node });
  spread.set(bubble.folder, bubble.isRest ? spread.get(bubble.folder) + 4 * AT_ONCE : AT_ONCE);
  rebuild();
}

function foldBubble(bubble) {
  const folder = bubble.node >= 0 || bubble.isRest ? bubble.folder : bubble.folder.parent;
  let at = folder;
  while (at && !spread.has(at)) at = at.parent;
  if (!at || at === root) return;
  const inside = (each) => { for (; each; each = each.parent) if (each === at) return true; return false; };
  [...spread.keys()].filter(inside).forEach((each) => spread.delete(each));
  rebuild();
  go({ folder: at });
}

function zoomBy(factor, x = 0, y = 0) {
  const before = chart.zoom;
  chart.zoom = Math.min(8, Math.max(0.02, before * factor));
  chart.x += x / before - x / chart.zoom;
  chart.y += y / before - y / chart.zoom;
  chart.isMoved = true;
  tickle();
}

function step(dx, dy) {
  const from = chart.at || { x: chart.x, y: chart.y };
  const cost = (each) => {
    const x = each.x - from.x, y = each.y - from.y, along = x * dx + y * dy;
    return along > 0 && each !== chart.at ? along + 2.5 * Math.abs(x * dy - y * dx) : Infinity;
  };
  const next = chart.found.reduce((best, each) => (cost(each) < cost(best) ? each : best), chart.found[0]);
  if (next && cost(next) < Infinity) pick(next);
}

function pick(bubble) {
  if (bubble.node >= 0) go({ node: bubble.node });
  else {
    if (!bubble.isRest) go({ folder: bubble.folder });
    chart.at = bubble;
    tell(bubble);
    tickle();
  }
}

let drag = null;
canvas.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, isFar: false }; canvas.setPointerCapture(event.pointerId); });
canvas.addEventListener("pointermove", (event) => {
  if (!drag) {
    const over = bubbleAt(event);
    if (over !== chart.over) { chart.over = over; canvas.style.cursor = over ? "pointer" : "grab"; tell(over || chart.at); tickle(); }
    return;
  }
  const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
  if (!drag.isFar && Math.hypot(dx, dy) < 4) return;
  chart.x -= dx / chart.zoom; chart.y -= dy / chart.zoom;
  chart.isMoved = true;
  drag = { x: event.clientX, y: event.clientY, isFar: true };
  tickle();
});
canvas.addEventListener("pointerup", (event) => {
  const found = !drag?.isFar && bubbleAt(event);
  drag = null;
  if (found) pick(found);
});
canvas.addEventListener("dblclick", (event) => { const found = bubbleAt(event); if (found) unfoldBubble(found); });
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const box = canvas.getBoundingClientRect();
  zoomBy(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2);
}, { passive: false });
const CHART_KEYS = {
  ArrowLeft: () => step(-1, 0), ArrowRight: () => step(1, 0), ArrowUp: () => step(0, -1), ArrowDown: () => step(0, 1),
  Enter: () => chart.at && unfoldBubble(chart.at), Backspace: () => chart.at && foldBubble(chart.at),
  "+": () => zoomBy(1.3), "-": () => zoomBy(1 / 1.3), 0: () => { fit(); chart.isMoved = false; tickle(); },
};
canvas.addEventListener("keydown", (event) => {
  if (!CHART_KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  CHART_KEYS[event.key]();
});
$("bigger").addEventListener("click", () => zoomBy(1.4));
$("smaller").addEventListener("click", () => zoomBy(1 / 1.4));
$("fit").addEventListener("click", CHART_KEYS[0]);
$("refold").addEventListener("click", () => { if (chart.at) foldBubble(chart.at); });
$("layout").addEventListener("change", lay);
new ResizeObserver(() => { // at once: a frame later it would have been seen distorted
  if (view !== "graph") return;
  if (!chart.isMoved) fit();
  draw();
}).observe(canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColors(); tickle(); });
readColors();

function renderChart() {
  if (chart.isStale) rebuild();
  else { point(); tickle(); }
}
