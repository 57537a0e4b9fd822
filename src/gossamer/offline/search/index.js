/* The index: scripts that hand over their content when they are needed. Nothing else can be read on file://. */

const loading = new Map(); // name: what to do with the content

/* Called by each of these scripts. */
window.gossamerPart = (name, content) => {
  loading.get(name)?.(content);
};

/* The content of one script, unpacked. */
function load(name) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    loading.set(name, (content) => {
      const packed = Uint8Array.from(atob(content), (each) => each.charCodeAt(0));
      const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
      new Response(unpacked).arrayBuffer().then((buffer) => resolve(new Uint8Array(buffer)), reject);
    });
    script.onerror = () => reject(new Error(`a file of this copy is missing: _gossamer/search/${name}.js`));
    script.onload = () => script.remove();
    script.src = `_gossamer/search/${name}.js`;
    document.head.append(script);
  });
}

/* Asks once, and again only after a failure. */
class Once {
  constructor(ask) {
    this.ask = ask;
    this.answers = new Map();
  }

  get(key) {
    if (!this.answers.has(key)) {
      const answer = this.ask(key);
      answer.catch(() => this.answers.delete(key));
      this.answers.set(key, answer);
    }
    return this.answers.get(key);
  }
}

/* Reads numbers of seven bits a byte, the lowest first. */
class Numbers {
  constructor(data) {
    this.data = data;
    this.at = 0;
  }

  next() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.data[this.at++];
      value += (byte & 127) * scale;
      if (!(byte & 128)) return value;
    }
  }

  bytes(count) {
    return this.data.subarray(this.at, (this.at += count));
  }
}

class Index {
  static async open() {
    return new Index(JSON.parse(new TextDecoder().decode(await load("index"))));
  }

  constructor(core) {
    Object.assign(this, core); // see searching.py
    let id = 0;
    this.rows = new Map(core.ids.map((more, row) => [(id += more), row]));
    this.ids = [...this.rows.keys()];
    this.pages = this.ids.length;
    this.analyser = new Analyser(core);
    this.words = new Once(async (name) => Index.dictionary(await load(name)));
    this.texts = new Once(async (name) => JSON.parse(new TextDecoder().decode(await load(name))));
    this.places = new Once((word) => this.placesOf(word));
  }

  /* Word: {count, data}, in order. */
  static dictionary(data) {
    const words = new Map();
    const numbers = new Numbers(data);
    const decoder = new TextDecoder();
    while (numbers.at < data.length) {
      const word = decoder.decode(numbers.bytes(numbers.next()));
      const count = numbers.next();
      words.set(word, { count, data: numbers.bytes(numbers.next()) });
    }
    return words;
  }

  /* The number of the script that has a word, if any has. */
  scriptOf(word) {
    let low = 0;
    let high = this.scripts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.scripts[middle][0] <= word) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /* Where a word stands: rows, and of each row the positions from starts[n] to starts[n + 1]. */
  async placesOf(word) {
    const number = this.scriptOf(word);
    const found = number < 0 ? undefined : (await this.words.get(this.scripts[number][1])).get(word);
    const count = found ? found.count : 0;
    const rows = new Int32Array(count);
    const starts = new Int32Array(count + 1);
    if (!found) return { rows, starts, positions: new Int32Array(0) };
    const numbers = new Numbers(found.data);
    for (let n = 0, id = 0; n < count; n++) rows[n] = this.rows.get((id += numbers.next()));
    for (let n = 0; n < count; n++) starts[n + 1] = starts[n] + numbers.next();
    const positions = new Int32Array(starts[count]);
    for (let n = 0; n < count; n++)
      for (let at = starts[n], next = 0; at < starts[n + 1]; at++) next = (positions[at] = next + numbers.next()) + 1;
    return { rows, starts, positions };
  }

  /* The most frequent words that begin so. */
  async beginning(start, most) {
    const found = [];
    for (let number = Math.max(0, this.scriptOf(start)), read = 0; number < this.scripts.length && read < 3; number++, read++) {
      if (read && !this.scripts[number][0].startsWith(start)) break;
      for (const [word, { count }] of await this.words.get(this.scripts[number][1]))
        if (word.startsWith(start)) found.push([word, count]);
    }
    found.sort((one, other) => other[1] - one[1]);
    return found.slice(0, most).map(([word]) => word);
  }

  /* What is shown of a page: {title, place, url, language, others, text}. */
  async page(row) {
    const id = this.ids[row];
    const entries = await this.texts.get(`text-${Math.floor(id / this.group)}`);
    const [, title, place, url, language, others, text] = entries.find((each) => each[0] === id);
    return { title, place, url, language, others, text };
  }
}
