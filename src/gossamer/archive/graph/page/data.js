// The graph: columns of the nodes, and the edges of each, as they were packed (see the module that made this page).

const $ = (id) => document.getElementById(id);

/** An element with attributes and children; text never becomes markup. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") element.addEventListener("click", value);
    else if (typeof value === "boolean") element.toggleAttribute(key, value);
    else if (value !== undefined && value !== null) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

async function unpacked(id) {
  const text = atob($(id).textContent.trim());
  $(id).remove(); // it is needed once, and may be large
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

const about = JSON.parse($("about").textContent);
const rows = JSON.parse(new TextDecoder().decode(await unpacked("nodes")));
const size = rows.length;
const column = (Kind, place) => Kind.from(rows, (row) => row[place]);
const urls = column(Array, 0);
const titles = column(Array, 1);
const marks = column(Uint8Array, 2);
const flags = column(Uint8Array, 3);
const depths = column(Int32Array, 4); // -1: no links lead there
const linksIn = column(Int32Array, 5);
const linksOut = column(Int32Array, 6);
const ranks = column(Float64Array, 7); // PageRank; 0: it has none
const originals = column(Int32Array, 8); // the first with the same bytes; -1: there is no other
const facts = rows.map((row) => row.slice(9)); // reason, via, status, type, bytes, fetched
rows.length = 0;

const SEED = 1, ORPHAN = 2, SAVABLE = 4, OURS = 8;

const starts = new Int32Array(size + 1); // the edges of node n are from starts[n] to starts[n + 1]
new Int32Array(await unpacked("counts")).forEach((count, node) => { starts[node + 1] = starts[node] + count; });
const targets = new Int32Array(await unpacked("targets"));
const codes = new Uint8Array(await unpacked("codes"));
const kindOf = (edge) => about.kinds[codes[edge]]; // {kind, nofollow, leads}: whether a reader follows it

let turned = null;

/** The edges by target: those to node n are places[starts[n]] and on, and sources has where every edge begins. */
function incoming() {
  if (turned) return turned;
  const counts = new Int32Array(size + 1);
  for (const target of targets) counts[target + 1]++;
  for (let node = 0; node < size; node++) counts[node + 1] += counts[node];
  const next = counts.slice();
  const places = new Int32Array(targets.length);
  const sources = new Int32Array(targets.length);
  for (let node = 0; node < size; node++)
    for (let edge = starts[node]; edge < starts[node + 1]; edge++) {
      sources[edge] = node;
      places[next[targets[edge]]++] = edge;
    }
  turned = { starts: counts, places, sources };
  return turned;
}

function edgesTo(node) {
  const all = incoming();
  return Array.from(all.places.subarray(all.starts[node], all.starts[node + 1]));
}

function edgesFrom(node) {
  return Array.from({ length: starts[node + 1] - starts[node] }, (_, at) => starts[node] + at);
}

/** Where a redirect leads, or -1. */
function redirectOf(node) {
  const edge = starts[node];
  return edge < starts[node + 1] && kindOf(edge).kind === "redirect" ? targets[edge] : -1;
}

/** The shortest way from a seed, as nodes; empty where there is none. */
function wayTo(node) {
  const way = [node], met = new Set(way);
  while (depths[node] > 0 || (depths[node] === 0 && !(flags[node] & SEED))) {
    const { sources } = incoming();
    const before = edgesTo(node).find((edge) => {
      const isRedirect = kindOf(edge).kind === "redirect";
      const source = sources[edge];
      return kindOf(edge).leads && !met.has(source) && depths[source] >= 0 && depths[source] === depths[node] - (isRedirect ? 0 : 1);
    });
    if (before === undefined) return []; // it leads through what is not in this file
    node = sources[before];
    met.add(node);
    way.unshift(node);
  }
  return depths[node] < 0 ? [] : way;
}

const decoded = (text) => {
  try {
    return text.includes("%") ? decodeURIComponent(text) : text;
  } catch {
    return text;
  }
};
const number = (value) => value.toLocaleString("en");
const counted = (count, what) => `${number(count)} ${what}${count === 1 ? "" : "s"}`;
const isWeb = (node) => /^https?:\/\//.test(urls[node]);
const nameOf = (node) => titles[node] || decoded(urls[node]);
const bytesText = (count) => {
  let unit = 0;
  for (; count >= 1000 && unit < 4; unit++) count /= 1000;
  return `${unit ? count.toFixed(1) : count} ${["B", "kB", "MB", "GB", "TB"][unit]}`;
};
