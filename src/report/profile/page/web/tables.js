// Instruction mix; metrics and counters as tables that can be searched.
function mixRows(rows, kind) {
  const most = Math.max(...rows.map((r) => r.value), 1), total = sum(rows, (r) => r.value);
  return el("div", { class: "bounds" }, rows.map((r) => el("div", { class: "bound", ...withTip(r.meaning, exact(r.value)) },
    el("span", {}, r.name), bar(r.value / most, r.kind || kind), el("span", { class: "number" }, count(r.value), el("small", {}, percent(r.value, total))))));
}

function mix(kernel) {
  const classes = data.classes.map((name, n) => {
    const sites = kernel.sites.filter((s) => s.class === n);
    return { name, kind: "class-" + name, value: sum(sites, (s) => s.n), cycles: sum(sites, (s) => s.cycles) };
  }).filter((c) => c.value);
  if (!classes.length) return null;
  const value = (name) => kernel.counters[data.counters.findIndex((c) => c.name === name)] || 0;
  const types = data.counters.filter((c) => /^SQ_INSTS_VALU_(ADD|MUL|FMA|TRANS|INT|CVT|MFMA_(?!MOPS))/.test(c.name) && value(c.name) > 0)
    .map((c) => ({ name: c.name.slice("SQ_INSTS_VALU_".length).replace("_", " "), meaning: c.meaning, value: value(c.name), kind: c.name.includes("MFMA") ? "class-MFMA" : "class-VALU" }));
  const rest = value("SQ_INSTS_VALU") - sum(types, (t) => t.value);
  if (rest > 0) types.push({ name: "other VALU", value: rest, kind: "class-VALU" });
  types.sort((a, b) => b.value - a.value);
  classes.sort((a, b) => b.value - a.value);
  const byCycles = classes.map((c) => ({ ...c, value: c.cycles })).sort((a, b) => b.value - a.value);
  return section("mix", "Instruction mix", null, el("div", { class: "columns thirds" },
    el("div", {}, el("h3", {}, "Executed by waves"), mixRows(classes)),
    el("div", {}, el("h3", {}, "Issue cycles"), mixRows(byCycles)),
    types.length > 0 && el("div", {}, el("h3", {}, "Vector and matrix instructions"), mixRows(types))));
}

function metricValue(metric) {
  if (metric.value === null) return NONE;
  if (metric.unit === "%") return metric.value.toFixed(1) + " %";
  if (metric.unit === "bytes") return bytes(metric.value);
  return count(metric.value) + (metric.unit ? " " + metric.unit : "");
}

/// Eight bars, one for each XCD.
function spread(values) {
  const most = Math.max(...values, 1);
  return svg("svg", { class: "spread", viewBox: `0 0 ${values.length * 5} 14`, ...withTip("by XCD", ...values.map((v, n) => `${n}: ${exact(v)}`)) },
    values.map((v, n) => svg("rect", { x: n * 5, width: 4, y: 14 - 14 * v / most, height: 14 * v / most })));
}

function tables(kernel) {
  const filter = el("input", { type: "search", placeholder: "Search: hit rate, TCC_, conflicts ...", "aria-label": "Search metrics and counters", oninput: () => show() });
  const zeros = el("input", { type: "checkbox", onchange: () => show() });
  const metrics = el("div", { class: "panels" }), counters = el("table", { class: "counters" });
  const none = el("p", { class: "empty" }, "Nothing of that name.");
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = (value, ...texts) => words.length ? words.every((w) => texts.join(" ").toLowerCase().includes(w)) : zeros.checked || (value !== null && value !== 0);
    const panels = new Map();
    for (const m of kernel.metrics)
      if (wanted(m.value, m.id, m.name, m.panel, m.formula)) panels.set(m.panel, [...(panels.get(m.panel) || []), m]);
    metrics.replaceChildren(...[...panels].map(([name, list]) => el("div", { class: "panel" }, el("h3", {}, name), el("table", {}, el("tbody", {},
      list.map((m) => el("tr", { ...withTip(m.formula, m.id, m.value !== null && `${m.value}`) }, el("th", { scope: "row" }, m.name), el("td", { class: "number" }, metricValue(m)))))))));
    const rows = data.counters.map((c, n) => [c, kernel.counters[n]]).filter(([c, v]) => wanted(v, c.name, c.meaning));
    counters.replaceChildren(el("tbody", {}, rows.map(([c, v]) => el("tr", {}, el("th", { scope: "row", class: "mono" }, c.name), el("td", {}, c.meaning),
      el("td", {}, kernel.xcds[c.name] && spread(kernel.xcds[c.name])), el("td", { class: "number" }, exact(v))))));
    none.hidden = panels.size + rows.length > 0;
    counterHead.hidden = rows.length === 0;
  };
  const counterHead = el("h3", {}, "Counters, summed over the device and all launches");
  show();
  return section("metrics", "Metrics and counters", "Under the names of rocprofiler-compute and rocprofiler. Point at a metric for its formula.",
    el("div", { class: "tools" }, filter, el("label", {}, zeros, " zeros too")), none, metrics, counterHead, el("div", { class: "scroll" }, counters));
}
