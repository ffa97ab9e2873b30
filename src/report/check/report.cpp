// See report.h.
#include "report/check/report.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace margay::check {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccd;
}

auto content_of(const Access& access) {
  return std::tie(access.vaddr, access.wave, access.lane, access.workgroup, access.role, access.pc,
                  access.instruction, access.function, access.function_offset);
}

/// An order of examples with the same place, so that merging does not depend on their order of
/// arrival.
bool content_less(const Finding& a, const Finding& b) {
  const auto own = [](const Finding& f) {
    return std::tie(f.severity, f.message, f.detail, f.fix, f.fix_arguments, f.kernel);
  };
  if (own(a) != own(b)) return own(a) < own(b);
  return std::ranges::lexicographical_compare(
      a.accesses, b.accesses,
      [](const Access& x, const Access& y) { return content_of(x) < content_of(y); });
}

bool is_advice(const Finding& finding) { return finding.severity == Severity::advice; }

/// Frames do not distinguish sites: the same instruction has the same ones.
auto identity_of(const Site& site) { return std::tie(site.kernel, site.vaddr, site.word); }

void merge_site(Site& into, const Site& other) {
  into.executions += other.executions;
  into.ordered += other.ordered;
  into.completed += other.completed;
  for (std::size_t i = 0; i < into.loosest.size(); ++i) {
    into.loosest[i] = std::min(into.loosest[i], other.loosest[i]);
  }
}

}  // namespace

Key key_of(const Finding& finding, std::string_view extra_key) {
  Key key{.kind = finding.kind, .kernel = hash_of(finding.kernel), .extra = hash_of(extra_key)};
  for (std::size_t i = 0; i < finding.accesses.size(); ++i) {
    const std::uint64_t vaddr = finding.accesses[i].vaddr;
    if (i == 0) {
      key.vaddr0 = vaddr;
    } else if (i == 1) {
      key.vaddr1 = vaddr;
    } else {
      key.extra = mix(key.extra, vaddr);
    }
  }
  return key;
}

std::size_t FindingSet::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash = static_cast<std::uint64_t>(key.kind);
  for (const std::uint64_t part : {key.kernel, key.vaddr0, key.vaddr1, key.extra}) {
    hash = mix(hash, part);
  }
  return hash;
}

void FindingSet::file(const Key& key, Entry entry) {
  const auto [position, is_new] = entries_.try_emplace(key, std::move(entry));
  if (is_new) return;
  Entry& kept = position->second;
  // try_emplace moves from its argument only when it inserts.
  const std::uint64_t count = kept.finding.count + entry.finding.count;
  const bool earlier = entry.place < kept.place ||
                       (entry.place == kept.place && content_less(entry.finding, kept.finding));
  if (earlier) kept = std::move(entry);
  kept.finding.count = count;
}

void FindingSet::add(Finding finding, std::uint64_t workgroup, std::uint64_t order,
                     std::string_view extra_key) {
  const Key key = key_of(finding, extra_key);
  const Place place{.launch = finding.launch, .workgroup = workgroup, .order = order};
  file(key, Entry{std::move(finding), place});
}

bool FindingSet::count_again(const Key& key, const Place& place, std::uint64_t count) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || place < found->second.place) return false;
  found->second.finding.count += count;
  return true;
}

void FindingSet::merge(FindingSet&& other) {
  for (auto& [key, entry] : other.entries_) file(key, std::move(entry));
  other.entries_.clear();
}

std::vector<Finding> FindingSet::sorted(std::vector<std::pair<Key, Entry>> entries) {
  const auto rank = [](const std::pair<Key, Entry>& e) {
    return std::make_tuple(is_advice(e.second.finding), e.second.place.launch,
                           e.second.place.workgroup, e.first.vaddr0, e.first.vaddr1,
                           e.second.place.order, e.first);
  };
  std::ranges::sort(entries, std::less<>{}, rank);
  std::vector<Finding> findings;
  findings.reserve(entries.size());
  for (auto& [key, entry] : entries) findings.push_back(std::move(entry.finding));
  return findings;
}

std::vector<Finding> FindingSet::not_in(const FindingSet& before) const {
  std::vector<std::pair<Key, Entry>> fresh;
  std::ranges::copy_if(entries_, std::back_inserter(fresh),
                       [&](const auto& entry) { return !before.entries_.contains(entry.first); });
  return sorted(std::move(fresh));
}

std::vector<Finding> FindingSet::take_sorted() {
  std::vector<std::pair<Key, Entry>> entries(std::make_move_iterator(entries_.begin()),
                                             std::make_move_iterator(entries_.end()));
  entries_.clear();
  return sorted(std::move(entries));
}

Tally tally(std::span<const Finding> findings) {
  Tally result;
  for (const Finding& finding : findings) {
    switch (finding.severity) {
      case Severity::error:
        ++result.errors;
        break;
      case Severity::note:
        ++result.notes;
        break;
      case Severity::advice:
        ++result.advice;
        break;
    }
  }
  return result;
}

void merge(Report& into, Report other) {
  for (std::string& tool : other.tools) {
    if (std::ranges::find(into.tools, tool) == into.tools.end()) {
      into.tools.push_back(std::move(tool));
    }
  }
  if (other.adversarial) {
    into.adversarial = true;
    into.seed = other.seed;
  }
  into.launches += other.launches;
  into.suppressed += other.suppressed;
  const auto first_advice = std::ranges::find_if(into.findings, is_advice);
  std::vector<Finding> advice(std::make_move_iterator(first_advice),
                              std::make_move_iterator(into.findings.end()));
  into.findings.erase(first_advice, into.findings.end());
  for (Finding& finding : other.findings) {
    (is_advice(finding) ? advice : into.findings).push_back(std::move(finding));
  }
  std::ranges::move(advice, std::back_inserter(into.findings));

  std::map<std::tuple<std::string, std::uint64_t, std::uint32_t>, std::size_t> known;
  for (std::size_t i = 0; i < into.sites.size(); ++i) known[identity_of(into.sites[i])] = i;
  for (Site& site : other.sites) {
    const auto [position, is_new] = known.try_emplace(identity_of(site), into.sites.size());
    if (is_new) {
      into.sites.push_back(std::move(site));
    } else {
      merge_site(into.sites[position->second], site);
    }
  }
}

}  // namespace margay::check
