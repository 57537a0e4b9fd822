"use strict";
(() => {
  const tree = document.querySelector(".tree");
  const box = document.querySelector("#filter");
  const only = document.querySelector("#only");
  const said = document.querySelector("#said");
  const folders = [...tree.querySelectorAll("details")];
  const leaves = [...tree.querySelectorAll("li")];
  const open = new Map(folders.map((each) => [each, each.open]));
  const words = (text) => text.normalize("NFKC").toLowerCase();
  let texts;

  function own(item) {
    const head = item.querySelector(":scope > details > summary") || item;
    return words(head.textContent + " " + (head.querySelector("a")?.getAttribute("href") || ""));
  }

  function filter() {
    const wanted = words(box.value).split(/\s+/).filter(Boolean);
    if (!wanted.length) {
      leaves.forEach((each) => each.classList.remove("hidden"));
      folders.forEach((each) => { each.open = open.get(each); });
      said.textContent = "";
      return;
    }
    texts ||= new Map(leaves.map((each) => [each, own(each)]));
    const shown = new Set();
    let count = 0;
    for (const item of leaves) {
      const text = texts.get(item);
      if (!item.dataset.page || !wanted.every((each) => text.includes(each))) continue;
      count += 1;
      for (let at = item; at && at !== tree; at = at.parentElement) {
        if (shown.has(at)) break;
        shown.add(at);
      }
    }
    leaves.forEach((each) => each.classList.toggle("hidden", !shown.has(each)));
    folders.forEach((each) => { each.open = shown.has(each); });
    said.textContent = count === 1 ? "1 page" : `${count} pages`;
  }

  let waiting;
  box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 80); });
  only.addEventListener("change", () => tree.classList.toggle("saved-only", only.checked));
  for (const [id, value] of [["#all", true], ["#none", false]])
    document.querySelector(id).addEventListener("click", () => folders.forEach((each) => { each.open = value; }));
  document.querySelector(".tools").hidden = false;
})();
