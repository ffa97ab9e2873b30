// Puts the report of one kernel together, and the bar from which another can be chosen.
const report = document.getElementById("report"), navigation = document.getElementById("bar");

function show(index) {
  lists.clear();
  hideTip();
  const kernel = data.kernels[index];
  if (!kernel) {
    report.replaceChildren(el("header", { id: "top" }, el("p", { class: "eyebrow" }, "Margay profile"), el("h1", {}, "No kernel was launched.")));
    return;
  }
  const code_ = new Code(kernel);
  const page = {
    openLine: (file, line) => source.open(file, line),
    goSite: (n) => assembly.go(n),
    linked: (text) => linkedText(text, (file, line) => source.open(file, line)),
  };
  const source = new SourceView(code_, page.goSite);
  const assembly = new Assembly(code_, page.openLine);
  const parts = [header(kernel), timeSection(kernel, page), overview(kernel), advice(kernel, page), tensors(kernel), hotLines(code_, page.openLine), source.section,
                 assembly.section, ldsSection(code_, page), waveMaps(kernel), mix(kernel), tables(kernel)].filter(Boolean);
  report.replaceChildren(...parts);
  const alike = (k) => data.kernels.some((other) => other.name !== k.name && shortName(other.name) === shortName(k.name));
  const label = (k) => `${alike(k) ? k.name.slice(0, 90) : shortName(k.name)}, grid ${extent(k.grid)}` + (k.launches > 1 ? `, ${k.launches} launches` : "");
  const chooser = data.kernels.length > 1 ? el("select", { "aria-label": "Kernel", onchange: (e) => { show(Number(e.target.value)); window.scrollTo(0, 0); } },
    data.kernels.map((k, n) => el("option", { value: n, selected: n === index }, label(k)))) : el("b", {}, shortName(kernel.name));
  navigation.replaceChildren(chooser, ...parts.slice(1).map((part) => el("a", { href: "#" + part.id }, part.querySelector("h2").textContent)));
}
show(0);
