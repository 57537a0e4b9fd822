// What is shown, what is chosen, and the folders of the site with how much of both is in each.

const OTHER_SITES = "other sites", NO_PAGES = "no web pages";
const DEEPEST = 40; // folders in one another

class Folder {
  constructor(name, parent) {
    this.name = name;
    this.parent = parent;
    this.folders = new Map();
    this.leaves = []; // nodes
    this.own = -1; // the node that is the folder's own page
    this.count(0, 0, 0);
  }

  count(shown, able, picked) {
    this.shown = shown; // nodes in it, and in what is in it
    this.able = able; // of these, could be saved
    this.picked = picked; // of these, chosen
  }

  /** The folder of a name in it, made when there is none. */
  at(name) {
    let found = this.folders.get(name);
    if (!found) this.folders.set(name, (found = new Folder(name, this)));
    return found;
  }

  /**
   * What is shown for this folder: the first in it where there is anything to choose between, or the one node that is
   * shown in it; with its name from here on.
   */
  get unwrapped() {
    let folder = this, name = this.name;
    for (;;) {
      const inner = [...folder.folders.values()].filter((each) => each.shown);
      if (inner.length !== 1 || inner[0].shown !== folder.shown) break;
      [folder] = inner;
      name += `/${folder.name}`;
    }
    if (folder.shown !== 1) return { folder, name };
    const node = folder.own >= 0 && shown[folder.own] ? folder.own : folder.leaves.find((each) => shown[each]);
    return { node, name: `${name}/${node === folder.own ? "" : leafName(node)}` };
  }

  *nodes() {
    if (this.own >= 0) yield this.own;
    yield* this.leaves;
    for (const folder of this.folders.values()) yield* folder.nodes();
  }

  get address() {
    return this.parent?.parent || (this.parent && this.name.includes("://")) ? `${this.parent.address}${this.name}/` : "";
  }
}

const shown = new Uint8Array(size).fill(1);
const root = new Folder("", null);
const folderOf = new Array(size);
{
  const own = new Set();
  const split = (url) => /^(https?:\/\/[^/?]*)\/?([^?]*)(\?.*)?$/s.exec(url);
  for (let node = 0; node < size; node++) if (flags[node] & OURS) own.add(split(urls[node])?.[1]);
  for (let node = 0; node < size; node++) {
    const parts = split(urls[node]);
    let at = root;
    if (!parts) at = root.at(NO_PAGES);
    else {
      at = (own.has(parts[1]) ? root : root.at(OTHER_SITES)).at(parts[1]);
      const names = parts[2].split("/");
      const last = names.pop();
      if (names.length > DEEPEST) names.push(names.splice(DEEPEST).join("/"));
      for (const name of names) at = at.at(name);
      if (!last && !parts[3]) at.own = node;
    }
    if (at.own !== node) at.leaves.push(node);
    folderOf[node] = at;
  }
}

/** What stands after the last slash of the path. */
function leafName(node) {
  if (!isWeb(node)) return urls[node];
  const url = urls[node], query = url.indexOf("?");
  const end = query < 0 ? url.length : query;
  return decoded(url.slice(url.lastIndexOf("/", end - 1) + 1)) || "/";
}

const chosen = new Uint8Array(size);
const wantedMarks = new Set([...MARKS.keys()].filter((kind) => !MARKS[kind].isOutside));
let selected = { node: -1, folder: null };
let words = [];
let texts = null;

const folded = (text) => text.normalize("NFKC").toLowerCase();

/** Decide anew what is shown. */
function refilter() {
  if (words.length) texts ??= urls.map((url, node) => folded(`${url} ${decoded(url)} ${titles[node]}`));
  for (let node = 0; node < size; node++)
    shown[node] = wantedMarks.has(marks[node]) && words.every((word) => texts[node].includes(word)) ? 1 : 0;
  recount(root);
}

function recount(folder) {
  folder.count(0, 0, 0);
  const add = (node) => {
    if (!shown[node]) return;
    folder.shown++;
    if (!(flags[node] & SAVABLE)) return;
    folder.able++;
    folder.picked += chosen[node];
  };
  folder.leaves.forEach(add);
  if (folder.own >= 0) add(folder.own);
  for (const each of folder.folders.values()) {
    recount(each);
    folder.count(folder.shown + each.shown, folder.able + each.able, folder.picked + each.picked);
  }
}

/** Choose those of some nodes that are shown and can be saved, or choose them no more. */
function choose(nodes, isChosen) {
  for (const node of nodes) if (shown[node] && flags[node] & SAVABLE) chosen[node] = isChosen ? 1 : 0;
  recount(root);
}

function chosenUrls() {
  return urls.filter((_, node) => chosen[node]);
}
