// The leader's memory as a worker sees it: at the same addresses, fetched page by page when it is
// touched, kept between launches as long as it is what the leader has, and compared with what it
// was where it was written.
//
// A page is not accessible until it is fetched, and read-only until it is written: the handler of
// SIGSEGV does both. Memory of this process at these addresses would be in the way; the worker's
// server arranges its own so that there is little (server.h), and where that fails the worker
// refuses.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/state/memory.h"
#include "ranks/pages/combined.h"
#include "ranks/pages/page.h"
#include "ranks/wire.h"

namespace margay::ranks {

class RemoteMemory {
 public:
  /// One for each process. `arena`: the leader's device memory.
  [[nodiscard]] static Result<std::unique_ptr<RemoteMemory>> create(Connection& leader,
                                                                    AddressRange arena);
  ~RemoteMemory();
  RemoteMemory(const RemoteMemory&) = delete;
  RemoteMemory& operator=(const RemoteMemory&) = delete;

  /// For the executor.
  [[nodiscard]] const Memory& memory() const { return *memory_; }
  /// Asks the leader; ends the process when it is gone. `use` reads the answer.
  template <typename Use>
  auto ask(Message message, const Writer& words, Use&& use) {
    const std::lock_guard lock(mutex_);
    exchange(message, words);
    Reader in(answer_);
    return use(in);
  }

  /// Says to the leader that this process works, between questions; from any thread.
  void say_alive();

  /// Before a launch: forgets the pages that are not what the leader has, and all rights.
  void begin_launch();
  /// Whether atomics of the launch cannot be combined with those of other processes.
  [[nodiscard]] bool has_mixed_atomics() const { return noted_.mixed(); }
  /// After it: adds the words that atomics changed and then all else that was written to `out`; the
  /// pages stay.
  void take_changes(Writer& out);
  /// Or: undoes what was written.
  void roll_back();
  /// Why an access was refused that the leader allowed; empty if there was none.
  [[nodiscard]] std::string take_problem();

  /// What is behind SIGSEGV; false if the address is not the leader's.
  [[nodiscard]] bool touch(std::uint64_t address);

 private:
  enum class State : std::uint8_t { absent, clean, written };
  /// Reserved addresses. The second view of the same memory is always accessible.
  struct Region {
    std::uint64_t begin = 0, end = 0;
    std::byte* view = nullptr;
    int file = -1;
    std::atomic<State>* states = nullptr;  // by page; of zeros where untouched
    [[nodiscard]] std::uint64_t pages() const { return (end - begin) / kPageBytes; }
  };
  struct Place {
    Region* region = nullptr;
    std::uint64_t address = 0;  // of the page
    [[nodiscard]] std::span<std::byte, kPageBytes> view() const {
      return std::span<std::byte, kPageBytes>(region->view + (address - region->begin), kPageBytes);
    }
    [[nodiscard]] std::atomic<State>& state() const {
      return region->states[(address - region->begin) / kPageBytes];
    }
    [[nodiscard]] bool protect(int protection) const;
  };
  struct Grant {
    AddressRange range;
    bool writable = false;
  };

  explicit RemoteMemory(Connection& leader);
  void exchange(Message message, const Writer& words);
  [[nodiscard]] AddressRange granted(std::uint64_t address, bool writable);
  [[nodiscard]] Status reserve(std::uint64_t begin, std::uint64_t end);
  [[nodiscard]] Place find(std::uint64_t address);
  [[nodiscard]] bool fetch(const Place& place);
  [[nodiscard]] bool begin_to_write(const Place& place);
  void forget(const Place& place);
  static void release(Region& region);

  Connection& leader_;
  NotedWords noted_;  // has a mutex of its own
  std::unique_ptr<Memory> memory_;
  std::mutex mutex_;  // guards all below; the handler takes it
  Bytes answer_;
  std::map<std::uint64_t, Region> regions_;                        // by begin
  std::vector<Grant> grants_;                                      // of this launch
  std::unordered_map<std::uint64_t, std::uint64_t> fingerprints_;  // of the pages that are here
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> originals_;  // of the written ones
  std::string problem_;
};

}  // namespace margay::ranks
