#include "observe/check/order/sync_graph.h"

#include <algorithm>

namespace margay::check {
namespace {

/// The size of the reachability cache, in vertices.
constexpr std::size_t kMostVisited = 1 << 23;
/// A workgroup has 1024 work-items at most.
constexpr std::uint64_t kMaxWavesOfGroup = 16;

}  // namespace

SyncGraph::Vertex SyncGraph::join(Vertex a, Vertex b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  // If two atomics on one word follow each other, the later one already includes the earlier one.
  const auto holds = [this](Vertex whole, Vertex part) {
    return nodes_[whole].release == 0 &&
           (nodes_[whole].before[0] == part || nodes_[whole].before[1] == part);
  };
  if (holds(a, b)) return a;
  if (holds(b, a)) return b;
  const std::uint64_t key = std::uint64_t{std::max(a, b)} << 32 | std::min(a, b);
  const auto [at, fresh] = joined_.try_emplace(key, static_cast<Vertex>(nodes_.size()));
  if (fresh) nodes_.push_back({{a, b}, 0});
  return at->second;
}

SyncGraph::Vertex SyncGraph::release(const Own& own, Vertex before,
                                     std::span<const std::uint32_t> completed,
                                     std::span<const std::uint32_t> flushed) {
  const auto vertex = static_cast<Vertex>(nodes_.size());
  nodes_.push_back({{before, 0}, static_cast<std::uint32_t>(releases_.size())});
  releases_.push_back({own, static_cast<std::uint32_t>(completed.size()), clocks_.size()});
  clocks_.insert(clocks_.end(), completed.begin(), completed.end());
  clocks_.insert(clocks_.end(), flushed.begin(), flushed.end());
  return vertex;
}

void SyncGraph::acquired(Vertex vertex, std::uint32_t workgroup, std::uint32_t wave) {
  if (vertex == 0) return;
  if (vertex >= readers_.size()) readers_.resize(nodes_.size(), kNobody);
  readers_[vertex] =
      both_readers(readers_[vertex], std::uint64_t{workgroup} * kMaxWavesOfGroup + wave);
}

// An edge leads to an earlier vertex. A release's own wave has read what the release knew.
std::vector<bool> SyncGraph::releases_acquired() const {
  std::vector<std::uint64_t> readers = readers_;
  readers.resize(nodes_.size(), kNobody);
  std::vector<bool> is_acquired(nodes_.size());
  for (std::size_t n = nodes_.size(); n-- > 1;) {
    const Node& node = nodes_[n];
    if (node.release == 0) {
      for (const Vertex before : node.before)
        if (before != 0) readers[before] = both_readers(readers[before], readers[n]);
      continue;
    }
    const Own& own = releases_[node.release].own;
    is_acquired[n] = readers[n] != kNobody &&
                     readers[n] != std::uint64_t{own.workgroup} * kMaxWavesOfGroup + own.wave;
  }
  return is_acquired;
}

SyncGraph::Vertex& SyncGraph::word(std::uint64_t address) {
  const std::uint64_t page = address / kPageBytes;
  if (page != recent_page_) {
    auto& slot = pages_[page];
    if (slot == nullptr) slot = std::make_unique<Page>();
    recent_page_ = page;
    recent_ = slot.get();
  }
  return (*recent_)[address % kPageBytes / 4];
}

bool SyncGraph::publishes(const Release& release, const Published& access) const {
  const std::uint32_t* const completed = &clocks_[release.clocks];
  const std::uint32_t* const flushed = completed + release.waves;
  return (release.own.wave == access.wave && release.own.segment == access.issued) ||
         flushed[access.wave] >= access.issued ||
         (!access.needs_write_back && completed[access.wave] >= access.completed);
}

bool SyncGraph::ordered(const Published& access, Vertex vertex) {
  if (vertex == 0) return false;
  if (visited_ > kMostVisited) {
    reach_.clear();
    visited_ = 0;
  }
  const auto [at, fresh] = reach_.try_emplace(vertex);
  Reach& reach = at->second;
  if (fresh) {
    reach.visited.resize(vertex + 1);
    visited_ += vertex / 64 + 1;
    reach.open.push_back(vertex);
    reach.visited[vertex] = true;
  }
  if (const auto known = reach.releases.find(access.workgroup); known != reach.releases.end())
    for (const std::uint32_t release : known->second)
      if (publishes(releases_[release], access)) return true;
  // An edge leads to an earlier vertex.
  while (!reach.open.empty()) {
    const Node& node = nodes_[reach.open.back()];
    reach.open.pop_back();
    for (const Vertex before : node.before) {
      if (before == 0 || reach.visited[before]) continue;
      reach.visited[before] = true;
      reach.open.push_back(before);
    }
    if (node.release == 0) continue;
    ++visited_;
    const Release& release = releases_[node.release];
    reach.releases[release.own.workgroup].push_back(node.release);
    if (release.own.workgroup == access.workgroup && publishes(release, access)) return true;
  }
  return false;
}

}  // namespace margay::check
