// Everything known about one URL, or about a folder; what it links to and what links to it lead on.

const SHOWN = 100;

/** A list of which the rest comes when it is asked for. */
function longList(all, entry) {
  const list = make("ul", { class: "links" });
  const add = (from) => {
    list.append(...all.slice(from, from + SHOWN).map((each) => make("li", {}, ...[entry(each)].flat())));
    const left = all.length - from - SHOWN;
    if (left <= 0) return;
    const more = make("button", { type: "button", class: "more" }, `${number(Math.min(left, SHOWN))} more of ${number(left)}`);
    const last = make("li", {}, more);
    more.addEventListener("click", () => { last.remove(); add(from + SHOWN); });
    list.append(last);
  };
  add(0);
  return list;
}

function nodeButton(node, text = nameOf(node)) {
  return make("button", { type: "button", class: "link", title: urls[node], onclick: () => go({ node }) }, markOf(marks[node]), make("span", {}, text));
}

function linkEntry(edge, node) {
  const { kind, nofollow } = kindOf(edge);
  return [nodeButton(node), kind === "a" ? null : make("span", { class: "tag" }, kind), nofollow ? make("span", { class: "tag" }, "nofollow") : null].filter(Boolean);
}

function section(title, count, ...inside) {
  return make("details", { open: true }, make("summary", {}, make("h3", {}, title), make("small", {}, number(count))), ...inside);
}

function pairs(entries) {
  const list = make("dl");
  for (const [name, value] of entries)
    if (value !== "" && value !== null && value !== undefined) list.append(make("dt", {}, name), make("dd", {}, value));
  return list;
}

function nodeDetails(node) {
  const [reason, via, status, type, bytes, fetched] = facts[node];
  const { sources } = incoming();
  const to = edgesFrom(node), from = edgesTo(node);
  const way = wayTo(node);
  const isAble = Boolean(flags[node] & SAVABLE);
  const box = make("input", { type: "checkbox", disabled: !isAble });
  box.checked = Boolean(chosen[node]);
  box.addEventListener("change", () => { chosen[node] = box.checked ? 1 : 0; recount(root); tellChosen(); });
  const address = isWeb(node) ? make("a", { href: urls[node], rel: "noreferrer noopener", target: "_blank" }, decoded(urls[node])) : urls[node];
  const same = originals[node] < 0 ? [] : [...originals.keys()].filter((each) => originals[each] === originals[node] && each !== node);
  return [
    make("h2", {}, nameOf(node)),
    make("p", { class: "address" }, address),
    make("p", {}, make("label", {}, box, isAble ? " chosen for saving" : " nothing that could be saved")),
    pairs([
      ["state", make("span", {}, markOf(marks[node]), ` ${MARKS[marks[node]].name}`)],
      ["reason", reason],
      ["status", status],
      ["type", type],
      ["size", bytes === null ? "" : bytesText(bytes)],
      ["fetched", fetched === null ? "" : new Date(fetched * 1000).toISOString().slice(0, 16).replace("T", " ")],
      ["found by", via],
      ["depth", depths[node] < 0 ? "no links lead there" : counted(depths[node], "link")],
      ["links in", number(linksIn[node])],
      ["links out", number(linksOut[node])],
      ["PageRank", ranks[node] ? `${(ranks[node] * about.ranked).toPrecision(3)} × the average` : ""],
      ["notes", [flags[node] & SEED ? "the crawl began here" : "", flags[node] & ORPHAN ? "orphan: only a sitemap or feed has it" : ""].filter(Boolean).join("; ")],
    ]),
    way.length > 1 ? section("Way from the start", way.length - 1, make("ol", {}, ...way.map((each) => make("li", {}, nodeButton(each))))) : null,
    same.length ? section("The same bytes", same.length, longList(same, (each) => nodeButton(each, decoded(urls[each])))) : null,
    section("Links to it", from.length, longList(from, (edge) => linkEntry(edge, sources[edge]))),
    section("Links from it", to.length, longList(to, (edge) => linkEntry(edge, targets[edge]))),
  ];
}

function folderDetails(folder) {
  const counts = new Map();
  const nodes = [...folder.nodes()].filter((node) => shown[node]);
  for (const node of nodes) counts.set(marks[node], (counts.get(marks[node]) || 0) + 1);
  const best = nodes.sort((a, b) => ranks[b] - ranks[a]).slice(0, 1000);
  const isAll = folder.able > 0 && folder.picked === folder.able;
  const pick = () => { choose(folder.nodes(), !isAll); tellChosen(); };
  return [
    make("h2", {}, folder === root ? document.title : decoded(folder.address || folder.name)),
    make("p", {}, make("button", { type: "button", disabled: !folder.able, onclick: pick }, isAll ? "Choose none of it" : `Choose ${number(folder.able)}`)),
    pairs([...counts].sort(([a], [b]) => a - b).map(([kind, count]) => [MARKS[kind].plural, make("span", {}, markOf(kind), ` ${number(count)}`)])),
    section("The most central", best.length, longList(best, (node) => nodeButton(node))),
  ];
}

function renderDetails() {
  const { node, folder } = selected;
  const parts = node >= 0 ? nodeDetails(node) : folderDetails(folder || root);
  $("details").replaceChildren(...parts.filter(Boolean));
  $("details").scrollTop = 0;
}
