#include "observe/check/global/bounds.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/rows/row_table.h"
#include "observe/check/global/tensors.h"

namespace margay::check {
namespace {

Role role_of(const LaneAccess& access) {
  return access.is_atomic ? Role::atomic : access.is_write ? Role::write : Role::read;
}

/// The lowest and the highest address of the active lanes; (~0, 0) if there are none.
struct Span {
  std::uint64_t first = ~0ull, last = 0;
};
Span span_of(const LaneAccess& access) {
  Span span;
  if (access.active == ~0ull) {  // the usual case, without a branch per lane
    for (const std::uint64_t at : access.at) {
      span.first = at < span.first ? at : span.first;
      span.last = at > span.last ? at : span.last;
    }
    return span;
  }
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const std::uint64_t at = access.at[std::countr_zero(rest)];
    span.first = std::min(span.first, at);
    span.last = std::max(span.last, at);
  }
  return span;
}

/// Lanes that reach past a block of `size` bytes.
std::uint64_t outside_block(const LaneAccess& access, std::uint64_t size) {
  if (access.active == ~0ull) {  // the usual case: a lane beyond the end leaves a sign
    std::uint64_t signs = 0;
    for (const std::uint64_t at : access.at) signs |= size - access.bytes - at;
    if (size >= access.bytes && signs >> 63 == 0) return 0;
  }
  std::uint64_t bad = 0;
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (access.at[lane] + access.bytes > size) bad |= 1ull << lane;
  }
  return bad;
}

std::uint64_t misaligned_lanes(const LaneAccess& access) {
  const unsigned needed = access.is_atomic ? access.bytes : access.bytes >= 4 ? 4 : access.bytes;
  // Global loads and stores need no alignment; unaligned LDS accesses cost further cycles.
  if (needed < 2 || access.space == MemorySpace::scratch ||
      (access.space == MemorySpace::global && !access.is_atomic))
    return 0;
  std::uint64_t any = 0;
  for (const std::uint64_t at : access.at) any |= at;
  if ((any & (needed - 1)) == 0) return 0;  // inactive lanes included
  std::uint64_t misaligned = 0;
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if ((access.at[lane] & (needed - 1)) != 0) misaligned |= 1ull << lane;
  }
  return misaligned;
}

}  // namespace

namespace {

/// Whether the 8 bytes at `at` of a kernel's arguments may be a pointer. Two adjacent smaller
/// arguments are not a pointer: 1.0f and 0, read as an address, are in the heap of a program that
/// is loaded low.
bool may_be_pointer(const Kernel& kernel, std::size_t at) {
  if (kernel.arguments.empty()) return true;  // written in assembly, without metadata
  return std::ranges::any_of(kernel.arguments, [&](const KernelArgument& argument) {
    return (argument.kind == ArgumentKind::global_buffer ||
            argument.kind == ArgumentKind::by_value) &&
           argument.offset_bytes <= at && at + 8 <= argument.offset_bytes + argument.size_bytes;
  });
}

/// Whether the tensor is a table of pointers to host memory, of which a kernel may use all: those
/// of a grouped product, say. Numbers that happen to be addresses of a program that is loaded low
/// are none unless all of them are, and an output that nothing has written may have the C library's
/// pointers to free memory in it.
bool is_table_of_pointers(const Tensor& tensor, const Memory& memory) {
  constexpr std::uint64_t kMost = 512, kHigh = std::uint64_t{1} << 32;
  const std::uint64_t count = std::min(kMost, (tensor.range.end - tensor.range.begin) / 8);
  if (tensor.element_bytes != 8 || count == 0 ||
      !memory.readable_range(tensor.range.begin).contains(tensor.range.begin, 8 * count))
    return false;
  bool all = true;
  std::uint64_t high = 0;
  for (std::uint64_t n = 0; n < count; ++n) {
    std::uint64_t value;
    std::memcpy(&value, reinterpret_cast<const std::uint64_t*>(tensor.range.begin) + n, 8);
    const bool is_address =
        value >= 4096 && !memory.in_arena(value) && memory.readable_range(value).contains(value, 1);
    high += is_address && value >= kHigh;
    all = all && is_address;
  }
  return all || 2 * high >= count;
}

}  // namespace

HostRule host_rule(const LaunchRequest& request, const Memory& memory, const GlobalMemory& known) {
  bool any = false;
  for (std::size_t at = 0; at + 8 <= request.arguments.size(); at += 8) {
    if (!may_be_pointer(*request.kernel, at)) continue;
    std::uint64_t value;
    std::memcpy(&value, request.arguments.data() + at, 8);
    if (value < 4096 || memory.in_arena(value)) continue;
    if (const Tensor* const tensor = known.tensors().at(value)) {
      if (is_table_of_pointers(*tensor, memory)) return {};
      any = true;
      continue;
    }
    if (memory.readable_range(value).contains(value, 1)) return {};
  }
  return {any};
}

std::vector<HostArgument> unregistered_host_arguments(const LaunchRequest& request,
                                                      const Memory& memory,
                                                      const GlobalMemory& known) {
  std::vector<HostArgument> found;
  for (std::size_t at = 0; at + 8 <= request.arguments.size(); at += 8) {
    if (!may_be_pointer(*request.kernel, at)) continue;
    std::uint64_t value;
    std::memcpy(&value, request.arguments.data() + at, 8);
    if (value < 4096 || memory.in_arena(value) || known.tensors().at(value) != nullptr ||
        known.is_registered(value) || !memory.accessible_range(value).contains(value, 1))
      continue;
    found.push_back({at, value});
  }
  return found;
}

Bounds::Bounds(Reporter& reporter, const Memory& memory, const GlobalMemory& known, HostRule rule,
               const LaunchRequest& request, const LaunchElsewhere* elsewhere)
    : reporter_(reporter),
      memory_(memory),
      known_(known),
      rule_(rule),
      request_(request),
      elsewhere_(elsewhere) {}

std::uint64_t Bounds::outside(const LaneAccess& access, const InstructionFacts& facts,
                              const Wave& wave) {
  std::uint64_t bad = 0;
  switch (access.space) {
    case MemorySpace::global:
      bad = outside_global(access, facts);
      if (bad != 0) report_global(access, facts, wave, bad);
      break;
    case MemorySpace::lds:
      bad = outside_block(access, wave.group->lds_bytes);
      if (bad != 0) report_lds(access, facts, wave, bad);
      break;
    case MemorySpace::scratch:
      bad = outside_block(access, wave.group->scratch_bytes_per_lane);
      if (bad != 0) report_scratch(access, facts, wave, bad);
      break;
  }
  const std::uint64_t misaligned = misaligned_lanes(access) & ~bad;
  if (misaligned != 0) report_misaligned(access, facts, wave, misaligned);
  // Unaligned loads and stores are supported in the mode that Linux sets on the device; unaligned
  // atomics are not.
  return access.is_atomic ? bad | misaligned : bad;
}

Finding Bounds::finding(FindingKind kind, const LaneAccess& access, const InstructionFacts& facts,
                        const Wave& wave, int lane) const {
  Finding f;
  f.kind = kind;
  f.accesses = {reporter_.access(role_of(access), facts.vaddr,
                                 static_cast<std::int32_t>(wave.index_in_group), lane)};
  return f;
}

// ---- Global ---------------------------------------------------------------------------------

const std::vector<TensorArgument>& Bounds::tensors() {
  if (!tensors_)
    tensors_ = elsewhere_ != nullptr ? elsewhere_->tensors
                                     : tensor_arguments(request_, memory_, known_.tensors());
  return *tensors_;
}

/// A description may belong to an earlier tensor in the same memory. It does not apply to a pointer
/// that is known not to belong to a kittens::gl; a pointer to void may be to any tensor.
bool Bounds::only_tensors() {
  return rule_.only_tensors && std::ranges::none_of(tensors(), [&](const TensorArgument& t) {
           return t.declared && t.type.empty() && !t.element.empty() && !in_arena(t.range.begin);
         });
}

/// The tensor in host memory that an access may be in. If two tensors of a kernel overlap, only the
/// one described last is known, so its arguments count as well.
AddressRange Bounds::host_range(std::uint64_t address, std::uint64_t bytes) {
  if (const Tensor* const tensor = known_.tensors().at(address);
      tensor != nullptr && tensor->range.contains(address, bytes))
    return tensor->range;
  for (const TensorArgument& tensor : tensors())
    if (tensor.declared && tensor.range.contains(address, bytes)) return tensor.range;
  return {};
}

/// Records an access of the kernel at `address`, in the accessible host memory `found`, and returns
/// the part of it in which every access gives the same result. A value among the arguments may look
/// like an address without being one, such as an uninitialised member: only accesses count, each
/// for the nearest argument below.
AddressRange Bounds::use_host(AddressRange found, std::uint64_t address) {
  if (!host_arguments_) {
    host_arguments_ = elsewhere_ != nullptr
                          ? elsewhere_->host_arguments
                          : unregistered_host_arguments(request_, memory_, known_);
    std::ranges::sort(*host_arguments_, {}, &HostArgument::address);
  }
  const auto inside = std::ranges::subrange(
      std::ranges::lower_bound(*host_arguments_, found.begin, {}, &HostArgument::address),
      std::ranges::lower_bound(*host_arguments_, found.end, {}, &HostArgument::address));
  if (inside.empty()) return found;
  if (known_.is_registered(address) || known_.tensors().at(address) != nullptr) {
    constexpr std::uint64_t kPage = 4096;  // the extent of the registered part is not known here
    const std::uint64_t page = address & ~(kPage - 1);
    return {std::max(page, found.begin), std::min(page + kPage, found.end)};
  }
  const auto above = std::ranges::upper_bound(inside, address, {}, &HostArgument::address);
  const std::uint64_t owner =
      above == inside.begin() ? above->address : std::ranges::prev(above)->address;
  for (HostArgument& argument : inside)
    if (argument.address == owner) argument.is_used = true;
  return {owner <= address ? owner : found.begin,
          above == inside.end() ? found.end : above->address};
}

bool Bounds::inside_global(std::uint64_t address, std::uint64_t bytes, bool is_write) {
  for (const AddressRange& range : recent_)
    if (range.contains(address, bytes)) return true;
  if (!is_write && recent_read_only_.contains(address, bytes)) return true;
  // The allocations of the device's own memory are known; a description cannot enlarge them.
  const bool described = !in_arena(address) && only_tensors();
  AddressRange found = described                          ? host_range(address, bytes)
                       : mapped_.contains(address, bytes) ? mapped_
                                                          : memory_.accessible_range(address);
  if (!found.contains(address, bytes)) {
    if (described || is_write) return false;
    recent_read_only_ = memory_.readable_range(address);
    return recent_read_only_.contains(address, bytes);
  }
  if (!described && !in_arena(address)) {
    mapped_ = found;
    found = use_host(found, address);
  }
  std::ranges::rotate(recent_, recent_.end() - 1);
  recent_[0] = found;
  return true;
}

std::uint64_t Bounds::outside_global(const LaneAccess& access, const InstructionFacts& facts) {
  const auto [first, last] = span_of(access);
  if (access.active == 0) return 0;
  for (const AddressRange& range : recent_)
    if (range.contains(first, last - first + access.bytes)) return 0;
  if (!access.is_write && recent_read_only_.contains(first, last - first + access.bytes)) return 0;
  // LLVM makes a compare-and-swap of the aligned dword out of an atomic on a byte or half, and a
  // scalar load of it out of a load that all lanes do. Memory that has a part of it has all of it.
  const bool widened =
      access.bytes == 4 && (access.is_atomic || facts.form.path == MemoryForm::Path::scalar);
  std::uint64_t bad = 0;
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint64_t at = access.at[lane];
    if (inside_global(at, access.bytes, access.is_write)) continue;
    const bool in_part =
        widened && at % 4 == 0 &&
        (inside_global(at, 1, access.is_write) || inside_global(at + 3, 1, access.is_write));
    if (!in_part) bad |= 1ull << lane;
  }
  return bad;
}

void Bounds::report_global(const LaneAccess& access, const InstructionFacts& facts,
                           const Wave& wave, std::uint64_t lanes) {
  const int lane = std::countr_zero(lanes);
  const std::uint64_t address = access.at[lane];
  const auto allocation = elsewhere_ != nullptr ? elsewhere_->find(address) : memory_.find(address);
  const bool freed = allocation && allocation->freed;
  const FindingKind kind = freed ? FindingKind::use_after_free : FindingKind::out_of_bounds;
  if (reporter_.repeat(kind, facts.vaddr)) return;
  Finding f = finding(kind, access, facts, wave, lane);
  const Tensor* const tensor =
      in_arena(address) ? nullptr : known_.tensors().at(address, /*near=*/true);
  if (tensor != nullptr && only_tensors()) {
    const std::uint64_t past = address - tensor->range.end;
    f.message =
        address < tensor->range.end
            ? say<Says::reaches_past_tensor>(role_of(access), access.bytes, address)
            : say<Says::past_tensor>(role_of(access), access.bytes, address, past, tensor->shape);
    f.fix = Fix::index;
  } else {
    const std::string role(role_name(role_of(access)));
    const Error error = elsewhere_ != nullptr
                            ? elsewhere_->describe_fault(address, access.bytes, role)
                            : memory_.describe_fault(address, access.bytes, role);
    f.message = say<Says::text>(error.what);
    if (!error.hint.empty()) f.fix_arguments = {error.hint};
  }
  const auto operation = tile_operation(request_.module->object().source_at(facts.vaddr));
  Missed missed = describe_missed(tensors(), operation, access, lanes);
  f.detail = std::move(missed.lines);
  if (missed.fix != Fix::other && !freed) {
    f.fix = missed.fix;
    f.fix_arguments = std::move(missed.fix_arguments);
  }
  f.detail.push_back(say<Says::lanes_outside>(std::popcount(lanes), std::popcount(access.active)));
  reporter_.add(std::move(f));
}

// ---- LDS, scratch, alignment ----------------------------------------------------------------

void Bounds::report_lds(const LaneAccess& access, const InstructionFacts& facts, const Wave& wave,
                        std::uint64_t lanes) {
  constexpr FindingKind kKind = FindingKind::lds_out_of_bounds;
  if (reporter_.repeat(kKind, facts.vaddr)) return;
  const int lane = std::countr_zero(lanes);
  const std::uint32_t size = wave.group->lds_bytes, dynamic = request_.dynamic_lds_bytes;
  Finding f = finding(kKind, access, facts, wave, lane);
  f.message = say<Says::past_lds>(role_of(access), access.bytes, access.at[lane], size);
  f.detail = {say<Says::lds_size>(size - dynamic, dynamic, access.is_write)};
  // A store whose address is among its own data: it cannot be both.
  const RegisterRange address = facts.use.sources[0], data = facts.use.sources[1];
  if (access.is_write && data.count != 0 && address.first >= data.first &&
      address.first < data.first + data.count) {
    f.detail.push_back(say<Says::address_in_data>(address.first));
    f.fix = Fix::early_clobber;
  } else {
    // A launch without dynamic LDS has static arrays only.
    f.fix = dynamic == 0 ? Fix::lds_index : Fix::dynamic_lds;
  }
  reporter_.add(std::move(f));
}

void Bounds::report_scratch(const LaneAccess& access, const InstructionFacts& facts,
                            const Wave& wave, std::uint64_t lanes) {
  constexpr FindingKind kKind = FindingKind::scratch_out_of_bounds;
  if (reporter_.repeat(kKind, facts.vaddr)) return;
  const int lane = std::countr_zero(lanes);
  Finding f = finding(kKind, access, facts, wave, lane);
  f.message = say<Says::past_scratch>(role_of(access), access.bytes, access.at[lane],
                                      wave.group->scratch_bytes_per_lane);
  f.fix = Fix::scratch_index;
  reporter_.add(std::move(f));
}

void Bounds::report_misaligned(const LaneAccess& access, const InstructionFacts& facts,
                               const Wave& wave, std::uint64_t lanes) {
  constexpr FindingKind kKind = FindingKind::misaligned;
  if (reporter_.repeat(kKind, facts.vaddr)) return;
  const int lane = std::countr_zero(lanes);
  Finding f = finding(kKind, access, facts, wave, lane);
  f.severity = access.is_atomic ? Severity::error : Severity::note;
  f.message = say<Says::misaligned>(role_of(access), access.bytes, access.space == MemorySpace::lds,
                                    access.at[lane]);
  f.fix = access.is_atomic ? Fix::aligned_atomic : Fix::aligned_access;
  reporter_.add(std::move(f));
}

}  // namespace margay::check
