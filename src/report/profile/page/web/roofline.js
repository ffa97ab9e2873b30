// The roofline and the bounds. No time was measured, so the dots stand where the ceilings put them:
// one for each level of memory, at the kernel's FLOP per byte of that level.
const LEVELS = { LDS: "--lds", vL1D: "--vl1d", L2: "--l2", memory: "--memory" };

/// The peaks of the CUs that get work; all CUs share L2 and memory.
function reachable(kernel) {
  const cus = Math.min(product(kernel.grid), data.machine.cus), part = cus / data.machine.cus;
  const shared = (level) => level.name === "L2" || level.name === "memory";
  return { cus, operations: kernel.operations.map((o) => ({ ...o, peak: o.peak * part })),
           levels: kernel.levels.map((l) => ({ ...l, peak: shared(l) ? l.peak : l.peak * part })) };
}

/// Operations per second of this mix of types: matrix units and vector ALU work side by side.
function computeRoof(operations) {
  const need = (matrix) => sum(operations.filter((o) => o.type.includes("matrix") === matrix), (o) => o.count / o.peak);
  const total = sum(operations, (o) => o.count);
  return { total, roof: total / Math.max(need(true), need(false)) };
}

function decades(low, high) {
  const out = [];
  for (let e = Math.ceil(Math.log10(low)); e <= Math.floor(Math.log10(high)); ++e) out.push(e);
  return out;
}
const power = (e) => e >= 0 && e < 4 ? String(10 ** e) : e < 0 && e > -4 ? (10 ** e).toFixed(-e) : `1e${e}`;

/// Labels that do not touch each other: each takes the first of its places that is free.
class Labels {
  constructor() { this.taken = []; }
  take(...boxes) { this.taken.push(...boxes); }
  choose(places) {
    const touches = (a) => this.taken.some((b) => a.x0 < b.x1 && a.x1 > b.x0 && a.y0 < b.y1 && a.y1 > b.y0);
    const free = places.find((place) => !place.boxes.some(touches)) || places[0];
    this.take(...free.boxes);
    return free;
  }
}
const CHARACTER = 7.7;  // pixels of the chart, on average
function textBox(text, x, y, anchor) {
  const width = text.length * CHARACTER;
  const x0 = anchor === "end" ? x - width : anchor === "middle" ? x - width / 2 : x;
  return { x0, x1: x0 + width, y0: y - 11, y1: y + 4 };
}
/// A slanted text is covered by small boxes.
function slantedBoxes(text, x, y, angle, dy) {
  const out = [], half = text.length * CHARACTER / 2, cos = Math.cos(angle), sin = Math.sin(angle);
  for (let at = -half + 6; at < half; at += 10) {
    const cx = x + at * cos - (dy - 4) * sin, cy = y + at * sin + (dy - 4) * cos;
    out.push({ x0: cx - 8, x1: cx + 8, y0: cy - 8, y1: cy + 8 });
  }
  return out;
}

class Plot {
  constructor(dots, ceilings, roof) {
    this.width = 700, this.height = 430;
    this.left = 62, this.right = 14, this.top = 16, this.bottom = 44;
    const ridges = ceilings.map((c) => roof / c.peak);
    this.x0 = Math.min(...dots.map((d) => d.intensity), ...ridges) / 5;
    this.x1 = Math.max(...dots.map((d) => d.intensity), ...ridges) * 6;
    this.y1 = roof * 4;
    this.y0 = Math.min(...dots.map((d) => d.bound), roof / 30) / 4;
  }
  x(v) {
    const t = Math.log(v / this.x0) / Math.log(this.x1 / this.x0);
    return this.left + t * (this.width - this.left - this.right);
  }
  y(v) {
    const t = Math.log(v / this.y0) / Math.log(this.y1 / this.y0);
    return this.height - this.bottom - t * (this.height - this.top - this.bottom);
  }
  axes() {
    const { left, width, height, right, bottom, top } = this;
    const unit = ["", "k", "M", "G", "T", "P"];
    return [
      decades(this.x0, this.x1).map((e) => [
        svg("line", { class: "grid", x1: this.x(10 ** e), x2: this.x(10 ** e), y1: top, y2: height - bottom }),
        svg("text", { class: "tick", x: this.x(10 ** e), y: height - bottom + 16, "text-anchor": "middle" }, power(e))]),
      decades(this.y0, this.y1).map((e) => [
        svg("line", { class: "grid", x1: left, x2: width - right, y1: this.y(10 ** e), y2: this.y(10 ** e) }),
        svg("text", { class: "tick", x: left - 8, y: this.y(10 ** e) + 4, "text-anchor": "end" },
            10 ** (e - 3 * Math.floor(e / 3)) + " " + (unit[Math.floor(e / 3)] || ""))]),
      svg("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
      svg("line", { class: "axis", x1: left, x2: left, y1: top, y2: height - bottom }),
      svg("text", { class: "title", x: (left + width) / 2, y: height - 8, "text-anchor": "middle" },
          "operations per byte of the level"),
      svg("text", { class: "title", transform: `translate(13 ${(height - bottom + top) / 2}) rotate(-90)`, "text-anchor": "middle" },
          "operations per second")];
  }
  /// The slanted ceiling of a level, from the left or lower edge to the roof.
  ceiling(level, roof, labels) {
    const from = Math.max(this.x0, this.y0 / level.peak), ridge = roof / level.peak;
    const x1 = this.x(from), y1 = this.y(from * level.peak), x2 = this.x(ridge), y2 = this.y(roof);
    const slant = Math.atan2(y2 - y1, x2 - x1), text = `${level.name} ${rate(level.peak, "B/s")}`;
    const places = [];
    for (const at of [0.42, 0.25, 0.6, 0.75, 0.12])
      for (const dy of [-5, 13]) {
        const x = x1 + at * (x2 - x1), y = y1 + at * (y2 - y1);
        places.push({ x, y, dy, boxes: slantedBoxes(text, x, y, slant, dy) });
      }
    const inside = places.filter((p) => p.boxes.every((b) => b.x0 > this.left && b.y0 > 0 && b.y1 < this.height - this.bottom));
    const { x, y, dy } = labels.choose(inside.length ? inside : places);
    return svg("g", { style: `--c:var(${LEVELS[level.name] || "--ink"})` },
      svg("line", { class: "ceiling", x1, y1, x2, y2 }),
      svg("text", { class: "on-line", transform: `translate(${x} ${y}) rotate(${slant * 180 / Math.PI})`, dy, "text-anchor": "middle" }, text));
  }
  /// A text at the right end of a horizontal line, below or above it, or further left.
  onRoof(text, y, kind, labels) {
    const places = [];
    for (const x of [this.width - this.right - 4, this.width - this.right - 150])
      for (const dy of [16, -7]) places.push({ x, y: y + dy, boxes: [textBox(text, x, y + dy, "end")] });
    const place = labels.choose(places);
    return svg("text", { class: kind, x: place.x, y: place.y, "text-anchor": "end" }, text);
  }
}

function rooflineChart(operations, levels) {
  const { total, roof } = computeRoof(operations);
  if (!total || !levels.length) return null;
  const dots = levels.map((level) => {
    const intensity = total / level.bytes;
    return { level, intensity, bound: Math.min(roof, intensity * level.peak) };
  });
  const ceilings = [...levels].sort((a, b) => b.peak - a.peak);
  const plot = new Plot(dots, ceilings, roof);
  const parts = [plot.axes()], labels = new Labels();
  for (const dot of dots) {
    const x = plot.x(dot.intensity), y = plot.y(dot.bound);
    labels.take({ x0: x - 7, x1: x + 7, y0: y - 7, y1: y + 7 });
  }
  const start = Math.min(...ceilings.map((c) => roof / c.peak));
  parts.push(svg("line", { class: "roof", x1: plot.x(start), x2: plot.width - plot.right, y1: plot.y(roof), y2: plot.y(roof) }));
  const types = operations.filter((o) => o.count > 0.02 * total).map((o) => o.type).join(" + ");
  parts.push(plot.onRoof(`${types} ${rate(roof, "OP/s")}`, plot.y(roof), "on-line", labels));
  for (const level of ceilings) parts.push(plot.ceiling(level, roof, labels));
  for (const other of operations) {
    if (Math.abs(Math.log(other.peak / roof)) < 0.12 || other.peak > plot.y1 || other.peak < plot.y0 || other.count < 1e-3 * total) continue;
    parts.push(svg("line", { class: "other-roof", x1: plot.x(Math.max(plot.x0, other.peak / ceilings[0].peak)), x2: plot.width - plot.right, y1: plot.y(other.peak), y2: plot.y(other.peak) }),
               plot.onRoof(`${other.type} ${rate(other.peak, "OP/s")}`, plot.y(other.peak), "tick", labels));
  }
  const lowest = Math.min(...dots.map((d) => d.bound));
  for (const dot of [...dots].sort((a, b) => a.intensity - b.intensity)) {
    const x = plot.x(dot.intensity), y = plot.y(dot.bound), text = `${dot.level.name} ${digits(dot.intensity)}`;
    const place = (x, y, anchor) => ({ x, y, anchor, boxes: [textBox(text, x, y, anchor)] });
    // On a slanted ceiling there is room to the left, below the roof above and below.
    const aside = [place(x - 10, y - 9, "end"), place(x + 12, y + 16, "start")];
    const upright = [];
    for (let step = 0; step < 6; ++step) upright.push(place(x, y - 13 - 17 * step, "middle"), place(x, y + 22 + 17 * step, "middle"));
    const fits = (p) => p.boxes[0].x0 > plot.left && p.boxes[0].x1 < plot.width && p.boxes[0].y0 > 0 && p.boxes[0].y1 < plot.height - plot.bottom;
    const places = (dot.bound < roof * 0.8 ? [...aside, ...upright] : [...upright, ...aside]).filter(fits);
    const label = labels.choose(places.length ? places : aside);
    const binds = dot.bound === lowest && lowest < roof;
    parts.push(svg("g", { class: binds ? "dot binds" : "dot", style: `--c:var(${LEVELS[dot.level.name] || "--ink"})`,
                          ...withTip(`${dot.level.name}: ${bytes(dot.level.bytes)} moved`,
                                     `${digits(dot.intensity)} operations per byte`,
                                     `at most ${rate(dot.bound, "OP/s")}` + (dot.bound === roof ? " (the units' peak)" : " (its bandwidth)")) },
      label.anchor === "middle" && svg("line", { class: "leader", x1: x, x2: x, y1: y, y2: label.y < y ? label.y + 3 : label.y - 11 }),
      svg("circle", { cx: x, cy: y, r: binds ? 7 : 5.5 }),
      svg("text", { x: label.x, y: label.y, "text-anchor": label.anchor }, text)));
  }
  return svg("svg", { class: "roofline", viewBox: `0 0 ${plot.width} ${plot.height}`, role: "img", "aria-label": "Roofline" }, parts);
}

/// For kernels that only move bytes.
function levelRows(levels) {
  const most = Math.max(1, ...levels.map((l) => l.bytes));
  return el("div", { class: "bounds" }, levels.map((l) => el("div", { class: "bound", ...withTip(`${exact(l.bytes)} bytes`, `${seconds(l.bytes / l.peak)} at ${rate(l.peak, "B/s")}`) },
    el("span", {}, l.name), bar(l.bytes / most, l.name.toLowerCase()), el("span", { class: "number" }, bytes(l.bytes)))));
}

function boundRows(kernel) {
  const longest = kernel.bounds.length ? kernel.bounds[0].seconds : 1;
  return el("div", { class: "bounds" }, kernel.bounds.map((b) =>
    el("div", { class: "bound", ...withTip(`${b.unit === "bytes" ? bytes(b.amount) : count(b.amount) + " " + b.unit} at ${b.unit === "bytes" ? rate(b.peak, "B/s") : count(b.peak) + " " + b.unit + " per second"}`) },
      el("span", {}, b.part), bar(b.seconds / longest, "b"), el("span", { class: "number" }, seconds(b.seconds)))));
}

function overview(kernel) {
  const { cus, operations, levels } = reachable(kernel);
  const chart = rooflineChart(operations, levels);
  const all = cus === data.machine.cus;
  return section("overview", "Overview", null,
    el("div", { class: "columns wide-left" },
      el("figure", {},
        chart || el("p", { class: "empty" }, "The kernel makes no floating-point operations: a roofline has nothing to show."),
        !chart && levelRows(levels),
        chart && el("figcaption", {}, "No time was measured: each dot stands at the kernel's operations per byte of that level, on the lowest ceiling there. " +
          (all ? "" : `The ceilings of the units, LDS and vL1D are those of the ${plural(cus, "CU")} that get work.`))),
      el("div", {},
        el("h3", {}, "Bounds"),
        el("p", { class: "note" }, `How long each part is busy at least, at its peak rate on ${all ? `all ${cus} CUs` : `the ${plural(cus, "CU")} of ${data.machine.cus} that get work`}, all launches one after another.`),
        kernel.bounds.length ? boundRows(kernel) : el("p", { class: "empty" }, "Nothing was counted."),
        el("h3", {}, "Occupancy"), occupancy(kernel))));
}
