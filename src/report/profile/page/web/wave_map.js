// Which wave of workgroup (0, 0, 0) touches which bytes. Painted pixel by pixel: there may be a
// hundred thousand ranges.
const WAVES = ["#3b76c4", "#e08a1e", "#2f9e6e", "#c8476b", "#7d5fc0", "#a39c1c", "#1f9fb5", "#96582f",
               "#9dbce8", "#f3c78c", "#97d3b8", "#eaa6bb", "#c3b2e6", "#d9d48a", "#96d6e1", "#d2ae97"];
const rgb = (wave) => {
  const v = parseInt(WAVES[wave % 16].slice(1), 16);
  return [v >> 16, v >> 8 & 255, v & 255];
};
const wavesOf = (mask) => [...Array(32).keys()].filter((n) => mask >>> n & 1);

/// Bytes as rows: of the tensor where its shape is known, else of a fixed length.
function shapeOf(map, tensor) {
  if (!tensor) return { rowBytes: 128, element: 4, unit: "bank", rows: "row", columns: 32 };
  if (tensor.shape && tensor.element_bytes)
    return { rowBytes: tensor.shape[3] * tensor.element_bytes, element: tensor.element_bytes, unit: "column",
             rowsPer: tensor.shape[2], depths: tensor.shape[1], shaped: true };
  return { rowBytes: 1024, element: 1, unit: "byte" };
}

class WaveMapView {
  constructor(kernel, map) {
    this.tensor = map.tensor < 0 ? null : kernel.tensors[map.tensor];
    this.ranges = map.ranges;
    this.shape = shapeOf(map, this.tensor);
    this.only = -1;
    this.measure();
    this.side = this.any(2) ? 2 : 3;
    // What is printed: a canvas may be empty on paper.
    this.printed = el("img", { class: "printed", alt: "" });
    this.canvas = el("canvas", { onmousemove: (e) => this.tell(e), onmouseleave: hideTip });
    this.legend = el("div", { class: "legend" });
    const both = this.any(2) && this.any(3);
    this.box = el("figure", { class: "map" },
      el("div", { class: "tools" }, el("h3", {}, this.tensor ? this.tensor.name : "LDS"),
        both ? choice([[2, "readers"], [3, "writers"]], this.side, (side) => { this.side = side; this.only = -1; this.paint(); }) : el("span", { class: "note" }, this.side === 2 ? "readers" : "writers"), this.legend),
      this.canvas, this.printed, el("figcaption", {}, this.caption()));
    // Painting changes the height; only another width asks for it again.
    new ResizeObserver(() => requestAnimationFrame(() => {
      if (this.box.isConnected && !matchMedia("print").matches && this.box.clientWidth !== this.painted) this.paint();
    })).observe(this.box);
  }
  any(side) {
    for (let n = side; n < this.ranges.length; n += 4) if (this.ranges[n]) return true;
    return false;
  }
  /// The part of the memory that was touched at all, in rows and bytes of a row.
  measure() {
    const w = this.shape.rowBytes;
    let row0 = Infinity, row1 = 0, byte0 = w, byte1 = 0;
    for (let n = 0; n < this.ranges.length; n += 4) {
      const begin = this.ranges[n], end = begin + this.ranges[n + 1];
      const first = Math.floor(begin / w), last = Math.floor((end - 1) / w);
      row0 = Math.min(row0, first);
      row1 = Math.max(row1, last + 1);
      byte0 = Math.min(byte0, first === last ? begin % w : 0);
      byte1 = Math.max(byte1, first === last ? (end - 1) % w + 1 : w);
    }
    if (!this.shape.shaped) byte0 = 0, byte1 = w;
    Object.assign(this, { row0, row1, byte0, byte1 });
  }
  /// Size of a byte and a row on the screen; tall maps go on in further columns.
  layout(width, dpr) {
    const rows = this.row1 - this.row0, wide = this.byte1 - this.byte0;
    let best = null;
    for (let folds = 1; folds <= (this.shape.shaped ? 1 : 8); folds *= 2) {
      const high = Math.ceil(rows / folds);
      const sx = Math.min((width - 14 * (folds - 1)) / folds / wide, this.shape.shaped ? 8 / this.shape.element * 2 : 6);
      const sy = Math.min((this.shape.shaped ? 420 : 340) / high, 10);
      const worth = Math.min(sx * 16, 12) * Math.min(sy, 6);
      if (!best || worth > best.worth * 1.05) best = { folds, high, sx, sy, worth };
    }
    best.sy = Math.max(best.sy, Math.min(1, 900 / best.high));
    best.step = best.sx * wide + 14;
    this.place = { ...best, dpr };
    return { width: Math.ceil(best.step * best.folds - 14), height: Math.max(8, Math.ceil(best.sy * best.high)) };
  }
  masks(w, h) {
    const { folds, high, sx, sy, step, dpr } = this.place;
    const out = new Uint32Array(w * h);
    const rowBytes = this.shape.rowBytes;
    const gap = sy * dpr >= 8 ? 1 : 0;
    for (let n = 0; n < this.ranges.length; n += 4) {
      const mask = this.ranges[n + this.side];
      if (!mask) continue;
      let at = this.ranges[n];
      const end = at + this.ranges[n + 1];
      while (at < end) {
        const row = Math.floor(at / rowBytes), stop = Math.min(end, (row + 1) * rowBytes);
        const r = row - this.row0, fold = Math.floor(r / high);
        const y0 = Math.floor((r % high) * sy * dpr), y1 = Math.max(y0 + 1, Math.floor((r % high + 1) * sy * dpr) - gap);
        const left = fold * step - this.byte0 * sx;
        const x0 = Math.floor((left + (at - row * rowBytes) * sx) * dpr), x1 = Math.max(x0 + 1, Math.floor((left + (stop - row * rowBytes) * sx) * dpr));
        for (let y = y0; y < Math.min(y1, h); ++y)
          for (let i = y * w + x0, last = y * w + Math.min(x1, w); i < last; ++i) out[i] |= mask;
        at = stop;
      }
    }
    return out;
  }
  paint() {
    const style = getComputedStyle(this.box);
    const width = this.box.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    if (width <= 0) return;
    this.painted = this.box.clientWidth;
    const dpr = window.devicePixelRatio || 1;
    const size = this.layout(width, dpr);
    const w = Math.round(size.width * dpr), h = Math.round(size.height * dpr);
    this.canvas.width = w;
    this.canvas.height = h;
    this.canvas.style.width = size.width + "px";
    this.canvas.style.height = size.height + "px";
    const masks = this.masks(w, h);
    const context = this.canvas.getContext("2d"), image = context.createImageData(w, h);
    const out = new Uint32Array(image.data.buffer); // red in the lowest byte
    const packed = ([r, g, b]) => (0xff000000 | b << 16 | g << 8 | r) >>> 0;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches && !matchMedia("print").matches;
    const empty = packed(dark ? [44, 47, 54] : [232, 232, 228]);
    const colours = WAVES.map((_, n) => packed(rgb(n))), lists = new Map();
    const coloursOf = (mask) => {
      if (mask === 0) return [empty];
      if (this.only >= 0) return [mask >>> this.only & 1 ? colours[this.only % 16] : empty];
      return wavesOf(mask).map((n) => colours[n % 16]);
    };
    const stripe = Math.round(6 * dpr);
    const { folds, sx, step } = this.place, inner = (this.byte1 - this.byte0) * sx * dpr;
    let before = -1, list = null;
    for (let y = 0, i = 0; y < h; ++y)
      for (let x = 0; x < w; ++x, ++i) {
        const mask = masks[i];
        if (mask !== before) {
          list = lists.get(before = mask);
          if (!list) lists.set(mask, list = coloursOf(mask));
        }
        out[i] = list.length === 1 ? list[0] : list[Math.floor((x + y) / stripe) % list.length];
      }
    // Between the columns of a map that goes on there is nothing.
    for (let fold = 1; fold < folds; ++fold)
      for (let y = 0; y < h; ++y) out.fill(0, y * w + Math.ceil((fold - 1) * step * dpr + inner), y * w + Math.floor(fold * step * dpr));
    context.putImageData(image, 0, 0);
    if (this.only < 0) {
      this.printed.src = this.canvas.toDataURL();
      this.printed.style.width = size.width + "px";
    }
    this.drawLegend();
  }
  drawLegend() {
    if (this.legendSide === this.side) return;
    this.legendSide = this.side;
    const touched = new Array(32).fill(0);
    for (let n = 0; n < this.ranges.length; n += 4)
      for (let rest = this.ranges[n + this.side]; rest; rest &= rest - 1) touched[31 - Math.clz32(rest & -rest)] += this.ranges[n + 1];
    this.legend.replaceChildren(...touched.map((b, wave) => b > 0 && el("span", {
      ...withTip(`wave ${wave}: ${bytes(b)}`), onmouseenter: () => { this.only = wave; this.paint(); },
      onmouseout: () => { this.only = -1; this.paint(); } },
      el("i", { style: `background:${WAVES[wave % 16]}` }), String(wave))).filter(Boolean));
  }
  offset(event) {
    const { folds, high, sx, sy, step } = this.place;
    const fold = Math.min(folds - 1, Math.floor(event.offsetX / step)), x = event.offsetX - fold * step;
    const row = this.row0 + fold * high + Math.min(high - 1, Math.floor(event.offsetY / sy));
    const byte = this.byte0 + Math.floor(x / sx);
    return byte >= this.byte1 || row >= this.row1 || event.offsetX < 0 ? null : { row, byte, at: row * this.shape.rowBytes + byte };
  }
  find(at) {
    let low = 0, high = this.ranges.length / 4;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ranges[4 * middle] + this.ranges[4 * middle + 1] <= at) low = middle + 1;
      else high = middle;
    }
    return 4 * low < this.ranges.length && this.ranges[4 * low] <= at ? 4 * low : -1;
  }
  tell(event) {
    const spot = this.offset(event);
    if (!spot) return hideTip();
    const range = this.find(spot.at), s = this.shape;
    const names = (mask) => { const list = wavesOf(mask); return list.length ? (list.length > 1 ? "waves " : "wave ") + list.join(", ") : "no wave"; };
    let where = `row ${exact(spot.row)}, ${s.unit} ${exact(Math.floor(spot.byte / s.element))}`;
    if (s.shaped) {
      const row = spot.row % s.rowsPer, tile = Math.floor(spot.row / s.rowsPer);
      where = `row ${exact(row)}, column ${exact(Math.floor(spot.byte / s.element))}`;
      if (tile || s.depths > 1) where = `batch ${Math.floor(tile / s.depths)}, depth ${tile % s.depths}, ` + where;
    }
    showTip(event, `byte ${exact(spot.at)} (${hex(spot.at)})`, where,
            range < 0 ? "not touched by this workgroup" : `read by ${names(this.ranges[range + 2])}`, range >= 0 && `written by ${names(this.ranges[range + 3])}`);
  }
  caption() {
    const rows = `${exact(this.row0)} ${DASH} ${exact(this.row1 - 1)}`;
    if (!this.tensor) return `Rows of 128 bytes, one dword for each of the 32 banks; rows ${rows}, downwards and then to the right.`;
    if (!this.shape.shaped) return `The shape is not known: rows of 1 KiB, ${rows}.`;
    const e = this.shape.element;
    return `Rows ${rows} of ${exact(this.shape.rowsPer * this.shape.depths * this.tensor.shape[0])}, columns ${exact(Math.floor(this.byte0 / e))} ${DASH} ${exact(Math.ceil(this.byte1 / e) - 1)} of ${exact(this.tensor.shape[3])}: the part that this workgroup touches.`;
  }
}

function waveMaps(kernel) {
  const maps = kernel.maps.filter((m) => m.ranges.length);
  if (!maps.length) return null;
  return section("maps", "Wave maps", "Who touches what, in workgroup (0, 0, 0) of the first launch. Stripes: several waves touch the same bytes. Point at a wave's number to see it alone.",
    el("div", { class: "maps" }, maps.map((map) => new WaveMapView(kernel, map).box)));
}
