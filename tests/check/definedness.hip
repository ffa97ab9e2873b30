// Values that were never written: where they decide something they are reported, where they are
// only moved they are not.
#include "check_program.h"

#include <cstdlib>

using namespace check_program;

namespace {

constexpr unsigned kThreads = 256;

enum class Use { add, add_returns, one_lane, maximum, exchange, compare_swap, same_place, select };

/// `written` of the tile's entries are, and every lane uses its own.
template <Use kUse>
__global__ void uses(unsigned* out, unsigned written) {
  __shared__ unsigned tile[kThreads];
  const unsigned t = threadIdx.x;
  if (t < written) tile[t] = t;
  __syncthreads();
  const unsigned x = tile[t];
  if constexpr (kUse == Use::add) atomicAdd(&out[t], x);  // BUG add
  if constexpr (kUse == Use::add_returns)
    out[t] = atomicAdd(&out[t + kThreads], x);  // BUG add-returns
  if constexpr (kUse == Use::one_lane)
    if (t == 200) atomicAdd(&out[0], x);                               // BUG one-lane
  if constexpr (kUse == Use::maximum) atomicMax(&out[t], x);           // BUG maximum
  if constexpr (kUse == Use::exchange) atomicExch(&out[t], x);         // BUG exchange
  if constexpr (kUse == Use::compare_swap) atomicCAS(&out[t], 0u, x);  // BUG compare-swap
  if constexpr (kUse == Use::same_place) atomicAdd(&out[0], x);        // BUG same-place
  if constexpr (kUse == Use::select) out[t] = x > 5 ? 1 : 2;           // BUG select
}

template <Use kUse>
bool run_use(bool broken) {
  const DeviceArray<unsigned> out(2 * kThreads, 0u);
  uses<kUse><<<1, kThreads>>>(out.get(), broken ? kThreads / 2 : kThreads);
  finish();
  return true;
}

/// broken: the counters are never set to 0.
template <bool kBroken>
__global__ void counts(const unsigned* in, unsigned* out) {
  __shared__ unsigned counters[64];
  if (!kBroken && threadIdx.x < 64) counters[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&counters[in[threadIdx.x] % 64], 1u);  // BUG counters
  __syncthreads();
  if (threadIdx.x < 64) out[threadIdx.x] = counters[threadIdx.x];
}

bool run_counts(void (*kernel)(const unsigned*, unsigned*)) {
  const DeviceArray<unsigned> in(ramp(kThreads));
  const DeviceArray<unsigned> out(64, 0u);
  kernel<<<1, kThreads>>>(in.get(), out.get());
  finish();
  return matches(out.host(), [](std::size_t) { return kThreads / 64; });
}

/// Through other lanes: DPP, ds_bpermute, a mask of lanes. broken: into a condition.
template <bool kBroken>
__global__ void exchanges(unsigned* out, unsigned written) {
  __shared__ unsigned tile[kThreads];
  const unsigned t = threadIdx.x;
  if (t < written) tile[t] = t;
  __syncthreads();
  unsigned x = __shfl_xor(tile[t], 1);
  x = __builtin_amdgcn_update_dpp(0, x, 0xb1, 0xf, 0xf, false);  // quad_perm: neighbours
  const unsigned long long big = __ballot(x > 100);
  if constexpr (kBroken) {
    if (__popcll(big) > 12)  // BUG ballot
      out[t] = 1;
  } else if (t < written) {
    out[t] = big != 0 ? 1 : 0;
  }
}

bool run_exchanges(void (*kernel)(unsigned*, unsigned)) {
  const DeviceArray<unsigned> out(kThreads, 0u);
  kernel<<<1, kThreads>>>(out.get(), 128u);
  finish();
  return true;
}

// ---- Moved, and never used ----

struct Padded {
  char kind;
  double value;
  short last;
};

/// Structures with padding go through LDS and registers; out_of is written member by member.
__global__ void padding(const Padded* in, Padded* out) {
  __shared__ Padded tile[64];
  const unsigned t = threadIdx.x;
  Padded one;
  one.kind = in[t].kind;
  one.value = in[t].value;
  one.last = in[t].last;
  tile[t] = one;
  __syncthreads();
  out[t] = tile[63 - t];
}

bool run_padding() {
  std::vector<Padded> values(64);
  for (unsigned n = 0; n < 64; ++n)
    values[n] = {static_cast<char>(n), n * 0.5, static_cast<short>(n)};
  const DeviceArray<Padded> in(values);
  const DeviceArray<Padded> out(64);
  padding<<<1, 64>>>(in.get(), out.get());
  finish();
  const auto host = out.host();
  for (unsigned n = 0; n < 64; ++n)
    if (host[n].value != values[63 - n].value || host[n].last != values[63 - n].last) return false;
  return true;
}

/// x, y and z are written, w never is.
__global__ void unused_member(const float* in, float4* out) {
  __shared__ float4 tile[64];
  const unsigned t = threadIdx.x;
  tile[t].x = in[t];
  tile[t].y = in[t] + 1;
  tile[t].z = in[t] + 2;
  __syncthreads();
  out[t] = tile[63 - t];
}

bool run_unused_member() {
  const DeviceArray<float> in(ramp(64, 1.0f));
  const DeviceArray<float4> out(64);
  unused_member<<<1, 64>>>(in.get(), out.get());
  finish();
  const auto host = out.host();
  for (unsigned n = 0; n < 64; ++n)
    if (host[n].x != 63.0f - n || host[n].z != 65.0f - n) return false;
  return true;
}

/// Of each dword of LDS only one half, or one byte, is written; the dword is read and that part of
/// it is stored.
__global__ void parts(const unsigned* in, unsigned short* halves, unsigned char* bytes) {
  __shared__ unsigned tile[128];
  const unsigned t = threadIdx.x;
  reinterpret_cast<unsigned short*>(&tile[t])[1] = static_cast<unsigned short>(in[t]);
  reinterpret_cast<unsigned char*>(&tile[64 + t])[2] = static_cast<unsigned char>(in[t]);
  __syncthreads();
  const volatile unsigned* const whole = tile;
  halves[t] = static_cast<unsigned short>(whole[63 - t] >> 16);
  bytes[t] = static_cast<unsigned char>(whole[127 - t] >> 16 & 0xff);
}

bool run_parts() {
  const DeviceArray<unsigned> in(ramp(64, 3u));
  const DeviceArray<unsigned short> halves(64);
  const DeviceArray<unsigned char> bytes(64);
  parts<<<1, 64>>>(in.get(), halves.get(), bytes.get());
  finish();
  return matches(halves.host(), [](std::size_t n) { return (63 - n) * 3; }) &&
         matches(bytes.host(), [](std::size_t n) { return (63 - n) * 3; });
}

struct Bits {
  unsigned low : 3;
  unsigned high : 5;
  unsigned rest : 24;
};

/// Bit fields are written one after the other in uninitialised memory, and tested.
__global__ void bit_fields(const unsigned* in, unsigned* out) {
  __shared__ Bits tile[64];
  const unsigned t = threadIdx.x;
  volatile Bits& own = tile[t];
  own.low = in[t] & 7;
  own.high = in[t] >> 3 & 31;
  __syncthreads();
  volatile Bits& other = tile[63 - t];
  if (other.high > 3) out[t] = other.low;
}

bool run_bit_fields() {
  const DeviceArray<unsigned> in(ramp(64, 3u));
  const DeviceArray<unsigned> out(64, 99u);
  bit_fields<<<1, 64>>>(in.get(), out.get());
  finish();
  return matches(out.host(), [](std::size_t n) {
    const unsigned x = static_cast<unsigned>(63 - n) * 3;
    return (x >> 3 & 31) > 3 ? x & 7 : 99;
  });
}

/// A copy of a buffer that is filled in part, for use of that part.
__global__ void copies(const unsigned* in, unsigned* out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void adds(const unsigned* in, unsigned* out, unsigned count) {
  if (threadIdx.x < count) out[threadIdx.x] = in[threadIdx.x] + 1;
}

__global__ void adds_up(const unsigned* in, unsigned* out) {
  atomicAdd(out, in[threadIdx.x]);  // BUG moved-on
}

bool run_partly_filled() {
  const DeviceArray<unsigned> in(64);
  const std::vector<unsigned> values = ramp(64, 3u);
  expect(hipMemcpy(in.get(), values.data(), 128, hipMemcpyHostToDevice));
  const DeviceArray<unsigned> copy(64);
  const DeviceArray<unsigned> out(32);
  copies<<<1, 64>>>(in.get(), copy.get());
  adds<<<1, 64>>>(copy.get(), out.get(), 32);
  finish();
  return matches(out.host(), [](std::size_t n) { return n * 3 + 1; });
}

/// broken: the second kernel uses what the first has only moved.
bool run_moved_on() {
  const DeviceArray<unsigned> in(64);
  const std::vector<unsigned> values = ramp(64, 3u);
  expect(hipMemcpy(in.get(), values.data(), 128, hipMemcpyHostToDevice));
  const DeviceArray<unsigned> copy(64);
  const DeviceArray<unsigned> out(64, 0u);
  copies<<<1, 64>>>(in.get(), copy.get());
  adds_up<<<1, 64>>>(copy.get(), out.get());
  finish();
  return true;
}

/// Each workgroup hands a sum to the next one, as scans by look-back do. That of the last one is
/// undefined, and is not read.
/// broken: that of the first one is undefined, too.
template <bool broken>
__global__ void hands_on(const unsigned* in, unsigned* sums, unsigned* flags, unsigned* out) {
  __shared__ unsigned sum;
  const unsigned block = blockIdx.x;
  if (threadIdx.x != 0) return;
  if (block + 1 < gridDim.x && !(broken && block == 0)) sum = in[block];
  __hip_atomic_store(&sums[block], sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_store(&flags[block], 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  if (block == 0) return;
  while (__hip_atomic_load(&flags[block - 1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) {
  }
  const unsigned before =
      __hip_atomic_load(&sums[block - 1], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  atomicAdd(&out[block], before);  // BUG hands-on
}
template <bool broken>
bool run_hands_on() {
  const DeviceArray<unsigned> in(ramp(3, 5u, 2u)), sums(3), flags(3, 0u), out(3, 0u);
  hands_on<broken><<<3, 64>>>(in.get(), sums.get(), flags.get(), out.get());
  finish();
  return matches(out.host(), [](std::size_t n) { return n == 0 ? 0 : n * 5 - 3; });
}

// ---- The host's side ----

__global__ void fills(unsigned* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 7; }

/// `blocks` of four.
bool run_grid(unsigned blocks) {
  const DeviceArray<unsigned> out(4 * 64);
  fills<<<blocks, 64>>>(out.get());
  finish();
  return matches(out.host(), [](std::size_t) { return 7; });
}

bool run_host_write(bool broken) {
  unsigned *in = nullptr, *out = nullptr;
  expect(broken ? hipMalloc(reinterpret_cast<void**>(&in), 256)
                : hipMallocManaged(reinterpret_cast<void**>(&in), 256));
  for (unsigned n = 0; n < 64; ++n) in[n] = n;
  expect(hipMalloc(reinterpret_cast<void**>(&out), 256));
  adds<<<1, 64>>>(in, out, 64);
  finish();
  std::vector<unsigned> host(64);
  expect(hipMemcpy(host.data(), out, 256, hipMemcpyDeviceToHost));
  expect(hipFree(in));
  expect(hipFree(out));
  return matches(host, [](std::size_t n) { return n + 1; });
}

bool run_pageable(bool registered) {
  auto* const in = static_cast<unsigned*>(std::malloc(256));
  for (unsigned n = 0; n < 64; ++n) in[n] = n;
  if (registered) expect(hipHostRegister(in, 256, 0));
  const DeviceArray<unsigned> out(64);
  adds<<<1, 64>>>(in, out.get(), 64);
  finish();
  if (registered) expect(hipHostUnregister(in));
  std::free(in);
  return matches(out.host(), [](std::size_t n) { return n + 1; });
}

/// broken: `out` is never set to 0. That it is copied to the host is no second fault.
__global__ void totals(unsigned* out) {
  atomicAdd(&out[threadIdx.x % 4], 1u);  // BUG totals
}
bool run_totals(bool broken) {
  const DeviceArray<unsigned> set(4, 0u), unset(4);
  const DeviceArray<unsigned>& out = broken ? unset : set;
  totals<<<2, 64>>>(out.get());
  finish();
  return matches(out.host(), [](std::size_t) { return 32u; });
}

/// Only what the kernel accesses matters: the first two of `places` are used, the others never set.
struct Places {
  const unsigned* in;
  unsigned* out;
  const void* unused[4];
};
__global__ void adds_by_places(Places places) {
  places.out[threadIdx.x] = places.in[threadIdx.x] + 1;
}
bool run_unused_pointers(bool on_host) {
  unsigned stack[64];
  for (unsigned n = 0; n < 64; ++n) stack[n] = n;
  const DeviceArray<unsigned> in(ramp(64)), out(64);
  const unsigned* const used = on_host ? stack : in.get();
  adds_by_places<<<1, 64>>>({used, out.get(), {&in, stack, stack + 32, stack + 100}});
  finish();
  return matches(out.host(), [](std::size_t n) { return n + 1; });
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"add-broken", [] { return run_use<Use::add>(true); }},
                   {"add-fixed", [] { return run_use<Use::add>(false); }},
                   {"add-returns-broken", [] { return run_use<Use::add_returns>(true); }},
                   {"add-returns-fixed", [] { return run_use<Use::add_returns>(false); }},
                   {"one-lane-broken", [] { return run_use<Use::one_lane>(true); }},
                   {"one-lane-fixed", [] { return run_use<Use::one_lane>(false); }},
                   {"maximum-broken", [] { return run_use<Use::maximum>(true); }},
                   {"maximum-fixed", [] { return run_use<Use::maximum>(false); }},
                   {"exchange-broken", [] { return run_use<Use::exchange>(true); }},
                   {"exchange-fixed", [] { return run_use<Use::exchange>(false); }},
                   {"compare-swap-broken", [] { return run_use<Use::compare_swap>(true); }},
                   {"compare-swap-fixed", [] { return run_use<Use::compare_swap>(false); }},
                   {"same-place-broken", [] { return run_use<Use::same_place>(true); }},
                   {"same-place-fixed", [] { return run_use<Use::same_place>(false); }},
                   {"select-broken", [] { return run_use<Use::select>(true); }},
                   {"select-fixed", [] { return run_use<Use::select>(false); }},
                   {"counters-broken", [] { return run_counts(counts<true>); }},
                   {"counters-fixed", [] { return run_counts(counts<false>); }},
                   {"ballot-broken", [] { return run_exchanges(exchanges<true>); }},
                   {"ballot-fixed", [] { return run_exchanges(exchanges<false>); }},
                   {"padding", run_padding},
                   {"unused-member", run_unused_member},
                   {"parts", run_parts},
                   {"bit-fields", run_bit_fields},
                   {"partly-filled", run_partly_filled},
                   {"moved-on-broken", run_moved_on},
                   {"hands-on-broken", run_hands_on<true>},
                   {"hands-on-fixed", run_hands_on<false>},
                   {"grid-broken", [] { return run_grid(3); }},
                   {"grid-fixed", [] { return run_grid(4); }},
                   {"host-write-broken", [] { return run_host_write(true); }},
                   {"host-write-fixed", [] { return run_host_write(false); }},
                   {"pageable", [] { return run_pageable(false); }},
                   {"registered", [] { return run_pageable(true); }},
                   {"totals-broken", [] { return run_totals(true); }},
                   {"totals-fixed", [] { return run_totals(false); }},
                   {"unused-pointers", [] { return run_unused_pointers(false); }},
                   {"stack", [] { return run_unused_pointers(true); }}});
}
