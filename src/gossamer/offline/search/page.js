/* The page: what is typed is looked for at once, and stands in the address behind "#q=". */

(() => {
  const PAGE = 10;
  const box = document.querySelector("#q");
  const said = document.querySelector("#said");
  const list = document.querySelector("#results");
  const more = document.querySelector("#more");
  const title = document.title;
  const opened = new Once(async () => new Finder(await Index.open()));
  let asked = 0; // answers to what was asked before are dropped
  let current = { rows: [], snippets: null, shown: 0 };

  function element(name, content, properties = {}) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...(Array.isArray(content) ? content : [content]));
    return made;
  }

  const pieces = (found) => found.map(([text, isMarked]) => (isMarked ? element("mark", text) : text));
  const address = (place) => place.split("/").map(encodeURIComponent).join("/");
  const number = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

  function shortened(url) {
    try {
      return decodeURI(url).replace(/^https?:\/\//, "");
    } catch {
      return url;
    }
  }

  function entry(page, snippets) {
    const link = element("a", pieces(snippets.marked(page.title || shortened(page.url))), { href: address(page.place) });
    const also = page.others ? element("small", ` and ${page.others} more with the same text`) : "";
    const made = element("li", [element("h2", link), element("p", [shortened(page.url), also], { className: "address" }),
      element("p", pieces(snippets.cut(page.text)))]);
    made.lang = page.language;
    return made;
  }

  function count({ rows, complete, isEmpty }, words) {
    if (isEmpty) return "";
    if (!rows.length) return "Nothing in this copy has that.";
    if (complete === rows.length || words < 2) return number(rows.length, "page");
    return complete
      ? `${number(complete, "page")} with all of it, ${(rows.length - complete).toLocaleString("en")} more with some`
      : `${number(rows.length, "page")} with some of it, none with all`;
  }

  async function show(turn) {
    const { rows, snippets, shown, index } = current;
    const next = rows.slice(shown, shown + PAGE);
    const pages = await Promise.all(next.map((row) => index.page(row)));
    if (turn !== asked) return;
    const entries = pages.map((page) => entry(page, snippets));
    if (shown) list.append(...entries);
    else list.replaceChildren(...entries);
    current.shown += next.length;
    more.hidden = current.shown >= rows.length;
    if (shown) entries[0]?.querySelector("a").focus();
  }

  async function search(text) {
    const turn = ++asked;
    document.title = text.trim() ? `${text.trim()} – ${title}` : title;
    try {
      const finder = await opened.get("");
      const found = await finder.find(text);
      if (turn !== asked) return;
      current = { rows: found.rows, snippets: new Snippets(finder.index.analyser, found.marks), shown: 0, index: finder.index };
      said.textContent = count(found, found.words);
      await show(turn);
    } catch (error) {
      if (turn !== asked) return;
      list.replaceChildren();
      more.hidden = true;
      said.textContent = typeof DecompressionStream === "undefined"
        ? "This browser is too old to search here: it needs one of 2023 or later."
        : `It can't be searched: ${error.message}`;
    }
  }

  /* --- what is asked for */

  function typed() {
    const found = /(?:^#|&)q=([^&]*)/.exec(location.hash) ?? /[?&]q=([^&]*)/.exec(location.search);
    try {
      return found ? decodeURIComponent(found[1].replaceAll("+", " ")) : "";
    } catch {
      return found[1];
    }
  }

  function follow() {
    const text = typed();
    if (box.value !== text) box.value = text;
    search(text);
  }

  /* A new address in place of the one before, so that "back" leads to where a person came from. */
  function ask() {
    const hash = `#q=${encodeURIComponent(box.value)}`;
    if (hash !== location.hash) location.replace(hash);
  }

  let waiting;
  box.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(ask, 100);
  });
  box.form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(waiting);
    ask();
  });
  more.addEventListener("click", () => show(asked));
  addEventListener("hashchange", follow);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "/" && document.activeElement !== box) box.select();
    else if (event.key === "Escape" && document.activeElement !== box) box.select();
    else if (event.key === "ArrowDown" && at + 1 < links.length) links[at + 1].focus();
    else if (event.key === "ArrowUp" && at >= 0) (links[at - 1] ?? box).focus();
    else return;
    event.preventDefault();
  });

  box.form.hidden = false;
  follow();
  if (!box.value) box.focus();
})();
