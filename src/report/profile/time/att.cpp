#include "report/profile/time/att.h"

#include <cmath>

#include <fmt/format.h>

namespace margay::profile {
namespace {

/// In quotes, with the quotes in it doubled.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string source_of(const Site& site) {
  if (site.frames.empty() || site.frames.front().line == 0) return {};
  return fmt::format("{}:{}", site.frames.front().file, site.frames.front().line);
}

}  // namespace

std::string att_of(const Profile& profile) {
  std::string out = "CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source\n";
  unsigned number = 0;
  for (const KernelProfile& kernel : profile.kernels) {
    if (!kernel.time) continue;
    ++number;
    for (std::size_t n = 0; n < kernel.sites.size(); ++n) {
      const timing::SiteTime& time = kernel.time->sites[n];
      // AMD's tool does not count a wave's idle time, before an instruction, as latency.
      out += fmt::format("{},{},{},{},{},{},{},{}\n", number, kernel.sites[n].vaddr,
                         in_quotes(kernel.sites[n].text), time.hits,
                         std::llround(time.latency - time.idle()),
                         std::llround(time.stall() - time.idle()), std::llround(time.idle()),
                         in_quotes(source_of(kernel.sites[n])));
    }
  }
  return out;
}

}  // namespace margay::profile
