#include "exec/memory_model.h"

#include <fmt/format.h>

#include <bit>

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

}  // namespace

bool check_global_slow(Wave& wave, const Instruction& i, const LaneAddresses& lanes,
                       std::uint32_t bytes) {
  for (std::uint64_t rest = lanes.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (find_range(wave, lanes.at[lane], bytes)) continue;
    const char* access = i.row->is_atomic ? "atomic" : i.row->is_store ? "write" : "read";
    Error error = wave.group->memory->describe_fault(lanes.at[lane], bytes, access);
    error.where = fmt::format("lane {}", lane);
    (void)wave.fault(i, std::move(error));
    return false;
  }
  return true;
}

bool check_scalar_access(Wave& wave, const Instruction& i, std::uint64_t address,
                         std::uint32_t bytes) {
  if (find_range(wave, address, bytes)) return true;
  (void)wave.fault(i, wave.group->memory->describe_fault(address, bytes, "scalar read"));
  return false;
}

BufferResource buffer_resource(const std::uint32_t* sgprs) {
  BufferResource r;
  r.base = sgprs[0] | std::uint64_t{sgprs[1] & 0xffff} << 32;
  r.stride = sgprs[1] >> 16 & 0x3fff;
  r.swizzle = sgprs[1] >> 31;
  r.num_records = sgprs[2];
  r.element_size = 2u << (sgprs[3] >> 19 & 3);
  r.index_stride = 8u << (sgprs[3] >> 21 & 3);
  r.add_tid = sgprs[3] >> 23 & 1;
  return r;
}

// Source: MI300 ISA guide 9.1.5 to 9.1.8 (addressing and range checking of untyped buffers).
void buffer_addresses(const Wave& wave, const Instruction& i, std::uint32_t bytes,
                      LaneAddresses& out) {
  const BufferResource r = buffer_resource(&wave.s[i.src[1].index()]);
  const std::uint32_t soffset = scalar_source(wave, i, 2);
  const bool offen = i.extra & extra::kOffen, idxen = i.extra & extra::kIdxen;
  const std::uint32_t* index_row = wave.v + std::size_t{i.src[0].index()} * kWaveLanes;
  const std::uint32_t* offset_row = idxen ? index_row + kWaveLanes : index_row;
  const std::uint64_t exec = wave.exec();
  const bool structured = r.stride != 0 && (r.swizzle || idxen || r.add_tid);
  out.active = out.out_of_range = 0;
  for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
    if (!(exec >> lane & 1)) continue;
    const std::uint64_t index = std::uint64_t{idxen ? index_row[lane] : 0} + (r.add_tid ? lane : 0);
    const std::uint64_t offset =
        std::uint64_t{offen ? offset_row[lane] : 0} + static_cast<std::uint32_t>(i.offset);
    bool outside;
    std::uint64_t in_buffer;
    if (r.swizzle && r.stride != 0) {
      const std::uint64_t stride = r.stride, step = r.index_stride, element = r.element_size;
      in_buffer = (index / step * stride + offset / element * element) * step +
                  index % step * element + offset % element;
      outside = index >= r.num_records || offset + bytes > stride;
    } else {
      in_buffer = index * r.stride + offset;
      // Raw: num_records counts bytes, and soffset is not part of the check's offset.
      outside = structured
                    ? index >= r.num_records || offset + bytes > r.stride
                    : in_buffer + bytes >
                          (r.num_records > soffset ? std::uint64_t{r.num_records} - soffset : 0);
    }
    if (outside) {
      out.out_of_range |= 1ull << lane;
      continue;
    }
    out.active |= 1ull << lane;
    out.at[lane] = r.base + soffset + in_buffer;
  }
}

}  // namespace margay
