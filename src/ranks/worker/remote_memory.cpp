#include "ranks/worker/remote_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ranks/pages/changes.h"

namespace margay::ranks {
namespace {

RemoteMemory* the_memory = nullptr;

/// The fault is one of the executor's own accesses: no lock of ours or of the C library is held.
void on_fault(int signal_number, siginfo_t* info, void* /*context*/) {
  const int error = errno;
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  if (the_memory == nullptr || !the_memory->touch(address)) {
    // The access is repeated, and ends the process.
    struct sigaction usual{};
    usual.sa_handler = SIG_DFL;
    sigaction(signal_number, &usual, nullptr);
  }
  errno = error;
}

void* map(void* at, std::uint64_t bytes, int protection, int flags, int file = -1) {
  void* const made = mmap(at, bytes, protection, flags | MAP_NORESERVE, file, 0);
  if (made != MAP_FAILED && at != nullptr && made != at) {
    munmap(made, bytes);  // an old kernel, which takes MAP_FIXED_NOREPLACE for a wish
    return MAP_FAILED;
  }
  return made;
}

}  // namespace

Result<std::unique_ptr<RemoteMemory>> RemoteMemory::create(Connection& leader, AddressRange arena) {
  std::unique_ptr<RemoteMemory> made(new RemoteMemory(leader));
  MARGAY_CHECK(made->reserve(arena.begin, arena.end));
  the_memory = made.get();
  struct sigaction action{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
  return made;
}

RemoteMemory::RemoteMemory(Connection& leader)
    : leader_(leader),
      memory_(Memory::of_another_process(
          [this](std::uint64_t address, bool writable) { return granted(address, writable); },
          &noted_)) {}

RemoteMemory::~RemoteMemory() {
  the_memory = nullptr;
  for (auto& [begin, region] : regions_) release(region);
}

void RemoteMemory::release(Region& region) {
  const std::uint64_t bytes = region.end - region.begin;
  munmap(reinterpret_cast<void*>(region.begin), bytes);
  if (region.view != nullptr) munmap(region.view, bytes);
  if (region.states != nullptr) munmap(region.states, region.pages());
  if (region.file >= 0) close(region.file);
}

void RemoteMemory::exchange(Message message, const Writer& words) {
  if (!leader_.send(message, words.data()) || !leader_.receive(answer_)) _exit(3);
}

void RemoteMemory::say_alive() {
  const std::lock_guard lock(mutex_);
  (void)leader_.send(Message::alive, {});
}

Status RemoteMemory::reserve(std::uint64_t begin, std::uint64_t end) {
  Region region{.begin = page_of(begin), .end = page_of(end + kPageBytes - 1)};
  const std::uint64_t bytes = region.end - region.begin;
  const auto refuse = [&](const char* what) {
    const int number = errno;
    // Not what is at the address: it may be ours.
    if (region.file >= 0) close(region.file);
    if (region.view != nullptr) munmap(region.view, bytes);
    return fail(ErrorCode::system, fmt::format("{} at {:#x}, {} bytes: {}", what, region.begin,
                                               bytes, std::strerror(number)));
  };
  region.file = memfd_create("margay rank", MFD_CLOEXEC);
  if (region.file < 0 || ftruncate(region.file, static_cast<off_t>(bytes)) != 0)
    return refuse("memory for the leader's");
  void* const view = map(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, region.file);
  if (view == MAP_FAILED) return refuse("a view of the leader's memory");
  region.view = static_cast<std::byte*>(view);
  if (map(reinterpret_cast<void*>(region.begin), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED_NOREPLACE,
          region.file) == MAP_FAILED)
    return refuse("addresses that the leader uses are taken");
  void* const states =
      map(nullptr, region.pages(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (states == MAP_FAILED) {
    munmap(reinterpret_cast<void*>(region.begin), bytes);
    return refuse("the states of pages");
  }
  region.states = static_cast<std::atomic<State>*>(states);
  regions_.emplace(region.begin, region);
  return {};
}

RemoteMemory::Place RemoteMemory::find(std::uint64_t address) {
  auto after = regions_.upper_bound(address);
  if (after == regions_.begin()) return {};
  Region& region = std::prev(after)->second;
  if (address >= region.end) return {};
  return {&region, page_of(address)};
}

bool RemoteMemory::Place::protect(int protection) const {
  return mprotect(reinterpret_cast<void*>(address), kPageBytes, protection) == 0;
}

bool RemoteMemory::touch(std::uint64_t address) {
  // If another thread has brought the page meanwhile, a read is taken for a write here: the page is
  // compared for nothing.
  const std::lock_guard lock(mutex_);
  const Place place = find(address);
  if (place.region == nullptr) return false;
  switch (place.state().load()) {
    case State::absent:
      return fetch(place);
    case State::clean:
      return begin_to_write(place);
    case State::written:
      return true;
  }
  return false;
}

bool RemoteMemory::fetch(const Place& place) {
  Writer words;
  words.put(place.address);
  exchange(Message::fetch, words);
  Reader in(answer_);
  fingerprints_[place.address] = in.get<std::uint64_t>();
  // Through the view first: other threads must not see half a page.
  if (!get_page(in, place.view()) || !place.protect(PROT_READ)) return false;
  place.state().store(State::clean);
  return true;
}

bool RemoteMemory::begin_to_write(const Place& place) {
  auto original = std::make_unique<Page>();
  std::ranges::copy(place.view(), original->begin());
  originals_.emplace(place.address, std::move(original));
  place.state().store(State::written);
  return place.protect(PROT_READ | PROT_WRITE);
}

AddressRange RemoteMemory::granted(std::uint64_t address, bool writable) {
  const std::lock_guard lock(mutex_);
  for (const Grant& grant : grants_)
    if ((grant.writable || !writable) && grant.range.contains(address, 1)) return grant.range;
  Writer words;
  words.put(address);
  words.put<std::uint8_t>(writable);
  exchange(Message::range, words);
  Reader in(answer_);
  const auto range = in.get<AddressRange>();
  if (!range.contains(address, 1)) return {};
  // What is not reserved yet, between the regions that are.
  for (std::uint64_t at = page_of(range.begin); at < range.end;) {
    if (const Place place = find(at); place.region != nullptr) {
      at = place.region->end;
      continue;
    }
    const auto next = regions_.upper_bound(at);
    const std::uint64_t end =
        next == regions_.end() ? range.end : std::min(range.end, next->second.begin);
    if (Status reserved = reserve(at, end); !reserved) {
      problem_ = reserved.error().what;
      return {};
    }
    at = end;
  }
  grants_.push_back({range, writable});
  return range;
}

void RemoteMemory::begin_launch() {
  grants_.clear();
  problem_.clear();
  if (fingerprints_.empty()) return;
  Writer words;
  std::vector<std::uint64_t> pages;
  pages.reserve(fingerprints_.size());
  for (const auto& [address, known] : fingerprints_) {
    pages.push_back(address);
    words.put(address);
    words.put(known);
  }
  ask(Message::check, words, [&](Reader& in) {
    for (const std::uint64_t address : pages)
      if (in.get<std::uint8_t>() == 0) forget(find(address));
  });
}

void RemoteMemory::forget(const Place& place) {
  place.state().store(State::absent);
  (void)place.protect(PROT_NONE);
  (void)fallocate(place.region->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(place.address - place.region->begin), kPageBytes);
  fingerprints_.erase(place.address);
}

void RemoteMemory::take_changes(Writer& out) {
  std::vector<CombinedWord> words;
  for (const auto& [address, original] : originals_)
    noted_.take(address, *original, find(address).view(), words);
  noted_.clear();
  out.put_all(words);
  for (const auto& [address, original] : originals_) {
    const Place place = find(address);
    put_changes(out, address, *original, place.view());
    fingerprints_[address] = fingerprint(place.view());
    place.state().store(State::clean);
    (void)place.protect(PROT_READ);
  }
  originals_.clear();
}

void RemoteMemory::roll_back() {
  noted_.clear();
  for (const auto& [address, original] : originals_) {
    const Place place = find(address);
    std::ranges::copy(*original, place.view().begin());
    place.state().store(State::clean);
    (void)place.protect(PROT_READ);
  }
  originals_.clear();
}

std::string RemoteMemory::take_problem() { return std::exchange(problem_, {}); }

}  // namespace margay::ranks
