// How long the kernel would take by the model of time, what its waves wait for, and where.
function microseconds(us) {
  return seconds(us * 1e-6);
}

/// "WAITCNT 31 %": the largest reason of a line.
function worstStall(stalls, cycles) {
  const [worst] = Object.entries(stalls).sort((a, b) => b[1] - a[1]);
  return worst && worst[1] > 0.01 * cycles ? `${worst[0]} ${percent(worst[1], cycles)}` : "";
}

function timeShares(rows) {
  return el("table", { class: "compare" }, el("tbody", {}, rows.map(([name, share]) =>
    el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "number" }, percent(share, 1), bar(share, "b"))))));
}

function timeLineRow(time, line, all, open) {
  const fileIndex = data.strings.indexOf(line.file);
  const go = line.line && fileIndex >= 0 ? () => open(fileIndex, line.line) : null;
  const stall = sum(Object.values(line.stalls), (cycles) => cycles);
  const where = line.line ? `${fileName(line.file)}:${line.line}` : "no source line";
  return el("tr", { class: go ? "link" : "", onclick: go, title: line.file || null },
    el("td", { class: "share" }, el("span", { class: "number" }, percent(line.latency, all)), bar(line.latency / (all || 1), "b")),
    el("td", { class: "where" }, go ? el("a", { href: "#source", onclick: (e) => e.preventDefault() }, where) : where,
       el("small", {}, " " + shortName(line.function))),
    el("td", { class: "number" }, percent(line.latency - stall, all)),
    el("td", { class: "number" }, time.simd_cycles ? percent(line.lost || 0, time.simd_cycles) : ""),
    el("td", { class: "number" }, worstStall(line.stalls, all)));
}

/// Waves of a SIMD over time, as steps.
function occupancyPlot(time) {
  const width = 480, height = 90, bottom = 18, most = Math.max(1, ...time.occupancy);
  const x = (n) => (n / time.occupancy.length) * width, y = (waves) => (height - bottom) * (1 - waves / most) + 2;
  const path = time.occupancy.map((waves, n) => `${n ? "L" : "M"}${x(n)} ${y(waves)}L${x(n + 1)} ${y(waves)}`).join("");
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, role: "img", "aria-label": "waves of a SIMD over time" },
    svg("path", { d: path, fill: "none", stroke: "currentColor" }),
    svg("line", { class: "axis", x1: 0, x2: width, y1: y(0), y2: y(0) }),
    svg("text", { class: "tick", x: 0, y: height - 4 }, `up to ${most.toFixed(1)} waves of a SIMD`),
    svg("text", { class: "tick", x: width, y: height - 4, "text-anchor": "end" }, `${count(time.occupancy_cycles)} cycles`));
}

/// Accesses that SIMDs wait for, by line.
function latencyTable(time, open) {
  const all = sum(Object.values(time.stalls), (cycles) => cycles) + time.issue;
  const lines = time.lines.filter((line) => line.unhidden > 0.005 * all).sort((a, b) => b.unhidden - a.unhidden).slice(0, 8);
  if (!lines.length) return null;
  const row = (line) => {
    const fileIndex = data.strings.indexOf(line.file);
    const go = line.line && fileIndex >= 0 ? () => open(fileIndex, line.line) : null;
    return el("tr", { class: go ? "link" : "", onclick: go },
      el("td", { class: "share" }, el("span", { class: "number" }, percent(line.unhidden, all)), bar(line.unhidden / all, "b")),
      el("td", { class: "where" }, line.line ? `${fileName(line.file)}:${line.line}` : "no source line"),
      el("td", { class: "number" }, percent(line.flight - line.unhidden, line.flight)));
  };
  return el("div", { class: "scroll" }, el("table", { class: "lines" },
    el("thead", {}, el("tr", {}, ["Exposed, of wave cycles", "Access to memory or LDS", "Hidden"].map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", {}, lines.map(row))));
}

function timeSection(kernel, page) {
  const time = kernel.time;
  if (!time) return null;
  const waiting = sum(Object.values(time.stalls), (cycles) => cycles), all = waiting + time.issue;
  const rate = (tflops) => tflops === null ? "" : `${tflops.toPrecision(3)} TFLOP/s`;
  const units = { valu: "VALU", matrix: "matrix units", lds: "LDS", vector_cache: "vL1D", l2: "L2", infinity_cache: "Infinity Cache", memory: "HBM", dispatcher: "dispatcher" };
  const stalls = Object.entries(time.stalls).sort((a, b) => b[1] - a[1]).map(([name, cycles]) => [name, cycles / (all || 1)]);
  const lines = sum(time.lines, (line) => line.latency);
  return section("time", "Modelled time", `Nothing here is measured. The error is about ${time.error_percent.toFixed(0)} %. Of the first launch.`,
    el("dl", { class: "facts" },
      fact("Short kernel", microseconds(time.us_boost), el("small", {}, `${time.boost_ghz.toFixed(2)} GHz, ${count(time.cycles)} cycles`)),
      fact("In a loop of seconds", microseconds(time.us_sustained), el("small", {}, `${time.sustained_ghz.toFixed(2)} GHz`)),
      time.tflops_boost !== null && fact("Does", rate(time.tflops_boost), el("small", {}, rate(time.tflops_sustained) + " sustained")),
      fact("Bound by", time.bound, el("small", {}, `launch ${microseconds(time.launch_us)}, tail ${microseconds(time.tail_us)}`))),
    el("div", { class: "columns" },
      el("div", {}, el("h3", {}, "Units at work"), timeShares(Object.entries(units).map(([id, name]) => [name, time.busy[id]]))),
      el("div", {}, el("h3", {}, "Cycles of waves"), timeShares([["issue", time.issue / (all || 1)], ...stalls])),
      time.simd_cycles > 0 && el("div", {}, el("h3", {}, "Time of SIMDs"), timeShares([
        ["work", time.simds.work], ["idle, waves wait", time.simds.idle], ["no wave", time.simds.empty]])),
      time.simd_cycles > 0 && el("div", {}, el("h3", {}, "Matrix work and memory"), timeShares([
        ["both", time.simds.both], ["only matrix work", time.simds.matrix], ["only memory", time.simds.memory], ["neither", time.simds.neither]]))),
    time.occupancy.length > 0 && el("div", {}, el("h3", {}, `Waves of a SIMD, ${time.waves_per_simd.toFixed(1)} on average`), occupancyPlot(time)),
    el("div", { class: "scroll" }, el("table", { class: "lines" },
      el("thead", {}, el("tr", {}, ["Wave cycles", "Line", "Issue", "SIMDs idle", "Stalled by"].map((h) => el("th", { scope: "col" }, h)))),
      el("tbody", {}, time.lines.slice(0, 12).map((line) => timeLineRow(time, line, lines, page.openLine))))),
    latencyTable(time, page.openLine));
}
