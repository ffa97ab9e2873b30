// LDS: what each bank served per instruction, and which lanes meet in one.
function ldsRow(code_, n, darkest, mostCycles, page) {
  const site = code_.sites[n], use = site.lds;
  const frame = code_.chain(site)[0];
  const cycles = use.cycles / site.n, least = (use.cycles - use.conflict - use.address) / site.n;
  const cells = use.banks.map((dwords, bank) => {
    const each = dwords / site.n;
    return el("i", { style: `--heat:${(100 * each / darkest).toFixed(1)}%`, ...withTip(`bank ${bank}`, `${times(each)} dwords per execution`) });
  });
  const meet = use.ways > 1 ? `lanes ${use.lanes.join(", ")} in bank ${use.bank}` : use.address ? "lanes' atomics on one dword" : "no two lanes meet";
  return el("div", {},
    el("a", { class: "address", href: "#assembly", title: chainText(code_, site), onclick: (e) => { e.preventDefault(); page.goSite(n); } }, instruction(site)),
    frame ? el("a", { href: "#source", onclick: (e) => { e.preventDefault(); page.openLine(frame.file, frame.line); } }, code_.place(site)) : el("span"),
    el("span", { class: "banks" }, cells),
    el("span", { class: "cycles", title: `${times(cycles)} cycles per execution; ${times(least)} without conflicts` },
      el("span", { class: "track" }, el("i", { class: "least", style: `width:${100 * least / mostCycles}%` }), el("i", { class: "lost", style: `width:${100 * (cycles - least) / mostCycles}%` })),
      el("span", { class: "number" }, cycles > least ? [times(cycles), el("small", {}, ` (${times(least)})`)] : times(cycles))),
    el("span", { class: "number" + (use.ways > 1 ? " bad" : "") }, ways(use)),
    el("span", { class: "meet" + (use.ways > 1 ? "" : " none") }, meet));
}

function ldsSection(code_, page) {
  const all = code_.sites.map((_, n) => n).filter((n) => code_.sites[n].lds && code_.sites[n].lds.cycles);
  if (!all.length) return null;
  const lost = (n) => code_.sites[n].lds.conflict + code_.sites[n].lds.address;
  const total = sum(all, (n) => code_.sites[n].lds.cycles), conflict = sum(all, lost);
  const most = Math.max(...all.map((n) => Math.max(...code_.sites[n].lds.banks) / code_.sites[n].n));
  const mostCycles = Math.max(...all.map((n) => code_.sites[n].lds.cycles / code_.sites[n].n));
  // An even row is drawn half as dark as one that keeps half of the banks idle.
  const fair = Math.max(...all.map((n) => sum(code_.sites[n].lds.banks, (b) => b) / 32 / code_.sites[n].n));
  const darkest = Math.max(most, 2 * fair);
  const list = longList(24, 480, "lds", [el("span", {}, "Instruction"), el("span", {}, "Line"),
    el("span", { class: "banks-head" }, [0, 8, 16, 24].map((b) => el("span", {}, b ? String(b) : "bank 0"))),
    el("span", { title: "per execution, and what it would take without conflicts" }, "Cycles (without conflicts)"), el("span", {}, "Worst"), el("span", {}, "Who meets")]);
  const show = (order) => list.show(order === "address" ? all : [...all].sort((a, b) => lost(b) - lost(a) || code_.sites[b].lds.cycles - code_.sites[a].lds.cycles),
                                    (n) => ldsRow(code_, n, darkest, mostCycles, page));
  const start = conflict ? "lost" : "address";
  show(start);
  const clean = all.filter((n) => !lost(n)).length;
  const verdict = conflict
    ? `LDS is busy for ${count(total)} cycles; ${percent(conflict, total)} of them are lost to lanes that meet in a bank. ${clean ? `${clean} of ${all.length} instructions are free of conflicts.` : "No instruction is free of conflicts."}`
    : `LDS is busy for ${count(total)} cycles and loses none: no lanes meet in a bank.`;
  return section("lds", "LDS banks", verdict,
    el("div", { class: "tools" }, "Order: ", choice([["lost", "most cycles lost"], ["address", "address"]], start, show),
      el("span", { class: "note key" }, "dwords a bank serves per execution: 0 ", el("span", { class: "ramp" }), ` ${times(darkest)}`)), list.box);
}
