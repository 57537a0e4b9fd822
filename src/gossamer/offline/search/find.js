/* Queries and ranking: as `gossamer search` has them, see archive/query.py and archive/search.py. */

const MOST_WORDS = 24; // of a query; the others are not looked at
const MOST_PARTS = 40; // of one word
const PROSE = 8; // more terms are a text that was pasted in, where quotes do not mean "must stand like this"
const MOST_ENDINGS = 20;
const K1 = 1.2;
const B = 0.75;

/* {words, required, excluded, sites}: terms {text, parts, field, times}. A site is words that stand in the address. */
function parseQuery(text, analyser) {
  const terms = new Map();
  for (const match of text.matchAll(/(-(?!-))?(?:(site|title|url):)?(?:"([^"]*)"?|(\S+))/gi)) {
    const [, minus, typed = "", phrase, word] = match;
    const field = typed.toLowerCase().replace("site", "url");
    const body = Analyser.narrowed(phrase ?? word).slice(0, 500);
    const parts = analyser.parts(body).slice(0, MOST_PARTS);
    if (!parts.length) continue;
    const role = minus ?? (/site/i.test(typed) ? "site" : field ? "must" : phrase === undefined ? "word" : "phrase");
    const key = `${role} ${field} ${body.toLowerCase()}`;
    const known = terms.get(key) ?? { role, field, parts, text: body, times: 0 };
    known.times = Math.min(known.times + 1, 8);
    known.isLast = match.index + match[0].length === text.length && word !== undefined;
    terms.set(key, known);
  }
  const all = [...terms.values()];
  let ranking = all.length > PROSE ? ["word", "phrase"] : ["word"];
  if (all.length && all.every((each) => each.role === "-")) ranking = ["-"];
  return {
    words: all.filter((each) => ranking.includes(each.role)).slice(0, MOST_WORDS),
    required: all.filter((each) => ["must", "phrase"].includes(each.role) && !ranking.includes(each.role)),
    sites: all.filter((each) => each.role === "site"),
    excluded: all.filter((each) => each.role === "-" && !ranking.includes("-")),
  };
}

/* Finds pages for one query. */
class Finder {
  constructor(index) {
    this.index = index;
    this.lengths = index.titles.map((title, row) => title + index.urls[row] + index.bodies[row]);
    this.average = this.lengths.reduce((sum, each) => sum + each, 0) / (index.pages || 1);
  }

  /* {rows, complete, marks}: rows of pages, best first; how many of them have all words; what is to be marked in texts. */
  async find(text) {
    const query = parseQuery(text, this.index.analyser);
    const marks = { stems: new Map(), runs: [] };
    if (!query.words.length && !query.required.length) return { rows: [], complete: 0, marks, isEmpty: true };
    const required = await Promise.all(query.required.map((term) => this.phrase(term)));
    const excluded = await Promise.all(query.excluded.map((term) => this.phrase(term)));
    const sites = await Promise.all(query.sites.map((term) => this.phrase(term)));
    const words = await Promise.all(query.words.map((term) => this.word(term)));
    this.mark([...query.required, ...query.words].flatMap((term) => term.parts), words, marks);
    const scores = this.scores(required, words);
    const isMeant = (row) => required.every((each) => each.has(row)) && !excluded.some((each) => each.has(row)) &&
      (!sites.length || sites.some((each) => each.has(row)));
    for (const row of [...scores.keys()]) if (!isMeant(row)) scores.delete(row);
    const titles = await this.titles(query, words);
    for (const [row, score] of scores) scores.set(row, score + this.likeTitle(row, titles));
    return { ...this.ordered(scores, query, words), marks, words: [...query.required, ...query.words].flatMap((term) => term.parts).length };
  }

  ordered(scores, query, words) {
    const hasAll = (row) => words.every((word) => word.parts.every((part) => part.has(row)));
    const complete = new Set([...scores.keys()].filter(hasAll));
    const countsFirst = query.words.length <= this.index.allFirst;
    const rows = [...scores.keys()].sort((one, other) =>
      (countsFirst && complete.has(other) - complete.has(one)) || scores.get(other) - scores.get(one) || one - other);
    return { rows, complete: complete.size };
  }

  /* --- where terms stand: row -> how often, weighted by field */

  /* A term as it was written. */
  phrase(term) {
    return this.inARow(Finder.tokens(term.parts), term.field);
  }

  /* {phrase, parts, endings}: a term as it was written, where that says more, and each of its parts. */
  async word(term) {
    const isCompound = term.parts.length > 1 && !/['’]/.test(term.text);
    const parts = await Promise.all(term.parts.map((part) => this.inARow(Finder.tokens([part]), term.field)));
    const last = term.parts.at(-1);
    let endings = [];
    if (term.isLast && !last.isCjk && last.text.length > 1 && !parts.at(-1).size) {
      endings = await this.index.beginning(this.index.analyser.folded(last.text), MOST_ENDINGS);
      parts[parts.length - 1] = await this.any(endings, term.field);
    }
    return { phrase: isCompound ? await this.phrase(term) : null, parts, endings, times: term.times };
  }

  async any(stems, field) {
    const sum = new Map();
    for (const stem of stems)
      for (const [row, weight] of await this.inARow([[stem, 0]], field)) sum.set(row, (sum.get(row) ?? 0) + weight);
    return sum;
  }

  /* [stem, how far behind the first]. As in the index, there is a place between two CJK runs with no word in between. */
  static tokens(parts) {
    const tokens = [];
    let at = 0;
    parts.forEach((part, number) => {
      if (number && part.isCjk && parts[number - 1].isCjk) at++;
      for (const stem of part.stems) tokens.push([stem, at++]);
    });
    return tokens;
  }

  async inARow(tokens, field) {
    const found = new Map();
    const lists = await Promise.all(tokens.map(([stem]) => this.index.places.get(stem)));
    const numbers = lists.slice(1).map((list) => new Map(Array.from(list.rows, (row, number) => [row, number])));
    const [first] = lists;
    first.rows.forEach((row, number) => {
      const others = numbers.map((each) => each.get(row));
      if (others.includes(undefined)) return;
      let weight = 0;
      for (let at = first.starts[number]; at < first.starts[number + 1]; at++) {
        const position = first.positions[at];
        const isHere = (other, n) => holds(lists[n + 1], other, position + tokens[n + 1][1]);
        if (others.every(isHere)) weight += this.weight(row, position, field);
      }
      if (weight) found.set(row, weight);
    });
    return found;
  }

  weight(row, position, field) {
    const title = this.index.titles[row];
    const place = position < title ? 0 : position <= title + this.index.urls[row] ? 1 : 2;
    return field && field !== ["title", "url"][place] ? 0 : this.index.weights[place];
  }

  /* --- ranking */

  /* BM25 as FTS5 has it: each phrase of the expression counts. */
  scores(required, words) {
    const scores = new Map();
    const add = (found, times) => {
      const { pages } = this.index;
      const rarity = Math.max(1e-6, Math.log((pages - found.size + 0.5) / (found.size + 0.5)));
      for (const [row, count] of found) {
        const length = 1 - B + (B * this.lengths[row]) / this.average;
        scores.set(row, (scores.get(row) ?? 0) + (times * rarity * count * (K1 + 1)) / (count + K1 * length));
      }
    };
    required.forEach((found, number) => add(found, number ? 1 : 2));
    for (const { phrase, parts, times } of words) {
      if (phrase) add(phrase, 1);
      for (const part of parts) add(part, times);
    }
    return scores;
  }

  /* The words that were asked for: how often, how rare, and how often they stand in which title. */
  async titles(query, words) {
    const asked = new Map();
    const add = (stems) => {
      const key = stems.join(" ");
      asked.set(key, { stems, times: (asked.get(key)?.times ?? 0) + 1 });
    };
    query.words.forEach((term, number) => term.parts.forEach((part, at) => {
      const { endings } = words[number];
      if (endings.length && at === term.parts.length - 1) add(endings);
      else part.stems.forEach((each) => add([each]));
    }));
    for (const term of query.required) for (const part of term.parts) part.stems.forEach((each) => add([each]));
    return Promise.all(Array.from(asked.values(), async ({ stems, times }) => {
      const counts = new Map();
      const rows = new Set();
      for (const stem of stems) {
        const { rows: its, starts, positions } = await this.index.places.get(stem);
        its.forEach((row, number) => {
          rows.add(row);
          let count = 0;
          for (let at = starts[number]; at < starts[number + 1] && positions[at] < this.index.titles[row]; at++) count++;
          if (count) counts.set(row, (counts.get(row) ?? 0) + count);
        });
      }
      return { times, counts, rarity: Math.log(1 + (this.index.pages - rows.size + 0.5) / (rows.size + 0.5)) };
    }));
  }

  /* How much a title is what was asked for: the words they share against all that stand in either, by how rare they are. */
  likeTitle(row, asked) {
    let shared = 0;
    let all = this.index.rarities[row] / 16;
    for (const { times, counts, rarity } of asked) {
      const both = Math.min(times, counts.get(row) ?? 0);
      shared += both * rarity;
      all += (times - both) * rarity;
    }
    return shared ? (this.index.likeTitle * shared) / all : 0;
  }

  mark(parts, words, marks) {
    for (const part of parts) {
      if (part.isCjk) marks.runs.push(part.text);
      else marks.stems.set(part.stems[0], marks.stems.size);
    }
    for (const { endings } of words) for (const stem of endings) marks.stems.set(stem, marks.stems.size);
  }
}

/* Whether a position is among those of the n-th row of a list. */
function holds({ starts, positions }, n, position) {
  let low = starts[n];
  let high = starts[n + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (positions[middle] < position) low = middle + 1;
    else high = middle;
  }
  return low < starts[n + 1] && positions[low] === position;
}
