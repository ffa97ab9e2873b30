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

function timeLineRow(line, all, open) {
  const fileIndex = data.strings.indexOf(line.file);
  const go = line.line && fileIndex >= 0 ? () => open(fileIndex, line.line) : null;
  const stall = sum(Object.values(line.stalls), (cycles) => cycles);
  const where = line.line ? `${fileName(line.file)}:${line.line}` : "no source line";
  return el("tr", { class: go ? "link" : "", onclick: go, title: line.file || null },
    el("td", { class: "share" }, el("span", { class: "number" }, percent(line.latency, all)), bar(line.latency / (all || 1), "b")),
    el("td", { class: "where" }, go ? el("a", { href: "#source", onclick: (e) => e.preventDefault() }, where) : where,
       el("small", {}, " " + shortName(line.function))),
    el("td", { class: "number" }, percent(line.latency - stall, all)),
    el("td", { class: "number" }, worstStall(line.stalls, all)));
}

function timeSection(kernel, page) {
  const time = kernel.time;
  if (!time) return null;
  const waiting = sum(Object.values(time.stalls), (cycles) => cycles), all = waiting + time.issue;
  const rate = (tflops) => tflops === null ? "" : `${tflops.toPrecision(3)} TFLOP/s`;
  const units = { valu: "VALU", matrix: "matrix units", lds: "LDS", vector_cache: "vL1D", l2: "L2", infinity_cache: "Infinity Cache", memory: "HBM" };
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
      el("div", {}, el("h3", {}, "Cycles of waves"), timeShares([["issue", time.issue / (all || 1)], ...stalls]))),
    el("div", { class: "scroll" }, el("table", { class: "lines" },
      el("thead", {}, el("tr", {}, ["Wave cycles", "Line", "Issue", "Stalled by"].map((h) => el("th", { scope: "col" }, h)))),
      el("tbody", {}, time.lines.slice(0, 12).map((line) => timeLineRow(line, lines, page.openLine))))));
}
