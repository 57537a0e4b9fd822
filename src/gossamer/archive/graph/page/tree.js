// The site as a tree. Only what is unfolded is in the document, and of a long list only its beginning.

const PORTION = 200;
const ROOM = 80; // rows that are unfolded by themselves
const ORDERS = {
  address: (a, b) => (urls[a] < urls[b] ? -1 : 1),
  rank: (a, b) => ranks[b] - ranks[a],
  in: (a, b) => linksIn[b] - linksIn[a],
  depth: (a, b) => (depths[a] < 0 ? 1e9 : depths[a]) - (depths[b] < 0 ? 1e9 : depths[b]),
};
let order = "address";
const unfolded = new Set();
const begins = new Map(); // where the list of a folder begins that is not shown from its start

/** The rows in a folder: folders, then nodes, both with their names. */
function rowsOf(folder) {
  const inner = [...folder.folders.values()].filter((each) => each.shown).map((each) => each.unwrapped);
  const last = (row) => (row.name === OTHER_SITES ? 1 : row.name === NO_PAGES ? 2 : 0);
  const folders = inner.filter((row) => row.folder).sort((a, b) => last(a) - last(b) || (a.name < b.name ? -1 : 1));
  const leaves = folder.leaves.filter((node) => shown[node]).map((node) => ({ node, name: leafName(node) }));
  const nodes = [...inner.filter((row) => !row.folder), ...leaves].sort((a, b) => ORDERS[order](a.node, b.node));
  return [...folders, ...nodes];
}

/** Unfold the largest folders first, as long as there is room. */
function unfoldSome(room) {
  unfolded.clear();
  const waiting = [root];
  while (waiting.length) {
    waiting.sort((a, b) => b.shown - a.shown);
    const folder = waiting.shift();
    const inside = rowsOf(folder);
    if (folder !== root && Math.min(inside.length, PORTION) > room) continue;
    room -= inside.length;
    unfolded.add(folder);
    waiting.push(...inside.filter((row) => row.folder && row.name !== OTHER_SITES && row.name !== NO_PAGES).map((row) => row.folder));
  }
}

function renderTree() {
  const tree = $("tree");
  tree.replaceChildren();
  fillFirst(tree, root, 1);
  if (!root.shown) tree.append(make("li", { class: "faint", role: "none" }, "Nothing matches."));
  tree.querySelector("[role=treeitem]")?.setAttribute("tabindex", "0");
}

/** The first rows that are shown of a folder, and what leads to those before them. */
function fillFirst(list, folder, level) {
  const from = begins.get(folder) ?? 0;
  if (from) {
    list.append(moreItem(level, `${number(from)} before`, () => {
      begins.delete(folder);
      list.replaceChildren();
      fill(list, folder, level, 0);
      focusItem(list.querySelector("[role=treeitem]"));
    }));
  }
  fill(list, folder, level, from);
}

function fill(list, folder, level, from) {
  const all = rowsOf(folder);
  all.slice(from, from + PORTION).forEach((row, at) => {
    const item = row.folder ? folderItem(row, level) : nodeItem(row, level);
    item.setAttribute("aria-setsize", all.length);
    item.setAttribute("aria-posinset", from + at + 1);
    list.append(item);
  });
  const left = all.length - from - PORTION;
  if (left <= 0) return;
  list.append(moreItem(level, `${number(Math.min(left, PORTION))} more of ${number(left)}`, (more) => {
    const before = more.previousElementSibling;
    more.remove();
    fill(list, folder, level, from + PORTION);
    focusItem(before.nextElementSibling);
  }));
}

function moreItem(level, text, act) {
  const found = make("li", { role: "treeitem", class: "more", tabindex: "-1", "aria-level": level }, text);
  found.act = () => act(found);
  return found;
}

/** Unfold the tree so far that a node can be seen. */
function reveal(node) {
  const isThere = () => [...items()].find((each) => each.node === node || (each.folder && each.folder.own === node));
  if (shown[node] && !isThere()) {
    const holds = (folder) => { for (let at = folderOf[node]; at; at = at.parent) if (at === folder) return true; return false; };
    for (let at = root; at; ) {
      unfolded.add(at);
      const all = rowsOf(at);
      const place = all.findIndex((row) => row.node === node || (row.folder && holds(row.folder)));
      if (place >= PORTION) begins.set(at, place - (place % PORTION));
      at = all[place]?.folder;
      if (at?.own === node) break;
    }
    renderTree();
  }
  isThere()?.scrollIntoView({ block: "nearest" });
}

function item(level, tick, ...inside) {
  const row = make("div", { class: "row" }, tick, ...inside);
  return make("li", { role: "treeitem", tabindex: "-1", "aria-level": level }, row);
}

function tickBox(isOff) {
  return make("input", { type: "checkbox", tabindex: "-1", "aria-hidden": "true", disabled: isOff });
}

function nodeItem({ node, name }, level) {
  const found = item(level, tickBox(!(flags[node] & SAVABLE)), markOf(marks[node]), label(node, decoded(name)), ...tags(node));
  found.node = node;
  showTick(found);
  found.setAttribute("aria-selected", String(selected.node === node));
  return found;
}

function folderItem({ folder, name }, level) {
  const own = folder.own >= 0 && shown[folder.own] ? folder.own : -1;
  const isOpen = unfolded.has(folder);
  const found = item(
    level,
    tickBox(!folder.able),
    make("span", { class: "twist", "aria-hidden": "true" }),
    own < 0 ? null : markOf(marks[own]),
    make("b", {}, `${decoded(name)}/`),
    own < 0 ? null : make("span", { class: "name" }, titles[own]),
    make("small", {}, number(folder.shown)),
  );
  found.folder = folder;
  found.setAttribute("aria-expanded", String(isOpen));
  found.setAttribute("aria-selected", String(selected.folder === folder));
  showTick(found);
  if (isOpen) addGroup(found, level);
  return found;
}

function addGroup(found, level) {
  const group = make("ul", { role: "group" });
  fillFirst(group, found.folder, level + 1);
  found.append(group);
}

function label(node, name) {
  return make("span", { class: "name" }, make("bdi", {}, titles[node] || name), titles[node] ? make("small", {}, name) : null);
}

function tags(node) {
  const found = [];
  if (flags[node] & SEED) found.push("start");
  if (flags[node] & ORPHAN) found.push("orphan");
  if (originals[node] >= 0 && originals[node] !== node) found.push("duplicate");
  const [reason, , status] = facts[node];
  if (MARKS[marks[node]].name === "broken") found.push(status ? String(status) : reason);
  return found.map((text) => make("span", { class: "tag" }, text));
}

function showTick(found) {
  const box = found.querySelector(":scope > .row > input");
  if (!box) return;
  const { folder, node } = found;
  const [picked, able] = folder ? [folder.picked, folder.able] : [chosen[node], flags[node] & SAVABLE ? 1 : 0];
  box.checked = able > 0 && picked === able;
  box.indeterminate = picked > 0 && picked < able;
  if (able) found.setAttribute("aria-checked", box.indeterminate ? "mixed" : String(box.checked));
}

const items = () => $("tree").querySelectorAll("[role=treeitem]");

function toggle(found, isOpen = !unfolded.has(found.folder)) {
  if (!found.folder || isOpen === unfolded.has(found.folder)) return;
  if (isOpen) {
    unfolded.add(found.folder);
    addGroup(found, Number(found.getAttribute("aria-level")));
  } else {
    unfolded.delete(found.folder);
    found.querySelector(":scope > ul").remove();
  }
  found.setAttribute("aria-expanded", String(isOpen));
}

function tick(found) {
  const { folder, node } = found;
  if (folder) choose(folder.nodes(), folder.picked < folder.able);
  else choose([node], !chosen[node]);
  tellChosen();
}

function focusItem(found) {
  if (!found) return;
  $("tree").querySelectorAll("[tabindex='0']").forEach((each) => each.setAttribute("tabindex", "-1"));
  found.setAttribute("tabindex", "0");
  found.focus();
}

function neighbour(found, step) {
  const all = [...items()];
  return all[all.indexOf(found) + step];
}

const KEYS = {
  ArrowDown: (found) => focusItem(neighbour(found, 1)),
  ArrowUp: (found) => focusItem(neighbour(found, -1)),
  Home: () => focusItem(items()[0]),
  End: () => focusItem([...items()].at(-1)),
  ArrowRight: (found) => (found.folder && !unfolded.has(found.folder) ? toggle(found, true) : focusItem(found.querySelector("[role=treeitem]"))),
  ArrowLeft: (found) => (found.folder && unfolded.has(found.folder) ? toggle(found, false) : focusItem(found.parentElement.closest("[role=treeitem]"))),
  Enter: (found) => activate(found),
  " ": (found) => (found.act ? found.act() : tick(found)),
};

function activate(found) {
  if (found.act) found.act();
  else if (found.folder) {
    toggle(found);
    go({ folder: found.folder });
  } else go({ node: found.node });
}

$("tree").addEventListener("click", (event) => {
  const found = event.target.closest("[role=treeitem]");
  if (!found) return;
  if (event.target.matches("input")) {
    event.preventDefault(); // what it shows is what is chosen, and nothing else
    setTimeout(() => tick(found));
  } else activate(found);
  focusItem(found.isConnected ? found : null);
});
$("tree").addEventListener("keydown", (event) => {
  const found = event.target.closest("[role=treeitem]");
  if (!found || !KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  KEYS[event.key](found);
});
$("order").addEventListener("change", () => { order = $("order").value; begins.clear(); renderTree(); });
$("unfold").addEventListener("click", () => { unfoldSome(2000); renderTree(); });
$("fold").addEventListener("click", () => { unfolded.clear(); unfolded.add(root); renderTree(); });
