/* The piece of a text that shows why its page was found: see archive/snippet.py. */

const WIDTH = 200; // characters
const EDGE = 24; // a cut moves at most this far to fall between words

/* Cuts snippets for one query. */
class Snippets {
  constructor(analyser, { stems, runs }) {
    this.analyser = analyser;
    this.stems = stems;
    this.runs = [...new Set(runs)].sort((one, other) => other.length - one.length);
    this.pattern = this.runs.length ? new RegExp(this.runs.join("|"), "g") : null; // letters only: nothing to be escaped
  }

  /* Every place of a word of the query: {start, end, word}. */
  marks(text) {
    const marks = [];
    for (const part of this.stems.size ? this.analyser.parts(text) : []) {
      const word = part.isCjk ? undefined : this.stems.get(part.stems[0]);
      if (word !== undefined) marks.push({ start: part.start, end: part.end, word });
    }
    for (const match of this.pattern ? text.matchAll(this.pattern) : [])
      marks.push({ start: match.index, end: match.index + match[0].length, word: match[0] });
    return marks.sort((one, other) => one.start - other.start);
  }

  /* [text, is marked], in order. */
  cut(text) {
    text = Analyser.narrowed(text).replace(/[\s\0-\x1f\x7f]/g, " ");
    const marks = this.marks(text);
    const [begin, end] = marks.length ? edges(text, ...densest(marks)) : edges(text, 0, 0);
    return [...(begin ? [["…", false]] : []), ...pieces(text, begin, end, marks), ...(end < text.length ? [["…", false]] : [])];
  }

  /* A whole text with its marks. */
  marked(text) {
    text = Analyser.narrowed(text);
    return pieces(text, 0, text.length, this.marks(text));
  }
}

function pieces(text, begin, end, marks) {
  const found = [];
  let at = begin;
  for (const mark of marks) {
    if (mark.start < at || mark.end > end) continue;
    found.push([text.slice(at, mark.start), false], [text.slice(mark.start, mark.end), true]);
    at = mark.end;
  }
  return [...found, [text.slice(at, end), false]].filter(([piece]) => piece);
}

/* Where the window begins and ends that has most different words, and among those most words. */
function densest(marks) {
  const inside = new Map();
  let best = [0, 0];
  let place = [0, 0];
  let first = 0;
  marks.forEach((mark, last) => {
    inside.set(mark.word, (inside.get(mark.word) ?? 0) + 1);
    while (mark.end - marks[first].start > WIDTH && first < last) {
      const { word } = marks[first++];
      if (inside.get(word) === 1) inside.delete(word);
      else inside.set(word, inside.get(word) - 1);
    }
    if (inside.size > best[0] || (inside.size === best[0] && last - first > best[1])) {
      best = [inside.size, last - first];
      place = [first, last];
    }
  });
  return [marks[place[0]].start, marks[place[1]].end];
}

/* The window around a piece, its edges between words where a space is near, and never within a character. */
function edges(text, start, end) {
  const spare = Math.max(0, WIDTH - (end - start));
  let begin = Math.max(0, Math.min(start - Math.floor(spare / 3), text.length - WIDTH));
  let stop = Math.min(text.length, Math.max(begin + WIDTH, end));
  if (begin > 0 && text[begin - 1] !== " ") {
    const space = text.slice(begin, Math.min(start, begin + EDGE)).indexOf(" ");
    if (space >= 0) begin += space + 1;
  }
  if (stop < text.length && text[stop] !== " ") {
    const space = text.slice(Math.max(end, stop - EDGE), stop).lastIndexOf(" ");
    if (space >= 0) stop = Math.max(end, stop - EDGE) + space;
  }
  const isLow = (at) => /[\udc00-\udfff]/.test(text[at] ?? "");
  return [begin - isLow(begin), stop + isLow(stop)];
}
