// What `margay prof` and `margay compare` are tried on: programs [WORD...], each word one thing to
// do.
#include <hip/hip_runtime.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

// Each lane reads its own row of 33 floats (no bank conflicts) or of 32 (32 ways) in LDS.
template <int kRow>
__global__ void rows(float* out) {
  __shared__ float tile[64 * kRow];
  for (unsigned n = threadIdx.x; n < 64 * kRow; n += 64) tile[n] = static_cast<float>(n);
  __syncthreads();
  float sum = 0;
  for (int n = 0; n < 8; ++n) sum += tile[threadIdx.x * kRow + n * 4];
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

// One float in 32: each lane a line of its own.
__global__ void scattered(const float* in, float* out) {
  out[threadIdx.x] = in[32 * threadIdx.x];  // LINE scattered
}

// Whole lines, if `in` and `out` begin with one.
__global__ void copied(const float4* in, float4* out) {
  out[blockIdx.x * 256 + threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
}

// In memory of the host, the given number of bytes after a page boundary.
void copied_at(std::size_t offset, bool on_device) {
  constexpr std::size_t kBytes = 64 * 256 * sizeof(float4);
  char *in = nullptr, *out = nullptr;
  if (on_device) {
    if (hipMalloc(&in, kBytes) != hipSuccess || hipMalloc(&out, kBytes) != hipSuccess) std::abort();
  } else {
    in = static_cast<char*>(std::aligned_alloc(4096, kBytes + 16384)) + offset;
    out = static_cast<char*>(std::aligned_alloc(4096, kBytes + 16384)) + 3 * offset;
  }
  copied<<<64, 256>>>(reinterpret_cast<float4*>(in), reinterpret_cast<float4*>(out));
}

bool copies_all() {
  constexpr std::size_t kFloats = 64 * 256 * 4;
  float *in = nullptr, *out = nullptr;
  if (hipMallocManaged(&in, kFloats * 4) != hipSuccess ||
      hipMallocManaged(&out, kFloats * 4) != hipSuccess)
    std::abort();
  for (std::size_t n = 0; n < kFloats; ++n) in[n] = static_cast<float>(n);
  copied<<<64, 256>>>(reinterpret_cast<float4*>(in), reinterpret_cast<float4*>(out));
  if (hipDeviceSynchronize() != hipSuccess) return false;
  for (std::size_t n = 0; n < kFloats; ++n)
    if (out[n] != in[n]) return false;
  return true;
}

__global__ void past_the_end(float* out) { out[1ull << 36] = 1; }

__global__ void stream_copy(const float4* from, float4* to) {
  const unsigned n = blockIdx.x * blockDim.x + threadIdx.x;
  to[n] = from[n];
}

/// Each work-item scales a row of its own by its own factor.
constexpr unsigned kScaled = 512;
__global__ void scale_rows(const float* from, const float* factors, float* to) {
  const std::size_t row = blockIdx.x * blockDim.x + threadIdx.x;
  const float factor = factors[row];
  for (unsigned n = 0; n < kScaled; ++n) to[row * kScaled + n] = from[row * kScaled + n] * factor;
}

/// Each workgroup waits for what the one before it writes.
__global__ void chain(unsigned* flags) {
  while (blockIdx.x != 0 &&
         __hip_atomic_load(&flags[blockIdx.x - 1], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0)
    __builtin_amdgcn_s_sleep(1);
  __hip_atomic_store(&flags[blockIdx.x], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

/// 512 rows of 8 workgroups each read a strip of 32 KiB of both tensors, as those of a matrix
/// product do. Every eighth is on the same XCD: one column of the grid, or a rectangle.
constexpr unsigned kStripRows = 512, kStrip = 2048;
template <bool rectangle>
__global__ void strips(const float4* a, const float4* b, float4* out) {
  const unsigned xcd = blockIdx.x % 8, place = blockIdx.x / 8;
  const unsigned row = rectangle ? xcd * (kStripRows / 8) + place / 8 : place;
  const unsigned column = rectangle ? place % 8 : xcd;
  float4 sum = {};
  for (unsigned n = threadIdx.x; n < kStrip; n += 256)
    sum += a[row * kStrip + n] + b[column * kStrip + n];
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}
template <bool rectangle>
void run_strips() {
  constexpr std::size_t kBytes = kStripRows * kStrip * sizeof(float4);
  float4 *a = nullptr, *b = nullptr, *out = nullptr;
  if (hipMalloc(&a, kBytes) != hipSuccess ||
      hipMalloc(&b, 8 * kStrip * sizeof(float4)) != hipSuccess ||
      hipMalloc(&out, kStripRows * 8 * 256 * sizeof(float4)) != hipSuccess)
    return;
  if (hipMemset(a, 0, kBytes) == hipSuccess) strips<rectangle><<<kStripRows * 8, 256>>>(a, b, out);
  (void)hipDeviceSynchronize();
  for (float4* const one : {a, b, out}) (void)hipFree(one);
}

/// Eight workgroups in a row read 64 KiB together, each 4 KiB of its own, and all of them a table.
__global__ void shares(const float4* shared, const float4* own, const float4* table, float4* out) {
  float4 sum = {};
  for (unsigned n = threadIdx.x; n < 4096; n += 256) sum += shared[blockIdx.x / 8 * 4096 + n];
  sum += own[blockIdx.x * 256 + threadIdx.x];
  for (unsigned n = threadIdx.x; n < 16384; n += 256) sum += table[n];
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}
/// Tensors are allocated by themselves, or all of them are in one pool with others in between.
void run_shares(bool pooled) {
  constexpr unsigned kWorkgroups = 2432;
  const std::size_t bytes[] = {std::size_t{kWorkgroups} * 8192, std::size_t{kWorkgroups} * 4096,
                               1 << 18, std::size_t{kWorkgroups} * 4096};
  constexpr std::size_t kPool = std::size_t{1} << 28;
  float4* tensors[4] = {};
  char* pool = nullptr;
  if (pooled && hipMalloc(&pool, 4 * kPool) != hipSuccess) return;
  for (unsigned n = 0; n < 4; ++n) {
    if (pooled)
      tensors[n] = reinterpret_cast<float4*>(pool + n * kPool);
    else if (hipMalloc(&tensors[n], bytes[n]) != hipSuccess)
      return;
  }
  shares<<<kWorkgroups, 256>>>(tensors[0], tensors[1], tensors[2], tensors[3]);
  (void)hipDeviceSynchronize();
  if (pooled)
    (void)hipFree(pool);
  else
    for (float4* const tensor : tensors) (void)hipFree(tensor);
}

__global__ void nothing() {}

/// The workgroups of the first XCD do nothing of what the others do.
__global__ void paths(float* out) {
  float sum = static_cast<float>(threadIdx.x);
  if (blockIdx.x % 8 == 0)
    for (int n = 0; n < 200; ++n) sum = sum * 0.5f + 1;
  else
    for (int n = 0; n < 2000; ++n) sum = __builtin_sqrtf(sum) + 2;
  out[threadIdx.x] = sum;
}

/// Workgroups have 1, 2 ... times as much to do, the last ones or the first ones most.
__global__ void triangle(float* out, bool is_ascending) {
  const unsigned trips = is_ascending ? blockIdx.x + 1 : gridDim.x - blockIdx.x;
  float sum = static_cast<float>(threadIdx.x);
  for (unsigned n = 0; n < trips; ++n)
    for (int k = 0; k < 4; ++k) sum = sum * 0.5f + 1;
  out[threadIdx.x] = sum;
}

/// The same with memory that no other workgroup reads: 4 KiB times 1, 2 ... 32.
constexpr unsigned kReaders = 4096, kAlike = kReaders / 32;
__global__ void reads(const float4* in, float* out, bool is_ascending) {
  const unsigned place = is_ascending ? blockIdx.x : gridDim.x - 1 - blockIdx.x;
  const unsigned trips = place / kAlike + 1;
  const unsigned before = kAlike * trips * (trips - 1) / 2 + place % kAlike * trips;
  float sum = 0;
  for (unsigned n = 0; n < trips; ++n) {
    const float4 next = in[(before + n) * 256 + threadIdx.x];
    sum += next.x + next.y + next.z + next.w;
  }
  out[threadIdx.x] = sum;
}

void run_reads(bool is_ascending, float* out) {
  float4* in = nullptr;
  if (hipMalloc(&in, kAlike * 32 * 33 / 2 * 4096) != hipSuccess) return;
  reads<<<kReaders, 256>>>(in, out, is_ascending);
  (void)hipDeviceSynchronize();
  (void)hipFree(in);
}

/// The first `working` workgroups read 256 KiB each, the others end at once.
__global__ void some(const float4* in, float4* out, unsigned working) {
  if (blockIdx.x >= working) return;
  constexpr unsigned kEach = 16384;
  float4 sum = {};
#pragma unroll 8
  for (unsigned n = threadIdx.x; n < kEach; n += 256) sum += in[blockIdx.x * kEach + n];
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}
/// "32/48": 32 of 48 workgroups have work.
void run_some(const std::string& how_many) {
  const auto working = static_cast<unsigned>(std::stoul(how_many));
  const auto grid = static_cast<unsigned>(std::stoul(how_many.substr(how_many.find('/') + 1)));
  const std::size_t bytes = std::size_t{working} << 18;
  float4 *in = nullptr, *out = nullptr;
  if (hipMalloc(&in, bytes) != hipSuccess || hipMalloc(&out, bytes) != hipSuccess) return;
  if (hipMemset(in, 0, bytes) == hipSuccess) some<<<grid, 256>>>(in, out, working);
  (void)hipDeviceSynchronize();
  (void)hipFree(in);
  (void)hipFree(out);
}

/// Each workgroup follows the same chain through lines that no cache has.
__global__ void chase(const unsigned* next, unsigned* out) {
  unsigned at = 0;
  for (int step = 0; step < 100; ++step) at = next[at + threadIdx.x / 64];
  if (threadIdx.x == 0) out[blockIdx.x] = at;
}
void run_chase(unsigned workgroups) {
  constexpr unsigned kSteps = 100, kStride = 4160;  // dwords
  unsigned *next = nullptr, *out = nullptr;
  if (hipMalloc(&next, (kSteps + 1) * kStride * 4) != hipSuccess) return;
  if (hipMalloc(&out, workgroups * 4) != hipSuccess) return;
  bool is_there = true;
  for (unsigned at = 0; at < kSteps * kStride; at += kStride) {
    const unsigned link = at + kStride;
    is_there = is_there && hipMemcpy(next + at, &link, 4, hipMemcpyHostToDevice) == hipSuccess;
  }
  if (is_there) chase<<<workgroups, 64>>>(next, out);
  (void)hipDeviceSynchronize();
  (void)hipFree(next);
  (void)hipFree(out);
}

/// As many workgroups of 256.
void stream(unsigned workgroups) {
  const std::size_t bytes = std::size_t{workgroups} * 256 * sizeof(float4);
  float4 *from = nullptr, *to = nullptr;
  if (hipMalloc(&from, bytes) != hipSuccess || hipMalloc(&to, bytes) != hipSuccess) return;
  if (hipMemset(from, 0, bytes) == hipSuccess) stream_copy<<<workgroups, 256>>>(from, to);
  (void)hipDeviceSynchronize();
  (void)hipFree(from);
  (void)hipFree(to);
}

void scaled(unsigned workgroups) {
  const std::size_t rows = std::size_t{workgroups} * 256, bytes = rows * kScaled * sizeof(float);
  float *from = nullptr, *factors = nullptr, *to = nullptr;
  if (hipMalloc(&from, bytes) != hipSuccess || hipMalloc(&to, bytes) != hipSuccess ||
      hipMalloc(&factors, rows * sizeof(float)) != hipSuccess)
    return;
  if (hipMemset(from, 0, bytes) == hipSuccess &&
      hipMemset(factors, 0, rows * sizeof(float)) == hipSuccess)
    scale_rows<<<workgroups, 256>>>(from, factors, to);
  (void)hipDeviceSynchronize();
  (void)hipFree(from);
  (void)hipFree(factors);
  (void)hipFree(to);
}

void waiting(unsigned workgroups) {
  unsigned* flags = nullptr;
  if (hipMalloc(&flags, workgroups * sizeof(unsigned)) != hipSuccess) return;
  if (hipMemset(flags, 0, workgroups * sizeof(unsigned)) == hipSuccess)
    chain<<<workgroups, 64>>>(flags);
  (void)hipDeviceSynchronize();
  (void)hipFree(flags);
}

// Waits for its load at once, works on something else, then uses it; or waits when it uses it.
template <bool kEarly>
__global__ void waits(const float* in, float* out) {
  float value, other = static_cast<float>(threadIdx.x);
  asm volatile("global_load_dword %0, %1, off" : "=&v"(value) : "v"(in + threadIdx.x));
  if (kEarly) asm volatile("s_waitcnt vmcnt(0)" : "+v"(value));  // LINE early wait
  for (int n = 0; n < 64; ++n) asm volatile("v_mul_f32 %0, %0, %0" : "+v"(other));
  if (!kEarly) asm volatile("s_waitcnt vmcnt(0)" : "+v"(value));
  out[threadIdx.x] = value + other;
}

// Half of the workgroups of each XCD go either way. The first workgroup comes late to its own, so
// that with several host threads others execute theirs first. They read the same lines.
__global__ void divergent(const float* in, float* out) {
  const unsigned n = blockIdx.x * 256 + threadIdx.x;
  float value = static_cast<float>(n);
  if ((blockIdx.x + blockIdx.x / 8) % 2 == 0) {
    if (blockIdx.x == 0)
      for (int k = 0; k < 20000; ++k) asm volatile("v_mul_f32 %0, %0, %0" : "+v"(value));
    value += in[7 * n % 16384];
  } else {
    value -= in[5 * n % 16384];
  }
  out[n % 16384] = value;
}

// Lanes that work for as long as their number says, and lanes that share the same work evenly.
template <bool kEven>
__global__ void lanes_work(float* out, int trips) {
  const unsigned n = blockIdx.x * 256 + threadIdx.x;
  const int mine = kEven ? trips : trips * 2 * static_cast<int>(threadIdx.x % 64) / 63;
  float value = static_cast<float>(n);
  for (int k = 0; k < mine; ++k) {
    asm volatile(".rept 16\n v_mul_f32 %0, %0, %0\n .endr" : "+v"(value));  // LINE in some lanes
  }
  out[n % 16384] = value;
}

// One scalar store, two reads past the scalar cache, an atomic.
__global__ void scalar_writes(unsigned* out) {
  unsigned read = 7, again;
  asm volatile(
      "s_store_dword %0, %2, 0x0\n s_dcache_wb\n s_waitcnt lgkmcnt(0)\n"
      "s_load_dword %0, %2, 0x0 glc\n s_load_dword %1, %2, 0x0 glc\n s_waitcnt lgkmcnt(0)\n"
      "s_atomic_add %0, %2, 0x4\n s_waitcnt lgkmcnt(0)"
      : "+s"(read), "=&s"(again)
      : "s"(out)
      : "memory");
  out[2 + threadIdx.x] = read + again;
}

// 64 dwords of a block that has 25.
__global__ void reads_on(const unsigned* in, unsigned* out) { out[threadIdx.x] = in[threadIdx.x]; }

void run_reads_on(float* out) {
  unsigned *in = nullptr, host[64] = {};
  if (hipMalloc(&in, 100) != hipSuccess || hipMemset(in, 1, 100) != hipSuccess) return;
  reads_on<<<1, 64>>>(in, reinterpret_cast<unsigned*>(out));
  (void)hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost);
  std::printf("read %#x and %u\n", host[24], host[25]);
  (void)hipFree(in);
}

// All read the same 256 KiB from HBM, one load after the other.
__global__ void walks(const float4* in, float* out) {
  float sum = 0;
#pragma unroll 1
  for (unsigned step = 0; step < 256; ++step) sum += in[step * 64 + threadIdx.x].x;
  out[(blockIdx.x * 64 + threadIdx.x) % 4096] = sum;
}

void run_walks(unsigned workgroups, float* out) {
  float4* in = nullptr;
  if (hipMalloc(&in, 256 * 64 * sizeof *in) != hipSuccess) return;
  walks<<<workgroups, 64>>>(in, out);
  (void)hipDeviceSynchronize();
  (void)hipFree(in);
}

// Debug information describes a class where its constructor is defined, if that is on the host.
struct Owner {
  explicit Owner(float* of);
  float* data;
};
Owner::Owner(float* of) : data(of) {}
__global__ void copies_owned(Owner from, float* to) { to[threadIdx.x] = from.data[threadIdx.x]; }

// Each wave adds to one of `counters` places that are 64 bytes apart.
__global__ void counts(unsigned* out, unsigned counters) {
  if (threadIdx.x % 64 == 0) atomicAdd(&out[16 * (blockIdx.x % counters)], 1u);
}

int main(int count, char** words) {
  float *in = nullptr, *out = nullptr;
  if (hipMalloc(&in, 65536) != hipSuccess || hipMalloc(&out, 65536) != hipSuccess) return 1;
  int code = 0;
  for (int n = 1; n < count; ++n) {
    const std::string word = words[n];
    if (word == "padded") rows<33><<<2, 64>>>(out);
    if (word == "conflicting") rows<32><<<2, 64>>>(out);
    if (word == "larger") rows<33><<<4, 64>>>(out);
    if (word == "scattered") scattered<<<1, 64>>>(in, out);
    if (word.starts_with("scaled=")) scaled(static_cast<unsigned>(std::stoul(word.substr(7))));
    if (word == "chain") waiting(64);
    if (word.starts_with("stream=")) stream(static_cast<unsigned>(std::stoul(word.substr(7))));
    if (word.starts_with("some=")) run_some(word.substr(5));
    if (word.starts_with("chase=")) run_chase(static_cast<unsigned>(std::stoul(word.substr(6))));
    if (word == "reads-ascending" || word == "reads-descending")
      run_reads(word == "reads-ascending", out);
    if (word == "ascending" || word == "descending")
      triangle<<<1216, 256>>>(out, word == "ascending");
    if (word == "nothing") nothing<<<1, 64>>>();
    if (word == "paths") paths<<<1216, 256>>>(out);
    if (word.starts_with("walks="))
      run_walks(static_cast<unsigned>(std::stoul(word.substr(6))), out);
    if (word == "owned") copies_owned<<<1, 64>>>(Owner(in), out);
    if (word == "pooled" || word == "separate") run_shares(word == "pooled");
    if (word == "in-columns") run_strips<false>();
    if (word == "in-rectangles") run_strips<true>();
    if (word.starts_with("at=")) copied_at(std::stoul(word.substr(3)), false);
    if (word == "device") copied_at(0, true);
    if (word == "verified") std::puts(copies_all() ? "right" : "wrong");
    if (word == "faulty") past_the_end<<<1, 1>>>(out);
    if (hipDeviceSynchronize() != hipSuccess) std::puts("a launch failed");
    if (word == "one-counter") counts<<<1216, 256>>>(reinterpret_cast<unsigned*>(out), 1);
    if (word == "many-counters") counts<<<1216, 256>>>(reinterpret_cast<unsigned*>(out), 512);
    if (word == "divergent") divergent<<<256, 256>>>(in, out);
    if (word == "reads-on") run_reads_on(out);
    if (word == "scalar-writes") scalar_writes<<<1, 64>>>(reinterpret_cast<unsigned*>(out));
    if (word == "early") waits<true><<<1, 64>>>(in, out);
    if (word == "late") waits<false><<<1, 64>>>(in, out);
    if (word == "lanes-uneven") lanes_work<false><<<1216, 256>>>(out, 50);
    if (word == "lanes-even") lanes_work<true><<<1216, 256>>>(out, 50);
    if (word == "say") std::puts("said");
    if (word == "seven") code = 7;
    if (word == "killed") std::raise(SIGTERM);
    if (word == "again") {  // two more processes
      const std::string self = words[0];
      if (std::system((self + " padded; " + self + " scattered").c_str()) != 0) return 1;
    }
  }
  return code;
}
