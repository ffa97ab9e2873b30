// The head of the report: which kernel, how it was launched, for what the counts hold; in short.
const product = (sizes) => sizes.reduce((a, b) => a * b, 1);
const extent = (sizes) => {
  const used = sizes.slice(0, sizes[2] > 1 ? 3 : sizes[1] > 1 ? 2 : 1);
  return used.map(exact).join(" " + TIMES + " ");
};

function summary(kernel) {
  const sentences = [];
  if (kernel.sampled) sentences.push(`A sample of ${plural(kernel.sampled, "workgroup")} was counted; all numbers are scaled up from it. `);
  const [first, second] = kernel.bounds;
  if (first) {
    sentences.push(el("span", {}, "The ", el("strong", {}, first.part), " set the longest bound: ",
                      el("strong", {}, seconds(first.seconds)), " at peak rate",
                      second ? `, then ${second.part} with ${seconds(second.seconds)}` : "", ". "));
  }
  const lds = sum(kernel.sites, (s) => s.lds ? s.lds.cycles : 0);
  const conflict = sum(kernel.sites, (s) => s.lds ? s.lds.conflict : 0);
  if (lds)
    sentences.push(conflict ? `Bank conflicts take ${percent(conflict, lds)} of the LDS cycles. `
                            : "LDS is free of bank conflicts. ");
  const least = sum(kernel.tensors, (t) => t.touched_read + t.touched_written);
  const moved = sum(kernel.tensors, (t) => t.memory_read + t.memory_written);
  if (least) sentences.push(`Memory moved ${times(moved / least)} times the bytes that had to move at least. `);
  const slots = data.machine.simds * data.machine.slots;
  sentences.push(`${kernel.resources.waves_per_cu} of ${slots} wave slots of a CU can be in use, ` +
                 `limited by ${kernel.resources.limit}.`);
  return sentences;
}

function fact(label, ...value) {
  return el("div", {}, el("dt", {}, label), el("dd", {}, ...value));
}

function header(kernel) {
  const short = shortName(kernel.name);
  const groups = product(kernel.grid), items = product(kernel.workgroup);
  const waves = Math.ceil(items / 64);
  return el("header", { id: "top" },
    el("p", { class: "eyebrow" }, "Margay profile"),
    el("h1", {}, short),
    kernel.name !== short && el("p", { class: "full mono" }, kernel.name),
    data.partial && el("p", { class: "alarm" }, `Partial profile: ${data.partial}.`),
    kernel.failed > 0 && el("p", { class: "alarm" },
      `${plural(kernel.failed, "launch")} of ${exact(kernel.launches)} failed; their counts end where they did.`),
    el("p", { class: "short" }, summary(kernel)),
    el("dl", { class: "facts" },
      fact("Grid", extent(kernel.grid), el("small", {}, plural(groups, "workgroup"))),
      fact("Workgroup", extent(kernel.workgroup), el("small", {}, plural(waves, "wave"))),
      fact("Launches", exact(kernel.launches),
           el("small", {}, kernel.warm ? "code was in L1I" : "code was cold")),
      fact("Device", data.device || "unknown", el("small", {}, "virtual")),
      fact("MFMA", data.mfma || "unknown", el("small", {}, "numerics")),
      fact("Profiled in", seconds(kernel.host_seconds), el("small", {}, "on this host"))),
    el("aside", { class: "honest" },
      el("p", {}, el("strong", {}, "Read it so: "),
         (kernel.time ? "times are modelled, not measured; the section says how far they may be off. " : "there is no time here. ") +
         "Counts are exact. The counters of the caches hold for the schedule stated below. Bounds are limits, not predictions."),
      data.schedule && el("p", {}, el("strong", {}, "Schedule: "), data.schedule + ".")));
}
