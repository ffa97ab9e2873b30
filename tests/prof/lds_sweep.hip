// Every width of LDS access with strides of 0 to 64 dwords, with some lanes off, and with random
// addresses: what the profiler counts must be what the published facts give, worked out here again.
//
// - Lanes served together: b32 lanes 0-31 and 32-63; 64-bit accesses 16 consecutive lanes; 128-bit
//   reads eight lanes in the order below, 128-bit writes eight consecutive ones (AMD's
//   composable_kernel documentation on bank conflicts; PYHIP microbenchmarks on MI300). Not
//   published, and so only agreed on: 8 and 16 bits as 32, 96 bits as 128, 64-bit writes as reads;
//   atomics that meet on a dword take turns.
// - Distinct dwords of one of the 32 banks take a cycle each; a dword goes to any number of lanes
//   (rocprofiler-compute's documentation).
// - Measured time of b32 reads by stride on MI300 (PYHIP), in units of its own.
#include <hip/hip_runtime.h>

#include <margay/profile.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using Addresses = std::array<unsigned, 64>;
constexpr unsigned kOff = ~0u;  // this lane does nothing

using Dwords2 = unsigned __attribute__((ext_vector_type(2)));
using Dwords3 = unsigned __attribute__((ext_vector_type(3)));
using Dwords4 = unsigned __attribute__((ext_vector_type(4)));

__device__ unsigned lds_address(void* p) {
  return static_cast<unsigned>(
      reinterpret_cast<std::size_t>((__attribute__((address_space(3))) void*)p));
}

// A kernel for each instruction; its operands follow the address.
#define LDS_KERNEL(name, text, ...)                                                      \
  __global__ void name(const unsigned* addresses) {                                      \
    __shared__ char bytes[65536];                                                        \
    const unsigned at = addresses[threadIdx.x];                                          \
    const unsigned address = lds_address(bytes) + at;                                    \
    [[maybe_unused]] Dwords4 v4{};                                                       \
    [[maybe_unused]] Dwords3 v3{};                                                       \
    [[maybe_unused]] Dwords2 v2{};                                                       \
    [[maybe_unused]] unsigned v1 = 0;                                                    \
    if (at != kOff) asm volatile(text "\n s_waitcnt lgkmcnt(0)" __VA_ARGS__ : "memory"); \
  }
LDS_KERNEL(read_u8, "ds_read_u8 %0, %1", : "=&v"(v1) : "v"(address))
LDS_KERNEL(read_u16, "ds_read_u16 %0, %1", : "=&v"(v1) : "v"(address))
LDS_KERNEL(read_b32, "ds_read_b32 %0, %1", : "=&v"(v1) : "v"(address))
LDS_KERNEL(read_b64, "ds_read_b64 %0, %1", : "=&v"(v2) : "v"(address))
LDS_KERNEL(read_b96, "ds_read_b96 %0, %1", : "=&v"(v3) : "v"(address))
LDS_KERNEL(read_b128, "ds_read_b128 %0, %1", : "=&v"(v4) : "v"(address))
LDS_KERNEL(read2_b32, "ds_read2_b32 %0, %1 offset0:3 offset1:200", : "=&v"(v2) : "v"(address))
LDS_KERNEL(write_b8, "ds_write_b8 %0, %1", ::"v"(address), "v"(v1))
LDS_KERNEL(write_b16, "ds_write_b16 %0, %1", ::"v"(address), "v"(v1))
LDS_KERNEL(write_b32, "ds_write_b32 %0, %1", ::"v"(address), "v"(v1))
LDS_KERNEL(write_b64, "ds_write_b64 %0, %1", ::"v"(address), "v"(v2))
LDS_KERNEL(write_b96, "ds_write_b96 %0, %1", ::"v"(address), "v"(v3))
LDS_KERNEL(write_b128, "ds_write_b128 %0, %1", ::"v"(address), "v"(v4))
LDS_KERNEL(write2_b64, "ds_write2_b64 %0, %1, %2 offset0:1 offset1:7", ::"v"(address), "v"(v2),
           "v"(v2))
LDS_KERNEL(add_f32, "ds_add_f32 %0, %1", ::"v"(address), "v"(v1))
LDS_KERNEL(add_rtn_f32, "ds_add_rtn_f32 %0, %1, %2", : "=&v"(v1) : "v"(address), "v"(v1))
LDS_KERNEL(add_f64, "ds_add_f64 %0, %1", ::"v"(address), "v"(v2))
LDS_KERNEL(pk_add_f16, "ds_pk_add_f16 %0, %1", ::"v"(address), "v"(v1))

struct Operation {
  const char* name;
  void (*kernel)(const unsigned*);
  unsigned bytes;
  bool is_write = false, is_atomic = false;
  std::vector<unsigned> offsets = {0};  // in bytes: two for read2 and write2
};
const std::vector<Operation> kOperations = {
    {"read_u8", read_u8, 1},
    {"read_u16", read_u16, 2},
    {"read_b32", read_b32, 4},
    {"read_b64", read_b64, 8},
    {"read_b96", read_b96, 12},
    {"read_b128", read_b128, 16},
    {"read2_b32", read2_b32, 4, false, false, {12, 800}},
    {"write_b8", write_b8, 1, true},
    {"write_b16", write_b16, 2, true},
    {"write_b32", write_b32, 4, true},
    {"write_b64", write_b64, 8, true},
    {"write_b96", write_b96, 12, true},
    {"write_b128", write_b128, 16, true},
    {"write2_b64", write2_b64, 8, true, false, {8, 56}},
    {"add_f32", add_f32, 4, true, true},
    {"add_rtn_f32", add_rtn_f32, 4, true, true},
    {"add_f64", add_f64, 8, true, true},
    {"pk_add_f16", pk_add_f16, 4, true, true},
};

struct Cycles {
  long all = 0, bank = 0, address = 0;
  bool operator==(const Cycles&) const = default;
};

// Which lanes are served together: lane numbers, group after group.
std::vector<std::vector<unsigned>> groups_of(const Operation& op) {
  if (op.bytes > 8 && !op.is_write) {
    std::vector<std::vector<unsigned>> groups;
    for (unsigned half : {0u, 32u})
      for (auto [a, b] : {std::pair{0u, 20u}, {4u, 16u}, {8u, 28u}, {12u, 24u}}) {
        auto& group = groups.emplace_back();
        for (unsigned n = 0; n < 4; ++n) group.push_back(half + a + n);
        for (unsigned n = 0; n < 4; ++n) group.push_back(half + b + n);
      }
    return groups;
  }
  const unsigned size = op.bytes <= 4 ? 32 : op.bytes <= 8 ? 16 : 8;
  std::vector<std::vector<unsigned>> groups(64 / size);
  for (unsigned lane = 0; lane < 64; ++lane) groups[lane / size].push_back(lane);
  return groups;
}

Cycles expected(const Operation& op, const Addresses& at) {
  Cycles total;
  for (unsigned offset : op.offsets)
    for (const auto& group : groups_of(op)) {
      std::map<unsigned, std::set<unsigned>> dwords;  // by bank
      std::map<unsigned, long> requests;
      for (unsigned lane : group) {
        if (at[lane] == kOff) continue;
        const unsigned first = (at[lane] + offset) / 4;
        const unsigned last = (at[lane] + offset + op.bytes - 1) / 4;
        for (unsigned dword = first; dword <= last; ++dword) {
          dwords[dword % 32].insert(dword);
          ++requests[dword % 32];
        }
      }
      long ways = 1, turns = 1;
      for (const auto& [bank, of_bank] : dwords) ways = std::max<long>(ways, of_bank.size());
      for (const auto& [bank, count] : requests) turns = std::max(turns, count);
      if (!op.is_atomic) turns = ways;
      total.all += turns;
      total.bank += ways - 1;
      total.address += turns - ways;
    }
  return total;
}

class Sweep {
 public:
  Sweep() {
    if (hipMalloc(&device_, sizeof(Addresses)) != hipSuccess) std::exit(2);
  }
  ~Sweep() { static_cast<void>(hipFree(device_)); }

  Cycles counted(const Operation& op, const Addresses& at) {
    if (hipMemcpy(device_, at.data(), sizeof at, hipMemcpyHostToDevice) != hipSuccess) std::exit(2);
    margay::ProfileScope scope;
    op.kernel<<<1, 64>>>(device_);
    if (hipDeviceSynchronize() != hipSuccess) std::exit(2);
    const auto profile = scope.end();
    const auto k = profile.kernel(op.name);
    return {std::lround(k["SQ_LDS_IDX_ACTIVE"]), std::lround(k["SQ_LDS_BANK_CONFLICT"]),
            std::lround(k["SQ_LDS_ADDR_CONFLICT"])};
  }

  void compare(const Operation& op, const Addresses& at, const std::string& what) {
    const Cycles real = counted(op, at), wanted = expected(op, at);
    ++compared;
    if (real == wanted) return;
    if (++failures <= 20)
      std::printf("%s, %s: %ld cycles, %ld bank, %ld address; expected %ld, %ld, %ld\n", op.name,
                  what.c_str(), real.all, real.bank, real.address, wanted.all, wanted.bank,
                  wanted.address);
  }

  void check(bool ok, const std::string& what) {
    ++compared;
    if (ok) return;
    ++failures;
    std::printf("not so: %s\n", what.c_str());
  }

  int compared = 0, failures = 0;

 private:
  unsigned* device_ = nullptr;
};

Addresses strided(unsigned bytes) {
  Addresses at;
  for (unsigned lane = 0; lane < 64; ++lane) at[lane] = lane * bytes;
  return at;
}

void sweep_strides(Sweep& sweep) {
  for (const Operation& op : kOperations)
    for (unsigned stride = 0; stride <= 64; ++stride) {
      // Atomics have to be aligned; of the others MI300 takes any dword.
      const unsigned unit = op.is_atomic ? op.bytes : std::min(op.bytes, 4u);
      sweep.compare(op, strided(stride * unit), "stride " + std::to_string(stride));
    }
}

void sweep_masks_and_random(Sweep& sweep) {
  std::mt19937 random(2024);
  for (const Operation& op : kOperations) {
    for (unsigned lane : {0u, 31u, 32u, 63u}) {
      Addresses one;
      one.fill(kOff);
      one[lane] = 4096;
      sweep.compare(op, one, "only lane " + std::to_string(lane));
    }
    const unsigned unit = op.is_atomic ? op.bytes : std::min(op.bytes, 4u);
    for (int n = 0; n < 12; ++n) {
      Addresses at;
      const unsigned range = n % 2 == 0 ? 64 : 3000;  // many lanes on a dword, or few
      for (unsigned& a : at) a = random() % 5 == 0 ? kOff : random() % range * unit;
      at[random() % 64] = 0;  // some lane is on
      sweep.compare(op, at, "random " + std::to_string(n));
    }
  }
}

// The facts themselves, without the reckoning above.
void published(Sweep& sweep) {
  const Operation& read = kOperations[2];
  const std::map<unsigned, double> measured = {{0, 358},  {1, 358},   {2, 474},  {4, 907},
                                               {8, 1806}, {16, 3600}, {32, 7196}};
  for (const auto& [stride, time] : measured) {
    // 64 cycles at stride 32; the issue of an instruction takes 3.2 of these.
    const double cycles = std::max(3.2, double(sweep.counted(read, strided(4 * stride)).all));
    const double wanted = time / measured.at(32) * 64;
    sweep.check(std::abs(cycles - wanted) < 0.06 * wanted,
                "stride " + std::to_string(stride) + " takes " + std::to_string(wanted) +
                    " cycles, not " + std::to_string(cycles));
  }
  for (unsigned stride = 1; stride <= 63; stride += 2)
    sweep.check(sweep.counted(read, strided(4 * stride)) == Cycles{2, 0, 0},
                "no conflicts at the odd stride " + std::to_string(stride));
  const Cycles worst = sweep.counted(read, strided(4 * 32));
  sweep.check(32 * worst.bank == 31 * worst.all, "of the worst conflict 31/32 is lost");
  Addresses one;
  one.fill(kOff);
  one[5] = 20;
  sweep.check(sweep.counted(read, one).all == 2, "one active lane takes 2 cycles");
  // One wave receives 128 bytes per cycle without conflicts (white paper: 128 B/clk/CU).
  sweep.check(sweep.counted(kOperations[3], strided(8)) == Cycles{4, 0, 0}, "b64 side by side");
  sweep.check(sweep.counted(kOperations[5], strided(16)) == Cycles{8, 0, 0}, "b128 side by side");
}

int main() {
  Sweep sweep;
  published(sweep);
  sweep_strides(sweep);
  sweep_masks_and_random(sweep);
  std::printf("%d compared, %d wrong\n", sweep.compared, sweep.failures);
  return sweep.failures == 0 ? 0 : 1;
}
