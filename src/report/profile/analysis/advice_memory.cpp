#include "report/profile/analysis/advice_memory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "report/profile/machine.h"
#include "report/words.h"

namespace margay::profile {
namespace {

using report::bytes_text;

/// Instructions of one kind at one line that access one tensor.
struct Group {
  const Site* site = nullptr;
  MemoryTraffic memory;
};
using Key = std::tuple<std::string, std::string, std::int32_t>;

std::map<Key, Group> groups_of(const KernelProfile& k) {
  std::map<Key, Group> groups;
  for (const Site& site : k.sites) {
    if (!site.memory || site.traits.path == MemoryPath::scratch || site.memory->sector_bytes == 0)
      continue;
    Group& group = groups[{mnemonic_of(site), place_of_site(site), site.tensor}];
    if (group.site == nullptr) group.site = &site;
    group.memory += *site.memory;
  }
  return groups;
}

double number(std::uint64_t n) { return static_cast<double>(n); }

/// The share of L2's data for the instructions that no lane of the workgroup requests.
double unused_share(const KernelProfile& k, const Group& group) {
  if (group.site->tensor >= 0) {
    const TensorTraffic& t = k.tensors[static_cast<std::size_t>(group.site->tensor)];
    if (t.workgroup_read_bytes != 0)
      return 1 - number(t.workgroup_used_bytes) / number(t.workgroup_read_bytes);
  }
  const double fetched = number(group.memory.l2_reads) * kLineBytes;
  return fetched == 0 ? 0 : std::max(0.0, 1 - number(group.memory.least_sector_bytes) / fetched);
}

void advise_on_shape(AdviceList& list, const Key& key, const Group& group) {
  const MemoryTraffic& m = group.memory;
  const double sectors = number(m.sector_bytes), least = number(m.least_sector_bytes);
  if (least > 0.9 * sectors) return;
  const bool is_store = !group.site->is_read;
  // Cycles for sectors that the same bytes side by side would not touch; bytes that are fetched but
  // never used.
  const double lookups =
      number(m.lookup_cycles) - std::max(least, number(m.lane_bytes)) / kSectorBytes;
  const double unused = unused_share(list.kernel(), group);
  const double l2 = is_store ? (number(m.l2_writes) - least / kSectorBytes) * kLineBytes
                             : number(m.l2_reads) * kLineBytes * unused;
  const std::vector<Limits::Saving> savings = {
      {DevicePart::vector_cache, std::max(0.0, lookups)},
      {DevicePart::l2, std::max(0.0, l2)},
      {DevicePart::memory, number(m.fabric_read_bytes) * unused}};
  const double waste = sectors - least;
  const double misaligned = number(m.misaligned_sector_bytes) / waste,
               inactive = number(m.inactive_sector_bytes) / waste;
  const auto& [mnemonic, place, tensor] = key;
  const std::string what = fmt::format("{} {} uses {:.0f} % of the 64-byte sectors it touches",
                                       mnemonic, place, 100 * least / sectors);
  const std::string_view asks = is_store ? "write" : "read";
  if (misaligned >= std::max(inactive, 1 - misaligned - inactive)) {
    list.add(what, fmt::format("the runs of bytes that its lanes {} begin inside a sector", asks),
             "let rows begin at multiples of 64 bytes: pad the leading dimension", savings);
  } else if (inactive >= 1 - misaligned - inactive) {
    list.add(what, "lanes between the active ones are switched off",
             fmt::format("let neighbouring lanes {} together", asks), savings);
  } else {
    list.add(what,
             fmt::format("neighbouring lanes {} bytes that are apart: {:.1f} lines for each four "
                         "lanes, in {} of sectors for {}",
                         asks, number(m.tag_accesses) / std::max(1.0, number(m.least_tag_accesses)),
                         bytes_text(sectors), bytes_text(least)),
             is_store ? "let consecutive lanes write consecutive elements of a row; what is turned "
                        "round is turned round in LDS or registers first"
                      : "let consecutive lanes read consecutive elements of a row",
             savings);
  }
}

void advise_on_refetch(AdviceList& list, std::int32_t tensor, const Key& key) {
  const TensorTraffic& t = list.kernel().tensors[static_cast<std::size_t>(tensor)];
  const double once = number(t.workgroup_read_bytes), fetched = number(t.l2_read_bytes);
  if (once == 0 || fetched < 1.3 * once) return;
  list.add(
      fmt::format("workgroups fetch each line of {} {:.1f} times from L2, most often with {} {}",
                  t.name, fetched / once, std::get<0>(key), std::get<1>(key)),
      "a line of 128 bytes is wanted again when the 32 KiB of vL1D have been used for others",
      "let a wave load 128 bytes of a row at a time (64 elements of 16 bits), or use what is "
      "left of a line at once",
      {{DevicePart::l2, fetched - once}});
}

}  // namespace

void advise_on_memory(AdviceList& list) {
  const auto groups = groups_of(list.kernel());
  std::map<std::int32_t, std::pair<const Key*, const Group*>> fetching;
  for (const auto& [key, group] : groups) {
    advise_on_shape(list, key, group);
    const std::int32_t tensor = group.site->tensor;
    if (tensor < 0 || !group.site->is_read) continue;
    auto& [most_key, most] = fetching[tensor];
    if (most == nullptr || group.memory.l2_reads > most->memory.l2_reads)
      std::tie(most_key, most) = std::pair(&key, &group);
  }
  for (const auto& [tensor, entry] : fetching) advise_on_refetch(list, tensor, *entry.first);
}

void advise_on_reuse(AdviceList& list) {
  const KernelProfile& k = list.kernel();
  const double workgroups = static_cast<double>(k.grid[0]) * k.grid[1] * k.grid[2];
  const double xcds = k.gpu->xcds;
  const auto by_xcds = [](const TensorTraffic& t) {
    return t.touched_read_bytes == 0 ? 0 : number(t.xcd_read_bytes) / number(t.touched_read_bytes);
  };
  const auto shared =
      std::ranges::count_if(k.tensors, [&](const TensorTraffic& t) { return by_xcds(t) > 1.5; });
  for (const TensorTraffic& t : k.tensors) {
    const double touched = number(t.touched_read_bytes), once = number(t.xcd_read_bytes),
                 fetched = number(t.fabric_read_bytes);
    if (touched == 0 || once == 0 || t.name == kOtherMemory) continue;
    if (fetched > 1.25 * once)
      list.add(
          fmt::format("each byte of {} is fetched {:.1f} times from memory, {:.1f} times by each "
                      "XCD that needs it",
                      t.name, fetched / touched, fetched / once),
          fmt::format("it leaves the {} MiB of L2 before all workgroups of the XCD have read it",
                      k.gpu->arch().caches.l2_bytes() >> 20),
          "an order of workgroups in which those that run together read the same part (blocks "
          "of tiles instead of rows of tiles)",
          {{DevicePart::memory, fetched - once}});
    // A line that this many workgroups read can be limited to as many XCDs as they fill; if two
    // tensors are shared in different directions, neither can be read only once.
    const double readers = number(t.workgroup_read_bytes) / touched;
    double least = std::clamp(xcds * readers / workgroups, 1.0, xcds);
    if (shared > 1) least = std::max(least, std::sqrt(xcds));
    if (by_xcds(t) < 1.5 * least) continue;
    list.add(
        fmt::format("each byte of {} is fetched by {:.1f} XCDs, each for its own L2", t.name,
                    by_xcds(t)),
        fmt::format("{:.0f} of {:.0f} workgroups read it: {} would do", readers, workgroups,
                    least < 1.05 ? std::string("one XCD") : fmt::format("{:.1f} XCDs", least)),
        fmt::format("give workgroups that read the same rows to the same XCD (workgroup n runs "
                    "on XCD n modulo {})",
                    k.gpu->xcds),
        {{DevicePart::memory, once - least * touched}});
  }
}

}  // namespace margay::profile
