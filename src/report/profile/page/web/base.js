// What all parts of the page use: the data, building elements, writing numbers, the tooltip, long
// lists. Elements are built from text nodes only, so no name can become markup.
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = document.getElementById("svg-namespace").namespaceURI;
const TIMES = "\u00d7", DASH = "\u2013", MICRO = "\u00b5", NONE = "\u2014";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}
const el = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

// ---- Numbers -----------------------------------------------------------------------------------

const digits = (value) => value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
function scaled(value, base, units) {
  let n = 0;
  while (Math.abs(value) >= base * 0.9995 && n + 1 < units.length) {
    value /= base;
    ++n;
  }
  const text = n === 0 && Number.isInteger(value) ? String(value) : digits(value);
  return units[n] ? text + " " + units[n] : text;
}
const exact = (value) => Math.round(value).toLocaleString("en-US");
/// Small counts in full, large ones by their magnitude.
const count = (value) =>
  Math.abs(value) < 100000 ? (Number.isInteger(value) ? exact(value) : digits(value))
                           : scaled(value, 1000, ["", "k", "M", "G", "T", "P"]);
const bytes = (value) => scaled(value, 1024, ["bytes", "KiB", "MiB", "GiB", "TiB"]);
const rate = (value, unit) => scaled(value, 1000, ["", "k", "M", "G", "T", "P"]).trimEnd().replace(/( [kMGTP])?$/, (m) => (m || " ") + unit);
const seconds = (value) => scaled(value * 1e9, 1000, ["ns", MICRO + "s", "ms", "s"]);
const percent = (part, whole) => {
  if (!whole) return "0 %";
  const value = 100 * part / whole;
  return (value === 0 || value === 100 ? value : value < 0.1 ? "< 0.1" : value < 10 ? value.toFixed(1) : value.toFixed(0)) + " %";
};
/// A ratio in words' company: "4.0 times".
const times = (value) => value >= 99.95 ? exact(value) : value.toFixed(value < 0.095 ? 2 : 1);
const plural = (n, word) => exact(n) + " " + word + (n === 1 ? "" : "s");
const sum = (list, of) => list.reduce((total, item) => total + of(item), 0);
const hex = (value) => "0x" + value.toString(16).padStart(4, "0");

// ---- Names -------------------------------------------------------------------------------------

/// Without its arguments and what stands in <...>.
function shortName(name) {
  let depth = 0, out = "";
  for (const c of name.replace(/^void /, "")) {
    if (c === "(" && depth === 0 && !out.endsWith("operator")) break;
    if (c === "<") ++depth;
    else if (c === ">") depth = Math.max(0, depth - 1);
    else if (depth === 0) out += c;
  }
  return out.replace(" [clone .kd]", "").trim() || name;
}

const fileNames = (() => {
  const files = Object.keys(data.sources).map((index) => data.strings[index]);
  const last = (file, parts) => file.split("/").slice(-parts).join("/");
  const short = new Map();
  for (const file of files) {
    let parts = 1;
    while (files.some((other) => other !== file && last(other, parts) === last(file, parts)) &&
           parts < file.split("/").length) ++parts;
    short.set(file, last(file, parts));
  }
  return short;
})();
const fileName = (file) => fileNames.get(file) || file.split("/").pop();

// ---- Tooltip -----------------------------------------------------------------------------------

const tip = document.getElementById("tip");
function showTip(event, ...lines) {
  tip.replaceChildren(...lines.filter(Boolean).map((line) => el("div", {}, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const x = Math.min(event.clientX + 14, window.innerWidth - box.width - 8);
  const y = event.clientY + 18 + box.height > window.innerHeight ? event.clientY - box.height - 10
                                                                : event.clientY + 18;
  tip.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`;
}
const hideTip = () => { tip.hidden = true; };
/// Attributes that show the lines while the pointer is over the element.
const withTip = (...lines) => ({ onmousemove: (event) => showTip(event, ...lines), onmouseleave: hideTip });

// ---- Parts -------------------------------------------------------------------------------------

function bar(share, kind, title) {
  return el("span", { class: "bar", title },
            el("i", { class: kind, style: `width:${(100 * Math.min(1, share)).toFixed(2)}%` }));
}

function section(id, title, lead, ...children) {
  return el("section", { id }, el("h2", {}, title), lead && el("p", { class: "lead" }, lead), ...children);
}

/// Buttons of which one is pressed.
function choice(options, chosen, pick) {
  const box = el("span", { class: "choice" });
  for (const [value, label] of options)
    box.append(el("button", {
      type: "button", "aria-pressed": String(value === chosen),
      onclick: (event) => {
        for (const other of box.children) other.setAttribute("aria-pressed", "false");
        event.currentTarget.setAttribute("aria-pressed", "true");
        pick(value);
      },
    }, label));
  return box;
}

/// A list of rows of one height of which only those in sight are in the page.
class LongList {
  constructor(height, most, kind, heads) {
    this.height = height;
    this.inner = el("div", { class: "inner" });
    this.box = el("div", { class: "long " + kind, tabindex: 0, style: `max-height:${most}px` },
                  heads && el("div", { class: "head" }, heads), this.inner);
    this.rows = [];
    this.make = () => el("div");
    this.box.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => requestAnimationFrame(() => this.draw())).observe(this.box);
  }
  show(rows, make) {
    this.rows = rows;
    this.make = make;
    this.redraw();
  }
  redraw() {
    this.drawn = null;
    this.inner.replaceChildren();  // rows that are left over would keep the list as long as it was
    this.inner.style.height = this.rows.length * this.height + "px";
    this.draw();
  }
  draw(all) {
    const view = all ? 0 : Math.floor(this.box.scrollTop / this.height);
    const first = Math.max(0, view - 10);
    const last = all ? Math.min(this.rows.length, 400)
                     : Math.min(this.rows.length, view + Math.ceil((this.box.clientHeight || 400) / this.height) + 10);
    if (this.drawn === first + ":" + last) return;
    this.drawn = first + ":" + last;
    if (all) this.inner.style.height = last * this.height + "px";
    const fresh = [];
    for (let n = first; n < last; ++n) {
      const row = this.make(this.rows[n], n);
      row.style.top = n * this.height + "px";
      row.style.height = this.height + "px";
      fresh.push(row);
    }
    this.inner.replaceChildren(...fresh);
  }
  scrollTo(n) {
    this.box.scrollTop = Math.max(0, n * this.height - this.box.clientHeight / 3);
    this.draw();
  }
}

const lists = new Set();
function longList(height, most, kind, heads) {
  const list = new LongList(height, most, kind, heads);
  lists.add(list);
  return list;
}
// Paper does not scroll.
window.addEventListener("beforeprint", () => { for (const list of lists) list.draw(true); });
window.addEventListener("afterprint", () => { for (const list of lists) list.redraw(); });
