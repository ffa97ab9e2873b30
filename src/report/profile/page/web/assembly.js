// The disassembly: what ran, in address order.
function assemblyRow(code_, entry, view) {
  if (entry.title) return el("div", { class: "function" }, entry.title);
  if (entry.gap) return el("div", { class: "gap" }, `${plural(entry.gap, "byte")} that no wave executed`);
  const n = entry.site, site = code_.sites[n];
  const frame = code_.chain(site)[0];
  const lanes = lanesActive(site.lanes, site.n);
  const m = site.memory, lds = site.lds;
  const l2 = m ? m.l2reads + m.l2writes : 0;
  return el("div", { class: n === view.chosen ? "chosen" : "", title: chainText(code_, site) },
    el("span", { class: "address" }, hex(site.address)), instruction(site),
    frame ? el("a", { class: entry.same ? "same" : "", href: "#source", onclick: (e) => { e.preventDefault(); view.openLine(frame.file, frame.line); } }, code_.place(site)) : el("span"),
    el("span", { class: "number" }, count(site.n)),
    el("span", { class: "number" + (lanes < 63.95 ? " few" : "") }, lanes.toFixed(lanes < 63.95 ? 1 : 0)),
    el("span", { class: "share" }, bar(site.cycles / view.most, "b"), el("em", {}, percent(site.cycles, code_.cycles))),
    el("span", { class: "number" + (lds && lds.conflict ? " bad" : "") }, lds ? times(lds.cycles / site.n) + (lds.ways > 1 ? ` (${lds.ways} ways)` : "") : ""),
    el("span", { class: "number", title: m && "sectors of 64 bytes per execution; side by side the lanes' bytes would fill " + times(m.least / 64 / site.n) },
       m && m.sectors ? times(m.sectors / 64 / site.n) : ""),
    el("span", { class: "number" }, l2 ? count(l2) : ""),
    el("span", { class: "number" }, l2 && m.hits + m.misses ? percent(m.hits, m.hits + m.misses) : ""));
}

class Assembly {
  constructor(code_, openLine) {
    this.code = code_;
    this.openLine = openLine;
    this.chosen = -1;
    this.most = Math.max(1, ...code_.sites.map((s) => s.cycles));
    this.found = el("span", { class: "note" });
    this.filter = el("input", { type: "search", placeholder: "Filter: ds_read, gemm.cpp:84, v_mfma ...", "aria-label": "Filter instructions", oninput: () => this.show() });
    const heads = ["Address", "Instruction", "Line", "Executed", "Lanes", "Issue cycles", "LDS cycles", "Sectors", "L2", "Hits"];
    const notes = ["", "", "", "by waves", "active, of 64, on average", "share of the kernel's", "per execution; the worst conflict", "of 64 bytes per execution", "requests", "in L2"];
    this.list = longList(22, 620, "assembly", heads.map((h, n) => el("span", { title: notes[n] || null }, h)));
    this.section = section("assembly", "Instructions", "Every instruction that ran, in the order of its address.",
      el("div", { class: "tools" }, this.filter, this.found), this.list.box);
    this.show();
  }
  entries(words) {
    const out = [];
    let before = null;
    this.code.sites.forEach((site, n) => {
      if (words.length) {
        const text = (site.text + " " + chainText(this.code, site) + " " + hex(site.address) + " " + data.classes[site.class]).toLowerCase();
        if (!words.every((w) => text.includes(w))) return;
      }
      if (!before || before.function !== site.function) out.push({ title: data.strings[site.function] || "code without a name" });
      // No instruction of this ISA that comes here is longer than 12 bytes.
      else if (!words.length && site.address - before.address > 12) out.push({ gap: site.address - before.address });
      out.push({ site: n, same: before !== null && this.code.place(before) === this.code.place(site) });
      before = site;
    });
    return out;
  }
  show() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.rows = this.entries(words);
    const shown = this.rows.filter((r) => r.site !== undefined);
    this.found.textContent = words.length ? `${exact(shown.length)} of ${exact(this.code.sites.length)}, ${percent(sum(shown, (r) => this.code.sites[r.site].cycles), this.code.cycles)} of the issue cycles` : plural(shown.length, "instruction");
    this.list.show(this.rows, (entry) => assemblyRow(this.code, entry, this));
  }
  go(n) {
    this.chosen = n;
    this.filter.value = "";
    this.show();
    document.getElementById("assembly").scrollIntoView({ behavior: "smooth" });
    this.list.scrollTo(this.rows.findIndex((row) => row.site === n));
  }
}
