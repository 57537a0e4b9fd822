// The page as a whole: which view is open, what is filtered, selected and chosen. The address after # says most of it,
// so that "back" goes back, and a link can lead to a page of the graph.

const VIEWS = ["tree", "graph", "list"];
const numbers = new Map(urls.map((url, node) => [url, node]));
let view = "tree";

/** Select a node or a folder. */
function go({ node, folder }) {
  const at = new URLSearchParams({ view });
  if (node !== undefined) at.set("at", urls[node]);
  else if (folder?.address) at.set("in", folder.address);
  if (words.length) at.set("q", $("query").value);
  selected = { node: node ?? -1, folder: folder ?? null };
  if (location.hash !== `#${at}`) location.hash = at; // hashchange finds nothing to do then
  renderSelected();
}

function renderSelected() {
  renderDetails();
  for (const item of items()) item.setAttribute("aria-selected", String(item.folder ? item.folder === selected.folder : item.node === selected.node));
  if (view === "graph") renderChart();
  if (view === "tree" && selected.node >= 0) reveal(selected.node);
}

function open(name) {
  view = VIEWS.includes(name) ? name : "tree";
  for (const each of VIEWS) {
    $(`view-${each}`).hidden = each !== view;
    $(`tab-${each}`).setAttribute("aria-selected", String(each === view));
    $(`tab-${each}`).tabIndex = each === view ? 0 : -1;
  }
  if (view === "graph") renderChart();
  if (view === "list") renderFindings();
  if (view === "tree" && selected.node >= 0) reveal(selected.node);
}

/** The folder of an address that begins as its pages do. */
function folderAt(address) {
  for (const node of urls.keys())
    if (urls[node].startsWith(address))
      for (let at = folderOf[node]; at?.parent; at = at.parent) if (at.address === address) return at;
  return null;
}

function readAddress() {
  const at = new URLSearchParams(location.hash.slice(1));
  const query = at.get("q") || "";
  if (at.get("view") !== view) open(at.get("view"));
  if (query !== $("query").value) {
    $("query").value = query;
    refilterAll();
  }
  const node = numbers.get(at.get("at")) ?? -1;
  const folder = node < 0 && at.get("in") ? folderAt(at.get("in")) : null;
  if (node === selected.node && folder === selected.folder) return;
  selected = { node, folder };
  renderSelected();
}

function refilterAll() {
  words = folded($("query").value).split(/\s+/).filter(Boolean);
  refilter();
  begins.clear();
  unfoldSome(ROOM);
  renderTree();
  if (view === "tree" && selected.node >= 0) reveal(selected.node);
  spread.clear();
  chart.isStale = true;
  if (view === "graph") renderChart();
  if (selected.node < 0) renderDetails();
  $("said").textContent = root.shown === size ? "" : counted(root.shown, "URL");
  tellChosen();
}

function tellChosen() {
  const count = chosen.reduce((sum, each) => sum + each, 0);
  $("chosen").textContent = count ? `${number(count)} chosen` : "Nothing is chosen yet: tick pages or folders.";
  $("download").disabled = $("drop").disabled = !count;
  $("choose").disabled = root.picked === root.able;
  for (const item of items()) showTick(item);
  const box = $("details").querySelector("input");
  if (box && selected.node >= 0) box.checked = Boolean(chosen[selected.node]);
}

function download() {
  const file = new Blob([chosenUrls().map((url) => `${url}\n`).join("")], { type: "text/plain" });
  const link = make("a", { href: URL.createObjectURL(file), download: "chosen.txt" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function legend() {
  const counts = new Array(MARKS.length).fill(0);
  for (const kind of marks) counts[kind]++;
  for (const [kind, mark] of MARKS.entries()) {
    if (!counts[kind]) continue;
    const button = make("button", { type: "button", "aria-pressed": String(wantedMarks.has(kind)) }, markOf(kind), ` ${mark.plural} `, make("small", {}, number(counts[kind])));
    button.addEventListener("click", () => {
      if (!wantedMarks.delete(kind)) wantedMarks.add(kind);
      button.setAttribute("aria-pressed", String(wantedMarks.has(kind)));
      refilterAll();
    });
    $("legend").append(button);
  }
}

$("views").addEventListener("click", (event) => {
  const name = event.target.dataset.view;
  if (!name) return;
  open(name);
  go({ node: selected.node < 0 ? undefined : selected.node, folder: selected.folder });
});
$("views").addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  const next = $(`tab-${VIEWS[(VIEWS.indexOf(view) + step + VIEWS.length) % VIEWS.length]}`);
  next.focus();
  next.click();
});
let waiting = 0;
$("query").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(refilterAll, 120); });
$("choose").addEventListener("click", () => { choose(urls.keys(), true); tellChosen(); });
$("drop").addEventListener("click", () => { chosen.fill(0); recount(root); tellChosen(); });
$("download").addEventListener("click", download);
addEventListener("hashchange", readAddress);

const day = about.fetched ? `, as of ${new Date(about.fetched * 1000).toISOString().slice(0, 10)}` : "";
$("of").textContent = `${counted(size, "URL")}, ${counted(targets.length, "link")}${day}`;
legend();
open("tree");
refilterAll();
readAddress();
if (selected.node < 0 && !selected.folder) renderDetails();
document.body.classList.remove("loading");
