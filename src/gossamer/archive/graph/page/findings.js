// What a site owner would mend, and what is looked at most.

const TOP = 50;

function findings() {
  const all = [...marks.keys()];
  const broken = all.filter((node) => MARKS[marks[node]].name === "broken").sort((a, b) => linksIn[b] - linksIn[a]);
  const pages = all.filter((node) => MARKS[marks[node]].name === "page");
  const unlinked = pages.filter((node) => depths[node] < 0 && !(flags[node] & ORPHAN));
  const groups = new Map();
  originals.forEach((first, node) => { if (first >= 0) groups.set(first, [...(groups.get(first) || []), node]); });
  const chains = chainsOf(all);
  const rest = (count, what) => make("small", {}, ` ${counted(count, what)}`);
  return [
    ["Broken", "They fail, or redirect to what fails. The details of each list the pages that link to it.", broken,
      (node) => [nodeButton(node, decoded(urls[node])), ...tags(node), rest(edgesTo(node).length, "link")]],
    ["Orphans", "A sitemap or feed has them, and nothing links to them.", all.filter((node) => flags[node] & ORPHAN), (node) => nodeButton(node)],
    ["Pages that no links reach", "What leads to them is no link, or stands on pages that nothing leads to.", unlinked, (node) => nodeButton(node)],
    ["Redirects in a row", "More than one hop, or none that leads anywhere.", chains, (chain) => chain.flatMap((node, at) => (at ? [" → ", nodeButton(node, decoded(urls[node]))] : [nodeButton(node, decoded(urls[node]))]))],
    ["The same bytes at several URLs", "", [...groups.values()], (nodes) => nodes.slice(0, SHOWN).map((node) => nodeButton(node, decoded(urls[node])))],
    ["Deepest pages", "The most links from the start.", pages.filter((node) => depths[node] > 2).sort((a, b) => depths[b] - depths[a]).slice(0, TOP), (node) => [nodeButton(node), rest(depths[node], "link")]],
    ["Most central pages", "By PageRank, against the average.", [...pages].sort((a, b) => ranks[b] - ranks[a]).slice(0, TOP),
      (node) => [nodeButton(node), make("small", {}, ` ${(ranks[node] * about.ranked).toPrecision(3)}`)]],
  ];
}

function chainsOf(all) {
  const isTarget = new Set(all.map(redirectOf).filter((target) => target >= 0));
  const found = [], met = new Set();
  const follow = (node) => {
    const chain = [node];
    for (let next = redirectOf(node); next >= 0 && chain.length < 100; next = redirectOf(next)) {
      const isCircle = chain.includes(next);
      chain.push(next);
      if (isCircle) break;
    }
    chain.forEach((each) => met.add(each));
    if (chain.length > 2) found.push(chain);
  };
  const redirects = all.filter((node) => redirectOf(node) >= 0);
  redirects.filter((node) => !isTarget.has(node)).forEach(follow);
  redirects.forEach((node) => { if (!met.has(node)) follow(node); });
  return found.sort((a, b) => b.length - a.length);
}

let isListed = false;

function renderFindings() {
  if (isListed) return;
  isListed = true;
  for (const [title, text, entries, entry] of findings()) {
    const part = section(title, entries.length, text && entries.length ? make("p", { class: "faint" }, text) : null, longList(entries, entry));
    part.open = entries.length > 0;
    $("view-list").append(part);
  }
}
