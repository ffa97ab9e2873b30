#include "exec/program/memory_model.h"
#include "exec/state/extra.h"

#include <fmt/format.h>

#include <bit>
#include <string>

namespace margay {
namespace {

bool find_range(Wave& wave, std::uint64_t address, std::uint64_t bytes) {
  for (const AddressRange& range : wave.ranges)
    if (range.contains(address, bytes)) return true;
  AddressRange found;
  auto& known = wave.group->range_cache->ranges;
  for (const AddressRange& range : known)
    if (range.contains(address, bytes)) found = range;
  if (found.end == 0) {
    found = wave.group->memory->accessible_range(address);
    if (!found.contains(address, bytes)) return false;
    known.push_back(found);
  }
  for (std::size_t n = wave.ranges.size() - 1; n > 0; --n) wave.ranges[n] = wave.ranges[n - 1];
  wave.ranges[0] = found;
  return true;
}

bool known_read_only(Wave& wave, std::uint64_t address, std::uint64_t bytes) {
  if (wave.read_only.contains(address, bytes)) return true;
  for (const AddressRange& range : wave.group->range_cache->read_only)
    if (range.contains(address, bytes)) {
      wave.read_only = range;
      return true;
    }
  return false;
}

bool find_read_only(Wave& wave, std::uint64_t address, std::uint64_t bytes) {
  AddressRange found = wave.group->memory->readable_range(address);
  if (!found.contains(address, bytes)) found = wave.group->memory->tolerated_range(address);
  if (!found.contains(address, bytes)) return false;
  wave.group->range_cache->read_only.push_back(found);
  wave.read_only = found;
  return true;
}

/// Known ranges are checked first: a query about read-only memory costs a walk through the
/// process's mappings each time.
bool may_access(Wave& wave, const Instruction& i, std::uint64_t address, std::uint64_t bytes) {
  const bool reads_only = !i.row->is_store && !i.row->is_atomic;
  if (reads_only && known_read_only(wave, address, bytes)) return true;
  return find_range(wave, address, bytes) || (reads_only && find_read_only(wave, address, bytes));
}

Error describe_fault(const Wave& wave, const Instruction& i, std::uint64_t address,
                     std::uint64_t bytes, const char* access) {
  const Memory& memory = *wave.group->memory;
  Error error = memory.describe_fault(address, bytes, access);
  if (i.row->is_load && memory.whole_pages_at(address).contains(address, bytes))
    error.hint += "; the hardware would read on to the end of the page: --whole-pages";
  return error;
}

}  // namespace

bool check_global_slow(Wave& wave, const Instruction& i, const LaneAddresses& lanes,
                       std::uint32_t bytes) {
  for (std::uint64_t rest = lanes.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (may_access(wave, i, lanes.at[lane], bytes)) continue;
    const char* access = i.row->is_atomic ? "atomic" : i.row->is_store ? "write" : "read";
    Error error = describe_fault(wave, i, lanes.at[lane], bytes, access);
    error.where = fmt::format("lane {}", lane);
    (void)wave.fault(i, std::move(error));
    return false;
  }
  return true;
}

std::uint64_t scalar_offset(const Wave& wave, const Instruction& i) {
  const auto immediate = static_cast<std::uint64_t>(std::int64_t{i.offset});
  if (i.src[1].kind() == Source::kNone) return immediate;
  const std::uint64_t counted = scalar_source(wave, i, 1);
  return immediate + (i.row->memory.scalar_scratch ? 64 * counted : counted);
}

ScalarAddress scalar_address(const Wave& wave, const Instruction& i) {
  const std::uint64_t offset = scalar_offset(wave, i);
  if (!i.row->memory.scalar_buffer)
    return {.at = (wave.scalar64(i.src[0].index()) + offset) & ~3ull};
  const BufferResource r = buffer_resource(&wave.s[i.src[0].index()]);
  const std::uint64_t size =
      r.stride == 0 ? r.num_records : std::uint64_t{r.stride} * r.num_records;
  return {.at = r.base + (offset & ~3ull), .end = r.base + size};
}

bool check_scalar_access(Wave& wave, const Instruction& i, std::uint64_t address,
                         std::uint32_t bytes) {
  if (may_access(wave, i, address, bytes)) return true;
  const char* const access = i.row->is_atomic  ? "scalar atomic"
                             : i.row->is_store ? "scalar write"
                                               : "scalar read";
  (void)wave.fault(i, describe_fault(wave, i, address, bytes, access));
  return false;
}

BufferResource buffer_resource(const std::uint32_t* sgprs, bool formatted) {
  BufferResource r;
  r.base = sgprs[0] | std::uint64_t{sgprs[1] & 0xffff} << 32;
  r.stride = sgprs[1] >> 16 & 0x3fff;
  r.swizzle = sgprs[1] >> 31;
  r.num_records = sgprs[2];
  r.data_format = sgprs[3] >> 15 & 15;
  r.element_size = 2u << (sgprs[3] >> 19 & 3);
  r.index_stride = 8u << (sgprs[3] >> 21 & 3);
  r.add_tid = sgprs[3] >> 23 & 1;
  r.type = static_cast<std::uint8_t>(sgprs[3] >> 30);
  if (r.add_tid && !formatted) {
    r.stride |= std::uint32_t{r.data_format} << 14;
    r.data_format = 1;  // not invalid
  }
  return r;
}
BufferResource buffer_resource(const Wave& wave, const Instruction& i) {
  return buffer_resource(&wave.s[i.src[1].index()], (i.extra & extra::kFormatted) != 0);
}

bool check_buffer_slow(Wave& wave, const Instruction& i, const BufferResource& r,
                       std::uint32_t bytes) {
  const std::uint32_t* const sgprs = &wave.s[i.src[1].index()];
  // All zeros is a buffer of no bytes: loads give 0, stores are dropped.
  if ((sgprs[0] | sgprs[1] | sgprs[2] | sgprs[3]) == 0) return true;
  const auto stop = [&](std::string what, std::string hint) {
    (void)wave.fault(i, {ErrorCode::illegal_address, std::move(what), {}, std::move(hint)});
    return false;
  };
  const std::string where =
      fmt::format("the buffer descriptor in s[{}:{}]", i.src[1].index(), i.src[1].index() + 3);
  if (r.type != 0)
    return stop(fmt::format("{} is of type {}, which is no buffer", where, r.type),
                "bits 31:30 of its last dword are 0 in a buffer's; are these the right registers?");
  if (r.data_format == 0)
    return stop(where + " has the data format INVALID: to the hardware it is unbound, and reads 0",
                "put a format into bits 18:15 of its last dword; compilers set that to 0x00020000");
  const bool indexed = (i.extra & extra::kIdxen) != 0 || r.add_tid;
  if (r.swizzle && indexed && r.stride != 0 &&
      (bytes > r.element_size || r.stride % r.element_size != 0))
    return stop(
        fmt::format("{} is swizzled with a stride of {} and elements of {} bytes, which does "
                    "not allow accesses of {} bytes",
                    where, r.stride, r.element_size, bytes),
        "an access must be within one element, and the stride hold whole elements (MI300 ISA "
        "guide, section 9.1.5.2)");
  return true;
}

// Source: MI300 ISA guide 9.1.5 to 9.1.8 (addressing and range checking). It distinguishes three
// kinds of buffers; all others (index with a stride of 0 ...) follow the rules of the most similar
// kind. Swizzling moves the records that an index selects; if an instruction has no index, neither
// its own nor the lane, the buffer is raw: HipKittens' make_srsrc sets the bit and the stride for
// plain byte offsets in rows below 16 KiB, and its kernels are right on CDNA3. Subtracting soffset
// from num_records, which this guide does not mention, follows older guides' description of raw
// buffers, and gem5.
void buffer_addresses(const Wave& wave, const Instruction& i, const BufferResource& r,
                      std::uint32_t bytes, LaneAddresses& out) {
  const std::uint32_t soffset = scalar_source(wave, i, 2);
  const bool offen = i.extra & extra::kOffen, idxen = i.extra & extra::kIdxen;
  const std::uint32_t* index_row = wave.v + std::size_t{i.src[0].index()} * kWaveLanes;
  const std::uint32_t* offset_row = idxen ? index_row + kWaveLanes : index_row;
  const std::uint64_t exec = wave.exec();
  const bool is_private = r.add_tid && !idxen;  // scratch: not checked at all
  const bool structured = r.stride != 0 && idxen;
  const bool swizzled = r.swizzle && r.stride != 0 && (idxen || r.add_tid);
  const std::uint64_t limit = r.num_records > soffset ? r.num_records - soffset : 0;
  out.active = out.out_of_range = out.partial = 0;
  for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
    if (!(exec >> lane & 1)) continue;
    const std::uint64_t index = std::uint64_t{idxen ? index_row[lane] : 0} + (r.add_tid ? lane : 0);
    const std::uint64_t offset =
        std::uint64_t{offen ? offset_row[lane] : 0} + static_cast<std::uint32_t>(i.offset);
    std::uint64_t in_buffer = index * r.stride + offset;
    if (swizzled) {
      const std::uint64_t stride = r.stride, step = r.index_stride, element = r.element_size;
      in_buffer = (index / step * stride + offset / element * element) * step +
                  index % step * element + offset % element;
    }
    const bool outside = structured ? index >= r.num_records : in_buffer + bytes > limit;
    if (outside && !is_private) {
      out.out_of_range |= 1ull << lane;
      continue;
    }
    out.active |= 1ull << lane;
    out.at[lane] = r.base + soffset + in_buffer;
  }
}

}  // namespace margay
