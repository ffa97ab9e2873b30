#include "report/profile/analysis/advice_list.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace margay::profile {

namespace {
/// For a part that is not the limit, changes that save less than this, or would not soon make it
/// the limit, are omitted.
constexpr double kWorthRelief = 0.1, kNearTheLimit = 0.5;

}  // namespace

std::string with_verb(DevicePart part) {
  const bool is_plural = part == DevicePart::matrix_units;
  return fmt::format("{} {}", part_name(part), is_plural ? "are" : "is");
}

void AdviceList::add(std::string what, std::string why, std::string fix,
                     const std::vector<Limits::Saving>& savings, bool always) {
  const Limits::Effect effect = limits_.effect_of(savings);
  Advice advice{std::move(what), std::move(why), std::move(fix), {}, effect.gain, effect.relief};
  if (effect.gain >= kWorthSaying) {
    advice.effect = fmt::format("saves up to {:.0f} % of the least time", 100 * effect.gain);
    if (effect.then && *effect.then != limits_.longest().part)
      advice.effect += fmt::format("; then {} the limit", with_verb(*effect.then));
  } else {
    const bool near =
        !limits_.empty() && effect.relieved && effect.relief >= kWorthRelief &&
        limits_.seconds_of(*effect.relieved) >= kNearTheLimit * limits_.longest().seconds;
    if (!near && !always) return;
    advice.gain = 0;
    if (near)
      advice.effect =
          fmt::format("saves {:.0f} % of {}, which is not the limit: {}", 100 * effect.relief,
                      part_name(*effect.relieved), with_verb(limits_.longest().part));
  }
  list_.push_back(std::move(advice));
}

std::vector<Advice> AdviceList::take() {
  std::ranges::sort(list_, [](const Advice& a, const Advice& b) {
    return std::tie(b.gain, b.relief, a.what) < std::tie(a.gain, a.relief, b.what);
  });
  return std::move(list_);
}

std::string mnemonic_of(const Site& site) { return site.text.substr(0, site.text.find(' ')); }

std::string place_of_site(const Site& site) {
  if (site.frames.empty() || site.frames.front().line == 0)
    return fmt::format("at {:#x}", site.vaddr);
  const SourceFrame& frame = site.frames.front();
  return fmt::format("at {}:{}", frame.file.substr(frame.file.rfind('/') + 1), frame.line);
}

}  // namespace margay::profile
