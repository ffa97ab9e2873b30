// Hot lines, the annotated source and the instructions of a line.
const KEYWORDS = new Set(("alignas auto bool break case char class const consteval constexpr continue decltype default delete do double else enum " +
  "explicit extern false float for friend if inline int long namespace new noexcept nullptr operator private public requires return short " +
  "signed sizeof static struct switch template this true typedef typename union unsigned using virtual void volatile while " +
  "__device__ __global__ __host__ __shared__ __restrict__ __launch_bounds__").split(" "));
const TOKEN = /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*")|(^\s*#\s*\w+)|([A-Za-z_]\w*)|(\b\d[\w.]*)/g;

/// A line of C++ in a little colour.
function code(line) {
  const out = [];
  let at = 0;
  for (const match of line.matchAll(TOKEN)) {
    const [text, comment, string, directive, word, number] = match;
    const kind = comment ? "comment" : string ? "string" : directive ? "word" : number ? "value" : KEYWORDS.has(word) ? "word" : null;
    if (!kind) continue;
    out.push(line.slice(at, match.index), el("span", { class: kind }, text));
    at = match.index + text.length;
  }
  out.push(line.slice(at));
  return out;
}

function sourceLine(fileIndex, line) {
  for (const piece of data.sources[fileIndex] || [])
    if (line >= piece.first && line < piece.first + piece.lines.length) return piece.lines[line - piece.first];
  return null;
}

/// Instructions and call chains of a kernel, looked up.
class Code {
  constructor(kernel) {
    this.kernel = kernel;
    this.sites = kernel.sites;
    this.cycles = sum(this.sites, (s) => s.cycles);
    this.chains = kernel.chains.map((chain) => chain.map((f) => {
      const [file, line, column, fn] = kernel.frames[f];
      return { file, line, column, fn };
    }));
    this.byLine = new Map(); // "file:line" -> own cycles, with those it calls, sites
    this.sites.forEach((site, n) => {
      const seen = new Set();
      this.chains[site.chain].forEach((frame, depth) => {
        const key = frame.file + ":" + frame.line;
        if (seen.has(key)) return;
        seen.add(key);
        if (!this.byLine.has(key)) this.byLine.set(key, { own: 0, all: 0, n: 0, sites: [] });
        const cost = this.byLine.get(key);
        cost.all += site.cycles;
        cost.n += site.n;
        if (depth === 0) cost.own += site.cycles;
        cost.sites.push(n);
      });
    });
  }
  chain(site) { return this.chains[site.chain]; }
  /// Where a site comes from, as "gemm.cpp:84".
  place(site) {
    const frame = this.chain(site)[0];
    return frame ? fileName(data.strings[frame.file]) + ":" + frame.line : "";
  }
}

const lanesActive = (lanes, n) => n ? lanes / n : 0;
const ways = (lds) => lds.ways > 1 ? `${lds.ways} ways` : "";

/// Text with "file.cpp:84" turned into links to the source, where the file is known.
function linkedText(text, open) {
  const out = [];
  let at = 0;
  for (const match of text.matchAll(/([\w./+-]+\.[A-Za-z]+):(\d+)/g)) {
    const file = [...fileNames.keys()].find((f) => f === match[1] || fileNames.get(f) === match[1] || f.endsWith("/" + match[1]));
    if (!file) continue;
    out.push(text.slice(at, match.index), el("a", { href: "#source", onclick: (event) => {
      event.preventDefault();
      open(data.strings.indexOf(file), Number(match[2]));
    } }, match[0]));
    at = match.index + match[0].length;
  }
  out.push(text.slice(at));
  return out;
}

function hotLineRow(code_, line, open) {
  const file = data.strings[line.file];
  const lanes = lanesActive(sum(line.sites, (n) => code_.sites[n].lanes), line.n);
  const text = line.line ? sourceLine(line.file, line.line) : null;
  const where = line.line ? `${fileName(file)}:${line.line}` : "no source line";
  const traffic = line.memory.l2reads * data.machine.l2_read_bytes + line.memory.l2writes * data.machine.l2_write_bytes;
  const go = line.line ? () => open(line.file, line.line) : null;
  return el("tr", { class: go ? "link" : "", onclick: go, title: line.line ? file : null },
    el("td", { class: "share" }, el("span", { class: "number" }, percent(line.cycles, code_.cycles)), bar(line.cycles / (code_.cycles || 1), "b")),
    el("td", { class: "where" }, go ? el("a", { href: "#source", onclick: (e) => e.preventDefault() }, where) : where,
       el("small", {}, " " + shortName(data.strings[line.function])), text !== null && el("code", {}, code(text.trim()))),
    el("td", { class: "number" }, count(line.n)),
    el("td", { class: "number" }, line.lds ? count(line.lds) : "", line.conflict > 0 && el("small", { class: "bad" }, percent(line.conflict, line.lds) + " conflicts")),
    el("td", { class: "number" }, traffic ? bytes(traffic) : "", line.memory.hits + line.memory.misses > 0 && el("small", {}, percent(line.memory.hits, line.memory.hits + line.memory.misses) + " hits")),
    el("td", { class: "number" }, lanes.toFixed(lanes < 63.95 ? 1 : 0)));
}

function hotLines(code_, open) {
  const lines = code_.kernel.lines;
  const body = el("tbody");
  const more = el("button", { type: "button", class: "more", onclick: () => show(lines.length) }, `Show all ${lines.length} lines`);
  const show = (most) => {
    body.replaceChildren(...lines.slice(0, most).map((line) => hotLineRow(code_, line, open)));
    more.hidden = most >= lines.length;
  };
  show(12);
  return section("lines", "Hot lines", "By the share of issue cycles: those in which an instruction holds its wave or unit. An order of cost, not a time.",
    el("div", { class: "scroll" }, el("table", { class: "lines" },
      el("thead", {}, el("tr", {}, ["Issue cycles", "Line", "Instructions", "LDS cycles", "L2 traffic", "Lanes active"].map((h) => el("th", { scope: "col" }, h)))), body)), more);
}

/// The annotated source, with the instructions of the chosen line beside it.
class SourceView {
  constructor(code_, goSite) {
    this.code = code_;
    this.goSite = goSite;
    this.list = longList(20, 560, "source");
    this.sites = longList(22, 470, "line-sites");
    this.about = el("div", { class: "about" });
    this.most = Math.max(1, ...[...code_.byLine.values()].map((c) => c.own));
    this.files = el("select", { "aria-label": "File", onchange: (event) => this.open(Number(event.target.value), 0) });
    const cost = new Map();
    for (const [key, c] of code_.byLine) {
      const file = Number(key.slice(0, key.indexOf(":")));
      cost.set(file, (cost.get(file) || 0) + c.own + c.all * 1e-3);
    }
    this.order = [...cost.keys()].sort((a, b) => cost.get(b) - cost.get(a));
    for (const file of this.order) this.files.append(el("option", { value: file }, fileName(data.strings[file])));
    this.section = section("source", "Source", null,
      el("div", { class: "tools" }, this.files, el("span", { class: "note" }, "Bars: issue cycles of the line itself, and paler with what it calls.")),
      el("div", { class: "columns source-columns" }, this.list.box, el("div", {}, this.about, this.sites.box)));
    const first = code_.kernel.lines.find((line) => line.line);
    if (first) this.open(first.file, first.line, true);
    else this.section.replaceChildren(el("h2", {}, "Source"), el("p", { class: "empty" }, "The kernel was compiled without line tables (-gline-tables-only): its instructions have no source lines."));
  }
  open(file, line, quiet) {
    this.file = file;
    this.line = line;
    this.files.value = file;
    const pieces = data.sources[file];
    let rows = [];
    if (pieces)
      pieces.forEach((piece, n) => {
        if (n > 0 || piece.first > 1) rows.push({ gap: true });
        piece.lines.forEach((text, k) => rows.push({ number: piece.first + k, text }));
      });
    else {
      const numbers = [...this.code.byLine.keys()].filter((k) => k.startsWith(file + ":")).map((k) => Number(k.split(":")[1]));
      rows = [{ missing: true }, ...numbers.sort((a, b) => a - b).map((number) => ({ number, text: "" }))];
    }
    if (!line) {
      const hot = rows.filter((r) => r.number).sort((a, b) => this.cost(b.number) - this.cost(a.number))[0];
      line = this.line = hot ? hot.number : 0;
    }
    this.list.show(rows, (row) => this.row(row));
    const at = rows.findIndex((row) => row.number === line);
    requestAnimationFrame(() => this.list.scrollTo(Math.max(0, at)));
    this.showLine();
    if (!quiet) document.getElementById("source").scrollIntoView({ behavior: "smooth" });
  }
  cost(number) {
    const c = this.code.byLine.get(this.file + ":" + number);
    return c ? c.own + c.all * 1e-3 : 0;
  }
  row(row) {
    if (row.gap) return el("div", { class: "gap" }, "\u22ee");
    if (row.missing) return el("div", { class: "gap" }, `${data.strings[this.file]} could not be read; its lines with instructions:`);
    const c = this.code.byLine.get(this.file + ":" + row.number);
    const total = this.code.cycles || 1;
    const width = (cycles) => `width:${100 * Math.min(1, cycles / this.most)}%`;
    return el("div", { class: (c ? "has " : "") + (row.number === this.line ? "chosen" : ""), onclick: c && (() => { this.line = row.number; this.list.redraw(); this.showLine(); }) },
      el("span", { class: "line-number" }, row.number),
      el("span", { class: "cost", title: c && `itself ${percent(c.own, total)}, with what it calls ${percent(c.all, total)}` },
        c && el("i", { class: "all", style: width(c.all) }), c && el("i", { class: "own", style: width(c.own) }),
        c && c.all / total >= 0.0005 && el("em", {}, percent(c.all, total))),
      el("code", {}, code(row.text)));
  }
  showLine() {
    const c = this.code.byLine.get(this.file + ":" + this.line);
    const name = `${fileName(data.strings[this.file])}:${this.line}`;
    const total = this.code.cycles;
    this.about.replaceChildren(el("h3", {}, name), el("p", {}, c
      ? `${plural(c.sites.length, "instruction")}, executed ${count(c.n)} times by waves: ${percent(c.all, total)} of the issue cycles` + (c.own < c.all ? `, ${percent(c.own, total)} in the line itself.` : ".")
      : "No instruction that ran comes from this line."));
    this.sites.show(c ? c.sites : [], (n) => {
      const site = this.code.sites[n];
      return el("div", { class: "has", onclick: () => this.goSite(n), title: chainText(this.code, site) },
        el("a", { href: "#assembly", onclick: (e) => e.preventDefault() }, hex(site.address)), instruction(site), el("span", { class: "number" }, percent(site.cycles, total)));
    });
    this.sites.box.scrollTop = 0;
  }
}

function chainText(code_, site) {
  return code_.chain(site).map((f) => `${fileName(data.strings[f.file])}:${f.line} in ${shortName(data.strings[f.fn])}`).join("\n") || "no source line";
}

/// An instruction with its mnemonic in the colour of its class.
function instruction(site) {
  const space = site.text.indexOf(" ");
  const cut = space < 0 ? site.text.length : space;
  return el("code", {}, el("b", { class: "class-" + data.classes[site.class] }, site.text.slice(0, cut)), site.text.slice(cut));
}
