// The order of the workgroups of a launch: their releases, which of these others have read, and the
// happens-before relation that follows.
//
// A vertex represents knowledge: a release of a workgroup, with the workgroup's own accesses that
// it publishes; or a union of vertices. An edge leads to what was known before. A word of memory
// holds the vertex of its last release; an atomic that changes the word adds its own to it (a
// release sequence), a store replaces it. A wave that reads the word acquires the vertex.
//
// Host threads run workgroups at the same time. A thread that reads or writes a word that may be a
// flag holds the lock from before its instruction runs until the access is recorded, so that the
// graph matches what the instruction saw.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace margay::check {

class SyncGraph {
 public:
  using Vertex = std::uint32_t;  ///< 0: nothing.

  /// Must be held for the functions below, except ordered().
  [[nodiscard]] std::unique_lock<std::recursive_mutex> lock() { return std::unique_lock(mutex_); }

  /// Both.
  [[nodiscard]] Vertex join(Vertex a, Vertex b);
  /// A release by a workgroup that knows `before`: by wave, the complete segments, and those that
  /// were written back; and the access itself, which is known to any wave that reads its value.
  struct Own {
    std::uint32_t workgroup = 0, wave = 0, segment = 0;
  };
  [[nodiscard]] Vertex release(const Own& own, Vertex before,
                               std::span<const std::uint32_t> completed,
                               std::span<const std::uint32_t> flushed);

  /// The dword at `address` was stored, or changed by an atomic, by a wave that released `vertex`.
  void stored(std::uint64_t address, Vertex vertex) { word(address) = vertex; }
  void changed(std::uint64_t address, Vertex vertex) {
    Vertex& at = word(address);
    at = join(at, vertex);
  }
  [[nodiscard]] Vertex at(std::uint64_t address) { return word(address); }
  /// The wave has read a word that holds the vertex.
  void acquired(Vertex vertex, std::uint32_t workgroup, std::uint32_t wave);

  /// An access of another workgroup, as releases see it.
  struct Published {
    std::uint32_t workgroup = 0;
    unsigned wave = 0;
    std::uint32_t issued = 0, completed = 0;  ///< Its segments.
    bool needs_write_back = false;            ///< A store without scope.
  };
  /// Whether the knowledge of `vertex` includes the access. Called when the launch has ended.
  [[nodiscard]] bool ordered(const Published& access, Vertex vertex);
  /// By vertex: whether it is a release that another wave has acquired. Called when the launch has
  /// ended.
  [[nodiscard]] std::vector<bool> releases_acquired() const;

 private:
  static constexpr std::uint64_t kPageBytes = 4096;
  using Page = std::array<Vertex, kPageBytes / 4>;
  struct Node {
    Vertex before[2] = {};
    std::uint32_t release = 0;  // into releases_; 0: none
  };
  struct Release {
    Own own;
    std::uint32_t waves = 0;
    std::size_t clocks = 0;  // into clocks_: completed, then flushed
  };
  /// The vertices reachable from a vertex, as far as computed.
  struct Reach {
    std::vector<Vertex> open;
    std::vector<bool> visited;
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> releases;  // by workgroup
  };

  /// Waves that have read a vertex: none, one, or several.
  static constexpr std::uint64_t kNobody = ~0ull, kSeveral = ~0ull - 1;
  [[nodiscard]] static std::uint64_t both_readers(std::uint64_t a, std::uint64_t b) {
    return a == kNobody ? b : b == kNobody || a == b ? a : kSeveral;
  }

  [[nodiscard]] Vertex& word(std::uint64_t address);
  [[nodiscard]] bool publishes(const Release& release, const Published& access) const;

  std::recursive_mutex mutex_;
  std::vector<Node> nodes_{1};
  std::vector<Release> releases_{1};
  std::vector<std::uint64_t> readers_;  // by vertex, as far as any was read
  std::vector<std::uint32_t> clocks_;
  std::unordered_map<std::uint64_t, Vertex> joined_;  // by both vertices
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t recent_page_ = ~0ull;
  Page* recent_ = nullptr;
  std::unordered_map<Vertex, Reach> reach_;
  std::size_t visited_ = 0;
};

}  // namespace margay::check
