// What the graph shows: pages, and folders of which each stands for all that is in it, so that there are never too many.

const MOST = 320; // bubbles that are shown by themselves
const AT_ONCE = 60; // pages of a folder that appear together, the most central first

/** How many pages of each unfolded folder are shown; set by a person, or as long as there is room. */
const spread = new Map();

class Bubble {
  constructor(folder, node, nodes, isRest) {
    this.folder = folder; // of which it is a part, or which it is
    this.node = node; // or -1
    this.nodes = nodes; // how many it stands for
    this.isRest = isRest;
    this.counts = new Float64Array(MARKS.length);
    this.depth = -1;
    this.links = []; // {to, out, in}: other bubbles, and how many links go there and come from there
  }

  get radius() {
    return this.node >= 0 ? 4.5 + Math.min(9, Math.sqrt((ranks[this.node] || 0) * about.ranked)) : 7 + Math.min(34, 1.6 * Math.sqrt(this.nodes));
  }

  get name() {
    if (this.node >= 0) return titles[this.node] || leafName(this.node);
    return `${this.isRest ? `${number(this.nodes)} more in ` : ""}${decoded(this.folder.name)}/`;
  }

  add(node) {
    this.counts[marks[node]]++;
    if (depths[node] >= 0 && (this.depth < 0 || depths[node] < this.depth)) this.depth = depths[node];
  }
}

/** Unfold the largest folders first, as long as there is room. */
function spreadSome() {
  spread.clear();
  spread.set(root, AT_ONCE);
  const pieces = (folder) => [...folder.folders.values()].filter((each) => each.shown).length + Math.min(AT_ONCE, folder.leaves.filter((node) => shown[node]).length);
  let room = MOST - pieces(root);
  const waiting = insideOf(root);
  while (waiting.length) {
    waiting.sort((a, b) => b.shown - a.shown);
    const folder = waiting.shift();
    const count = pieces(folder);
    if (count > room || folder.name === OTHER_SITES || folder.name === NO_PAGES) continue;
    room -= count - 1;
    spread.set(folder, AT_ONCE);
    waiting.push(...insideOf(folder));
  }
}

const unwrappedIn = (folder) => [...folder.folders.values()].filter((each) => each.shown).map((each) => each.unwrapped);
const insideOf = (folder) => unwrappedIn(folder).filter((row) => row.folder).map((row) => row.folder);

/** The bubbles with the links between them. */
function bubbles() {
  const found = [];
  const owner = new Int32Array(size).fill(-1);
  const own = (bubble, nodes) => {
    for (const node of nodes) if (shown[node]) { owner[node] = found.length; bubble.add(node); }
    found.push(bubble);
  };
  const open = (folder) => {
    const limit = spread.get(folder);
    const alone = unwrappedIn(folder).filter((row) => !row.folder).map((row) => row.node);
    const leaves = [...alone, ...folder.leaves.filter((node) => shown[node])];
    if (leaves.length > limit) leaves.sort(ORDERS.rank);
    if (folder.own >= 0 && shown[folder.own]) own(new Bubble(folder, folder.own, 1, false), [folder.own]);
    for (const node of leaves.slice(0, limit)) own(new Bubble(folder, node, 1, false), [node]);
    if (leaves.length > limit) own(new Bubble(folder, -1, leaves.length - limit, true), leaves.slice(limit));
    for (const inner of insideOf(folder)) {
      if (spread.has(inner)) open(inner);
      else own(new Bubble(inner, -1, inner.shown, false), inner.nodes());
    }
  };
  open(root);
  connect(found, owner);
  return { found, owner };
}

function connect(found, owner) {
  const weights = found.map(() => new Map());
  for (let node = 0; node < size; node++) {
    const from = owner[node];
    if (from < 0) continue;
    for (let edge = starts[node]; edge < starts[node + 1]; edge++) {
      const to = owner[targets[edge]];
      if (to >= 0 && to !== from && kindOf(edge).leads) weights[from].set(to, (weights[from].get(to) || 0) + 1);
    }
  }
  weights.forEach((map, from) => {
    for (const [to, count] of map) {
      const back = weights[to].get(from) || 0;
      if (!back || from < to) {
        found[from].links.push({ to, out: count, in: back });
        found[to].links.push({ to: from, out: back, in: count });
      }
    }
  });
}

// --- where they stand

/** Rings around the start: how many links away, in an order in which neighbours are near each other. */
function layRings(found) {
  const deepest = Math.max(0, ...found.map((each) => each.depth));
  const rings = Array.from({ length: deepest + 2 }, () => []);
  for (const each of found) rings[each.depth < 0 ? deepest + 1 : each.depth].push(each);
  let radius = 0;
  for (const ring of rings) {
    for (const each of ring) {
      const inner = each.links.map((link) => found[link.to]).filter((other) => other.angle !== undefined);
      each.wish = inner.length ? Math.atan2(mean(inner, (other) => Math.sin(other.angle)), mean(inner, (other) => Math.cos(other.angle))) : Math.PI;
    }
    ring.sort((a, b) => a.wish - b.wish);
    const room = ring.reduce((sum, each) => sum + 2 * each.radius + 12, 0);
    if (ring.length > 1 || radius) radius = Math.max(radius + 110, room / (2 * Math.PI));
    let at = ring.length ? ring[0].wish : 0;
    for (const each of ring) {
      const share = ((2 * each.radius + 12) / Math.max(room, 1)) * 2 * Math.PI;
      each.angle = at + share / 2;
      at += share;
      each.x = radius * Math.cos(each.angle);
      each.y = radius * Math.sin(each.angle);
    }
    if (!radius && ring.length) radius = 1;
  }
}

const mean = (all, value) => all.reduce((sum, each) => sum + value(each), 0) / all.length;

/** Forces: all push each other away, links pull, and everything is drawn to the middle. One step; how much is left to do. */
class Forces {
  constructor(found) {
    this.found = found;
    this.heat = 1;
    found.forEach((each, at) => { // a spiral: no two in the same place, and the same picture every time
      each.x ??= 22 * Math.sqrt(at + 1) * Math.cos(at * 2.39996);
      each.y ??= 22 * Math.sqrt(at + 1) * Math.sin(at * 2.39996);
      each.vx = each.vy = 0;
    });
    this.springs = found.flatMap((each, at) => each.links.filter((link) => link.to > at).map((link) => ({ a: each, b: found[link.to], pull: this.pull(each, found[link.to], link) })));
  }

  pull(a, b, link) {
    const share = (link.out + link.in) / Math.sqrt(a.nodes * b.nodes);
    return (0.05 * Math.min(1, share)) / Math.sqrt(Math.min(a.links.length, b.links.length));
  }

  step() {
    const { found, heat } = this;
    for (let i = 0; i < found.length; i++) {
      const a = found[i];
      for (let j = i + 1; j < found.length; j++) {
        const b = found[j];
        let dx = a.x - b.x, dy = a.y - b.y;
        const near = a.radius + b.radius + 8;
        const distance = Math.max(1, dx * dx + dy * dy);
        if (distance > 250000) continue;
        const force = (heat * (60 + near * near * 0.55)) / distance + (distance < near * near ? 0.6 * (1 - Math.sqrt(distance) / near) + 0.2 : 0);
        dx *= force; dy *= force;
        a.vx += dx; a.vy += dy; b.vx -= dx; b.vy -= dy;
      }
    }
    for (const { a, b, pull } of this.springs) {
      const dx = (b.x - a.x) * pull * heat, dy = (b.y - a.y) * pull * heat;
      a.vx += dx; a.vy += dy; b.vx -= dx; b.vy -= dy;
    }
    for (const each of found) {
      const home = (each.links.length ? 0.012 : 0.05) * heat;
      each.vx -= each.x * home;
      each.vy -= each.y * home;
      const speed = Math.hypot(each.vx, each.vy), most = 30 * heat + 1;
      const slow = speed > most ? most / speed : 1;
      each.x += each.vx * slow; each.y += each.vy * slow;
      each.vx *= 0.55; each.vy *= 0.55;
    }
    this.heat *= 0.985;
    return this.heat > 0.02;
  }
}
