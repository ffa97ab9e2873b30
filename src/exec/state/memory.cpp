#include "exec/state/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdio>
#include <memory>

#include "base/fork.h"

namespace margay {
namespace {

constexpr std::uint64_t kPage = 4096;
/// Address space left unmapped after every allocation: an access past the end faults. Far from
/// where Linux puts programs, heaps, libraries and stacks of 64-bit processes.
constexpr std::uint64_t kUsualArena = 0x2000'0000'0000;
constexpr std::uint64_t kGap = 64 * 1024;

[[nodiscard]] std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::string bytes_text(std::uint64_t bytes) {
  return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
}

}  // namespace

Memory::Memory(std::uint64_t arena_begin, std::uint64_t arena_bytes, std::uint64_t capacity_bytes,
               unsigned devices, bool whole_pages)
    : arena_begin_(arena_begin),
      arena_bytes_(arena_bytes),
      capacity_bytes_(capacity_bytes),
      whole_pages_(whole_pages),
      next_address_(arena_begin + kGap),
      allocated_bytes_(devices) {
  HeldOverFork::add(mutex_);
}

Result<std::unique_ptr<Memory>> Memory::create(std::uint64_t capacity_bytes, unsigned devices,
                                               bool whole_pages) {
  // Address space is cheap: four times the capacity, so that freed addresses need not be reused.
  const std::uint64_t arena_bytes = capacity_bytes * devices * 4;
  // The same addresses in every run, so that reports are reproducible; if they are occupied, the
  // system chooses others.
  void* arena = mmap(reinterpret_cast<void*>(kUsualArena), arena_bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena == MAP_FAILED)
    return fail(ErrorCode::system,
                fmt::format("could not reserve {} GiB of address space", arena_bytes >> 30),
                "creating the virtual device",
                "raise the limit on virtual memory (ulimit -v unlimited)");
  return std::unique_ptr<Memory>(new Memory(reinterpret_cast<std::uint64_t>(arena), arena_bytes,
                                            capacity_bytes, devices, whole_pages));
}

std::unique_ptr<Memory> Memory::of_another_process(Lookup lookup, AtomicNotes* notes) {
  std::unique_ptr<Memory> memory(new Memory(0, 0, 0, 1, false));
  memory->lookup_ = std::move(lookup);
  memory->atomic_notes_ = notes;
  return memory;
}

Memory::~Memory() {
  HeldOverFork::remove(mutex_);
  if (arena_bytes_ != 0) munmap(reinterpret_cast<void*>(arena_begin_), arena_bytes_);
}

std::optional<std::uint64_t> Memory::take_address_space(std::uint64_t bytes) {
  const std::uint64_t arena_end = arena_begin_ + arena_bytes_;
  if (arena_end - next_address_ >= bytes + kGap) {
    const std::uint64_t address = next_address_;
    next_address_ += bytes + kGap;
    return address;
  }
  // All addresses have been used once: forget freed blocks and use the first hole that fits.
  std::erase_if(allocations_, [](const auto& entry) { return entry.second.freed; });
  std::uint64_t candidate = arena_begin_ + kGap;
  for (const auto& [begin, allocation] : allocations_) {
    if (begin >= candidate + bytes + kGap) return candidate;
    candidate = round_up(allocation.range.end, kPage) + kGap;
  }
  if (arena_end >= candidate + bytes + kGap) return candidate;
  return std::nullopt;
}

Result<void*> Memory::allocate(std::uint64_t size_bytes, std::string label, Placement placement) {
  if (size_bytes == 0) return fail(ErrorCode::invalid_argument, "an allocation of 0 bytes", label);
  const std::lock_guard lock(mutex_);
  std::uint64_t& allocated = allocated_bytes_[placement.device];
  const auto no_room = [&] {
    return fail(ErrorCode::out_of_memory,
                fmt::format("the device has {} of {} bytes left; {} were asked for",
                            capacity_bytes_ - allocated, capacity_bytes_, size_bytes),
                label);
  };
  if (size_bytes > capacity_bytes_ - allocated) return no_room();
  const std::uint64_t mapped = round_up(size_bytes, kPage);
  const auto address = take_address_space(mapped);
  if (!address) return no_room();
  void* const pointer = reinterpret_cast<void*>(*address);
  if (mprotect(pointer, mapped, PROT_READ | PROT_WRITE) != 0)
    return fail(ErrorCode::out_of_memory,
                fmt::format("the host refused {} of memory", bytes_text(mapped)), label);
  // Large pages if the host has them: tensors are read in long runs.
  if (mapped >= (2u << 20)) (void)madvise(pointer, mapped, MADV_HUGEPAGE);
  allocations_.insert_or_assign(
      *address,
      Allocation{
          {*address, *address + size_bytes}, next_serial_++, std::move(label), false, placement});
  allocated += size_bytes;
  return pointer;
}

Status Memory::free(void* pointer) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end())
    return fail(ErrorCode::invalid_argument,
                fmt::format("{:#x} is not the start of an allocation of this device", address),
                "free");
  Allocation& allocation = found->second;
  if (allocation.freed)
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("allocation #{} ({}) was already freed", allocation.serial, allocation.label),
        "free");
  const std::uint64_t size = allocation.range.end - allocation.range.begin;
  const std::uint64_t mapped = round_up(size, kPage);
  // Return the pages to the system and make every later access fault, on the host as well.
  (void)mmap(pointer, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
             -1, 0);
  allocation.freed = true;
  allocated_bytes_[allocation.placement.device] -= size;
  return {};
}

thread_local Memory::View Memory::view_;

void Memory::set_view(unsigned device, std::uint64_t visible) { view_ = {device, visible}; }

std::optional<Allocation> Memory::nearest_below(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return std::nullopt;
  return std::prev(after)->second;
}

std::optional<Allocation> Memory::find(std::uint64_t address) const {
  auto below = nearest_below(address);
  if (!below || address >= below->range.end) return std::nullopt;
  return below;
}

bool Memory::in_arena(std::uint64_t address) const {
  return address >= arena_begin_ && address - arena_begin_ < arena_bytes_;
}

namespace {

/// One line of /proc/self/maps.
struct Mapping {
  AddressRange range;
  bool readable = false, writable = false;
  std::string file;  ///< Or a name in brackets; empty for anonymous memory.
};

/// Calls `visit` for each mapping of this process, by address, until it returns false.
template <typename Visit>
void for_each_mapping(Visit&& visit) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                             std::fclose);
  if (!maps) return;
  char line[4352];  // with the longest path
  while (std::fgets(line, sizeof line, maps.get()) != nullptr) {
    unsigned long long begin = 0, end = 0;
    char permissions[5] = {};
    int path = 0;
    if (std::sscanf(line, "%llx-%llx %4s %*s %*s %*s %n", &begin, &end, permissions, &path) != 3)
      continue;
    Mapping mapping{{begin, end}, permissions[0] == 'r', permissions[1] == 'w', {}};
    if (path > 0) mapping.file = line + path;
    while (mapping.file.ends_with('\n')) mapping.file.pop_back();
    if (!visit(mapping)) return;
  }
}

}  // namespace

AddressRange Memory::accessible_range(std::uint64_t address) const {
  return range_for(address, true);
}
AddressRange Memory::readable_range(std::uint64_t address) const {
  return range_for(address, false);
}

AddressRange Memory::tolerated_range(std::uint64_t address) const {
  const auto below = nearest_below(address);
  const bool reads_on = whole_pages_ || (below && below->placement.whole_pages);
  return reads_on ? whole_pages_at(address) : AddressRange{};
}

AddressRange Memory::whole_pages_at(std::uint64_t address) const {
  const auto below = nearest_below(address);
  if (!below || below->freed || !is_visible(*below)) return {};
  const AddressRange pages{below->range.begin, round_up(below->range.end, kPage)};
  return pages.contains(address, 1) ? pages : AddressRange{};
}

AddressRange Memory::range_for(std::uint64_t address, bool writable) const {
  if (lookup_) return lookup_(address, writable);
  if (in_arena(address)) {
    const auto allocation = find(address);
    const bool usable = allocation && !allocation->freed && is_visible(*allocation);
    return usable ? allocation->range : AddressRange{};
  }
  // Neighbouring mappings are one range, since an array may span them.
  AddressRange range;
  for_each_mapping([&](const Mapping& mapping) {
    const bool usable =
        mapping.readable && (mapping.writable || !writable) && !in_arena(mapping.range.begin);
    if (usable && range.end == mapping.range.begin && range.end != 0) {
      range.end = mapping.range.end;
      return true;
    }
    if (range.contains(address, 1)) return false;
    if (usable) range = mapping.range;
    return true;
  });
  return range.contains(address, 1) ? range : AddressRange{};
}

Error Memory::describe_fault(std::uint64_t address, std::uint64_t size_bytes,
                             std::string access) const {
  Error error{ErrorCode::illegal_address,
              fmt::format("illegal {} of {} at {:#x}", access, bytes_text(size_bytes), address)};
  if (address < kPage) {
    error.what += address == 0 ? ": a null pointer"
                               : fmt::format(": {} past a null pointer", bytes_text(address));
    error.hint = "a pointer argument is null, or was never set";
    return error;
  }
  const auto below = nearest_below(address);
  const auto name = [](const Allocation& a) {
    return fmt::format("allocation #{} ({}, {})", a.serial, a.label,
                       bytes_text(a.range.end - a.range.begin));
  };
  if (const AddressRange readable = in_arena(address) ? AddressRange{} : readable_range(address);
      readable.contains(address, 1)) {
    Mapping of;
    for_each_mapping([&](const Mapping& mapping) {
      if (mapping.range.contains(address, 1)) of = mapping;
      return mapping.range.begin <= address;
    });
    if (of.writable && address + size_bytes <= readable.end) {
      error.what += ": this is host memory, but of no tensor that the kernel is known to use";
      error.hint = "pass the tensor to the kernel, or check the index";
    } else if (of.writable) {
      error.what += fmt::format(": {} past the end of mapped host memory",
                                bytes_text(address + size_bytes - readable.end));
      error.hint = "an index is too large by less than one element";
    } else {
      error.what += fmt::format(": this is host memory that may only be read{}",
                                of.file.empty() ? "" : " (" + of.file + ")");
      error.hint =
          "write to other memory: this is a constant, or was mapped for reading (mmap with "
          "PROT_READ, numpy.memmap with mode 'r')";
    }
  } else if (!in_arena(address)) {
    error.what += ": this address is neither device memory nor mapped host memory";
    error.hint = "the pointer was computed from a wrong base or index, or is uninitialised";
  } else if (below && address < below->range.end && below->freed) {
    error.what += fmt::format(": {} inside {}, which was freed",
                              bytes_text(address - below->range.begin), name(*below));
    error.hint = "the kernel uses memory after hipFree";
  } else if (below && address < below->range.end && !is_visible(*below)) {
    error.what += fmt::format(": it is inside {} of device {}, and the kernel runs on device {}",
                              name(*below), below->placement.device, view_.device);
    error.hint = fmt::format(
        "give device {} access first: hipSetDevice({}), hipDeviceEnablePeerAccess({}, 0)",
        view_.device, view_.device, below->placement.device);
  } else if (below && address < below->range.end) {
    error.what += fmt::format(": the last {} of the access are past the end of {}",
                              bytes_text(address + size_bytes - below->range.end), name(*below));
    error.hint = "an index is too large by less than one element";
  } else if (below) {
    error.what += fmt::format(": {} past the end of {}", bytes_text(address - below->range.end),
                              name(*below));
    error.hint =
        "an index is too large: check the grid, the strides and the units of the coordinates";
  } else {
    error.what += ": before every allocation of this device";
    error.hint = "an index is negative";
  }
  return error;
}

std::uint64_t Memory::allocated_bytes(unsigned device) const {
  const std::lock_guard lock(mutex_);
  return allocated_bytes_[device];
}

void Memory::for_each_live(const std::function<void(const Allocation&)>& visit) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [address, allocation] : allocations_)
    if (!allocation.freed) visit(allocation);
}

}  // namespace margay
