// Dynamic LDS used beyond the size in the launch.
#include "check_program.h"

using namespace check_program;

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kBytes = kThreads * sizeof(unsigned);

__global__ void reverse(const unsigned* in, unsigned* out) {
  extern __shared__ unsigned tile[];
  tile[threadIdx.x] = in[threadIdx.x];  // BUG write
  __syncthreads();
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];  // BUG read
}

bool run(unsigned bytes) {
  const DeviceArray<unsigned> in(ramp(kThreads, 3u, 1u));
  const DeviceArray<unsigned> out(kThreads, 0u);
  reverse<<<1, kThreads, bytes>>>(in.get(), out.get());
  finish();
  return matches(out.host(), [](std::size_t i) { return (kThreads - 1 - i) * 3 + 1; });
}

}  // namespace

int main(int argc, char** argv) {
  // The hardware allocates in granules of 512 bytes: "one-word" stays inside the granule that the
  // launch gets, "half" does not. Both request less than they use.
  return run_case(argc, argv,
                  {{"half-broken", [] { return run(kBytes / 2); }},
                   {"one-word-broken", [] { return run(kBytes - 4); }},
                   {"fixed", [] { return run(kBytes); }}});
}
