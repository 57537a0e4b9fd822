"use strict";
/* Text to words, for what is typed and for snippets, just as the index was made (SQLite FTS5: porter over unicode61, and
   Chinese, Japanese and Korean as single characters). What is the same for every letter comes with the index. */

/* The stem of an English word. M. F. Porter, "An algorithm for suffix stripping", 1980, on bytes as FTS5 does it. */
const stem = (() => {
  const rules = (text, least) => text.split(" ").map((rule) => {
    const [suffix, other] = rule.split(">");
    return { suffix, other, least };
  });
  const STEP_2 = rules(
    "ational>ate tional>tion enci>ence anci>ance izer>ize logi>log bli>ble alli>al entli>ent eli>e ousli>ous " +
    "ization>ize ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al iviti>ive biliti>ble", 1);
  const STEP_3 = rules("icate>ic ative> alize>al iciti>ic ical>ic ful> ness>", 1);
  const STEP_4 = rules(
    "al> ance> ence> er> ic> able> ible> ant> ement> ment> ent> ion> ou> ism> ate> iti> ous> ive> ize>", 2);

  /* v and c for each letter: y is a vowel behind a consonant */
  function shape(word) {
    let kinds = "";
    for (const letter of word)
      kinds += "aeiou".includes(letter) || (letter === "y" && kinds.endsWith("c")) ? "v" : "c";
    return kinds;
  }
  const measure = (word) => (shape(word).match(/v+c+/g) || []).length;
  const hasVowel = (word) => shape(word).includes("v");
  const isShort = (word) => shape(word).endsWith("cvc") && !/[wxy]$/.test(word);

  function replaced(word, steps) {
    const rule = steps.find((each) => word.length > each.suffix.length && word.endsWith(each.suffix));
    if (!rule) return word;
    const rest = word.slice(0, -rule.suffix.length);
    if (measure(rest) < rule.least || (rule.suffix === "ion" && !/[st]$/.test(rest))) return word;
    return rest + rule.other;
  }

  function plural(word) {
    if (!word.endsWith("s")) return word;
    if (word.endsWith("es")) {
      if (word.length > 4 && word.endsWith("sses")) return word.slice(0, -2);
      if (word.length > 3 && word.endsWith("ies")) return word.slice(0, -2);
    }
    return word.endsWith("ss") ? word : word.slice(0, -1);
  }

  function past(word) {
    if (word.length > 3 && word.endsWith("eed")) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
    const suffix = ["ed", "ing"].find((each) => word.length > each.length && word.endsWith(each));
    if (!suffix || !hasVowel(word.slice(0, -suffix.length))) return word;
    const rest = word.slice(0, -suffix.length);
    if (rest.length > 2 && /(?:at|bl|iz)$/.test(rest)) return rest + "e";
    const last = rest.at(-1);
    if (last === rest.at(-2) && !"aeioulsz".includes(last)) return rest.slice(0, -1);
    return measure(rest) === 1 && isShort(rest) ? rest + "e" : rest;
  }

  function end(word) {
    const rest = word.slice(0, -1);
    if (word.endsWith("e")) {
      const parts = measure(rest);
      if (parts > 1 || (parts === 1 && !isShort(rest))) word = rest;
    }
    return word.endsWith("ll") && measure(word.slice(0, -1)) > 1 ? word.slice(0, -1) : word;
  }

  function stemmed(word) {
    if (word.length < 3 || word.length > 64) return word;
    word = past(plural(word));
    if (word.endsWith("y") && hasVowel(word.slice(0, -1))) word = word.slice(0, -1) + "i";
    return end(replaced(replaced(replaced(word, STEP_2), STEP_3), STEP_4));
  }

  return (word) => {
    if (word.length > 64 || /^[\0-\x7f]*$/.test(word)) return stemmed(word);
    const bytes = String.fromCharCode(...new TextEncoder().encode(word));
    const result = stemmed(bytes);
    if (result === bytes) return word;
    return new TextDecoder().decode(Uint8Array.from(result, (each) => each.charCodeAt(0)));
  };
})();

/* Cuts text into words. `letters`: the first and last of each row of letters and digits; `folding`: those whose lower case
   without accents is not their lower case; "" for accents that stand alone. `cjk`: letters that are words each, as the
   inside of a character class. */
class Analyser {
  constructor({ letters, folding, cjk }) {
    this.folding = new Map(Object.entries(folding));
    const accents = [...this.folding].filter(([, to]) => !to).map(([letter]) => letter).join("");
    const rows = Array.from(letters, (each, number) => (number % 2 ? `-${each}` : each)).join("");
    this.pattern = new RegExp(`([${cjk}]+)|(?![${cjk}])[${rows}](?:(?![${cjk}])[${rows}${accents}])*`, "gu");
    this.stems = new Map();
  }

  /* Half- and full-width forms as the ordinary ones; offsets of words and snippets are those of such a text. */
  static narrowed(text) {
    return text
      .replace(/[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uff9f\uffa0-\uffdc]+/g, (each) => each.normalize("NFKC"))
      .replace(/[\u3041-\u30ff][\u3099\u309a]/g, (each) => each.normalize("NFKC"));
  }

  folded(word) {
    if (/^[\0-\x7f]*$/.test(word)) return word.toLowerCase();
    return Array.from(word, (each) => this.folding.get(each) ?? each.toLowerCase()).join("");
  }

  stem(word) {
    let found = this.stems.get(word);
    if (found === undefined) this.stems.set(word, found = stem(this.folded(word)));
    return found;
  }

  /* Words, and runs of CJK characters, in order: {start, end, text, stems, isCjk}. */
  parts(text) {
    return Array.from(text.matchAll(this.pattern), (match) => {
      const isCjk = match[1] !== undefined;
      const [word] = match;
      return { start: match.index, end: match.index + word.length, text: word, stems: isCjk ? [...word] : [this.stem(word)], isCjk };
    });
  }
}
