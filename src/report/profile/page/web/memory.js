// Occupancy, and what became of the memory behind each tensor.
function occupancy(kernel) {
  const r = kernel.resources, m = data.machine;
  const perSimd = r.waves_per_cu / m.simds;
  const simds = [...Array(m.simds).keys()].map((s) => el("span", { class: "simd" }, [...Array(m.slots).keys()].map((n) =>
    el("i", { class: n < Math.floor(perSimd) + (s < r.waves_per_cu % m.simds ? 1 : 0) ? "used" : "" }))));
  const lds = r.static_lds + r.dynamic_lds;
  const use = [[r.vgprs, "VGPRs" + (r.agprs ? ` (${r.agprs} AccVGPRs)` : "")], [r.sgprs, "SGPRs"],
               [bytes(lds), `LDS of ${bytes(m.lds)}`], [bytes(r.scratch), "scratch per lane"], [bytes(r.code), "code"]];
  return el("div", { class: "occupancy" },
    el("div", { class: "simds", title: `${m.simds} SIMDs of ${m.slots} wave slots` }, simds),
    el("p", {}, `Theoretical: ${plural(r.workgroups_per_cu, "workgroup")} of a CU at a time, ${plural(r.waves_per_cu, "wave")}; `,
       el("strong", {}, `limited by ${r.limit}`), ".", r.next_step ? ` ${r.next_step[0].toUpperCase()}${r.next_step.slice(1)}.` : ""),
    kernel.unused_lds && el("p", {}, `${kernel.unused_lds[0].toUpperCase()}${kernel.unused_lds.slice(1)}.`),
    el("p", {}, `Achieved: ${plural(Math.round(kernel.achieved_waves), "wave")} on each CU that has any.`),
    (r.vgpr_spills > 0 || r.sgpr_spills > 0) && el("p", { class: "alarm" },
      `The compiler spilled ${plural(r.vgpr_spills, "VGPR")} and ${plural(r.sgpr_spills, "SGPR")}.`),
    occupancyTable(kernel),
    el("ul", { class: "uses" }, use.map(([value, label]) => el("li", {}, el("b", {}, String(value)), " ", label))));
}

/// Waves per CU with other registers and other LDS.
function occupancyTable(kernel) {
  const table = kernel.occupancy_table, r = kernel.resources, lds = r.static_lds + r.dynamic_lds;
  return el("details", {}, el("summary", {}, "Waves per CU with other registers and other LDS"),
    el("div", { class: "scroll" }, el("table", { class: "occupancy-table" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "VGPRs"), table.lds_bytes.map((b) =>
        el("th", { scope: "col", class: b === lds ? "own" : null }, bytes(b))))),
      el("tbody", {}, table.vgprs.map((v, row) => el("tr", {},
        el("th", { scope: "row", class: v === r.vgprs ? "own" : null }, String(v)),
        table.waves_per_cu[row].map((waves, n) => el("td", { class: v === r.vgprs && table.lds_bytes[n] === lds ? "own" : null }, String(waves)))))))));
}

const often = (ratio) => ratio > 0.995 && ratio < 1.005 ? "once" : times(ratio) + " times";

/// "each byte of A was ..."
function tensorSentences(tensor) {
  const out = [];
  const name = el("strong", {}, tensor.name);
  if (tensor.touched_read)
    out.push(el("p", {}, "Each byte of ", name, ` was fetched ${often(tensor.l2_read / tensor.touched_read)} from L2 and ` +
      `${often(tensor.memory_read / tensor.touched_read)} from memory; lanes asked for it ${often(tensor.read / tensor.touched_read)}.`));
  if (tensor.touched_written)
    out.push(el("p", {}, "Each byte of ", name.cloneNode(true), ` was written ${often(tensor.written / tensor.touched_written)} by lanes, ` +
      `${often(tensor.l2_written / tensor.touched_written)} to L2 and ${often(tensor.memory_written / tensor.touched_written)} to memory.`));
  return out;
}

function ratioCell(value, least, largest, kind) {
  if (!least) return el("td", { class: "number" }, NONE);
  return el("td", { class: "ratio", title: `${exact(value)} bytes` },
    el("span", { class: "number" }, TIMES + times(value / least)), bar(value / least / largest, kind),
    el("small", {}, bytes(value)));
}

function tensorRows(tensor, launches) {
  const shape = tensor.shape ? tensor.shape.map(exact).join(" " + TIMES + " ") : null;
  const about = [tensor.element, shape, tensor.bytes ? bytes(tensor.bytes) : null].filter(Boolean).join(", ");
  const ways = [["read", tensor.touched_read, tensor.read, tensor.l2_read, tensor.memory_read],
                ["written", tensor.touched_written, tensor.written, tensor.l2_written, tensor.memory_written]]
    .filter(([, ...values]) => values.some((v) => v > 0));
  return ways.map(([way, touched, lanes, l2, memory], n) => {
    const largest = Math.max(lanes, l2, memory, touched) / (touched || 1);
    return el("tr", {},
      n === 0 && el("th", { rowspan: ways.length, scope: "row", title: tensor.type || null }, el("strong", {}, tensor.name), el("small", {}, about)),
      el("td", {}, way),
      el("td", { class: "number", title: `${exact(touched)} bytes` }, bytes(touched),
        tensor.bytes > 0 && el("small", {}, percent(touched, tensor.bytes * launches) + " of it")),
      ratioCell(lanes, touched, largest, "vl1d"), ratioCell(l2, touched, largest, "l2"), ratioCell(memory, touched, largest, "memory"));
  });
}

function tensors(kernel) {
  const used = kernel.tensors.filter((t) => t.read + t.written + t.l2_read + t.l2_written + t.memory_read + t.memory_written > 0);
  if (!used.length) return null;
  return section("tensors", "Tensors", null,
    el("div", { class: "words" }, used.filter((t) => t.bytes > 0 || t.shape).map(tensorSentences)),
    el("div", { class: "scroll" }, el("table", { class: "tensors" },
      el("thead", {}, el("tr", {}, ["Tensor", "", "Touched", "Lanes", "L2", "Memory"].map((h) => el("th", { scope: "col" }, h)))),
      el("tbody", {}, used.map((t) => tensorRows(t, kernel.launches))))),
    el("p", { class: "note" }, `Touched: what has to move at least, in lines of ${data.machine.l2_read_bytes} bytes read and sectors of ` +
       `${data.machine.l2_write_bytes} bytes written, each counted once per launch. The others are multiples of it: what active lanes asked for, ` +
       "what moved between vL1D and L2, and between L2 and memory."));
}

/// Begins like a sentence, unless it begins with a name.
const sentence = (text) => /^[a-z]+[ ,]/.test(text) ? text[0].toUpperCase() + text.slice(1) : text;

function advice(kernel, page) {
  if (!kernel.advised) return null;
  const cards = kernel.advice.map((a) => el("li", {}, el("p", { class: "what" }, page.linked(sentence(a.what))),
    a.why && el("p", {}, page.linked(sentence(a.why))), a.effect && el("p", { class: "effect" }, sentence(a.effect) + "."), a.fix && el("p", { class: "fix" }, el("b", {}, "What would change it: "), page.linked(a.fix))));
  const limit = kernel.limit.part ? el("p", { class: "limit" }, el("b", {}, sentence(kernel.limit.what) + "."), ` ${sentence(kernel.limit.meaning)}.`) : null;
  return section("advice", "Advice", cards.length ? "What the counters prove, what saves most first." : null, limit,
    cards.length ? el("ol", { class: "advice" }, cards) : el("p", { class: "empty" }, "The counters show nothing else that would save time."));
}
