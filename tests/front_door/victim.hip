// A program that does one thing wrong, as users do: victim CASE [FILE]. It checks every call,
// prints the name of the first error and ends with 1. Where the device must survive the mistake, it
// continues and prints "still works".
#include <hip/hip_runtime.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int kCount = 256;

__global__ void increment(int* data) { data[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

__global__ void use_lds(int* data) {
  extern __shared__ int lds[];
  lds[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = lds[blockDim.x - 1 - threadIdx.x];
}

void check(hipError_t code) {
  if (code == hipSuccess) return;
  std::printf("%s\n", hipGetErrorName(code));
  std::exit(1);
}

int* allocate() {
  int* data = nullptr;
  check(hipMalloc(reinterpret_cast<void**>(&data), kCount * sizeof(int)));
  check(hipMemset(data, 0, kCount * sizeof(int)));
  return data;
}

void run(int* data, unsigned blocks = 1) {
  increment<<<blocks, kCount>>>(data);
  check(hipGetLastError());
  check(hipDeviceSynchronize());
}

void expect_device_works() {
  int* data = allocate();
  run(data);
  if (data[0] == 1 && data[kCount - 1] == 1) std::printf("still works\n");
}

/// A module from a file: its kernel `increment_all` is looked up and run.
void load(const char* file) {
  hipModule_t module = nullptr;
  check(hipModuleLoad(&module, file));
  hipFunction_t function = nullptr;
  check(hipModuleGetFunction(&function, module, "increment_all"));
  int* data = allocate();
  void* parameters[] = {&data};
  check(hipModuleLaunchKernel(function, 1, 1, 1, kCount, 1, 1, 0, nullptr, parameters, nullptr));
  std::printf("%d\n", data[0]);
}

/// Hundreds of damaged copies of a module: each is loaded or refused, and the device works after.
void load_damaged(const char* file) {
  std::ifstream stream(file, std::ios::binary);
  const std::vector<char> good{std::istreambuf_iterator<char>(stream), {}};
  std::mt19937 random(1);
  int refused = 0;
  for (int n = 0; n < 300; ++n) {
    std::vector<char> bad = good;
    if (n % 3 == 0) {
      bad.resize(random() % good.size());
    } else {
      // The tables are at both ends of the file.
      for (int damage = 0; damage < 1 + n % 8; ++damage) {
        const std::size_t near = random() % 1024;
        bad[random() % 2 == 0 ? near % bad.size() : bad.size() - 1 - near % bad.size()] =
            static_cast<char>(random());
      }
    }
    std::ofstream("damaged.hsaco", std::ios::binary).write(bad.data(), std::ssize(bad));
    hipModule_t module = nullptr;
    if (hipModuleLoad(&module, "damaged.hsaco") != hipSuccess) {
      ++refused;
      continue;
    }
    hipFunction_t function = nullptr;
    (void)hipModuleGetFunction(&function, module, "increment_all");
    check(hipModuleUnload(module));
  }
  (void)hipGetLastError();
  std::printf("refused %d of 300\n", refused);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);  // in KiB
  if (usage.ru_maxrss > 1 << 20) std::printf("took %ld KiB of memory\n", usage.ru_maxrss);
  expect_device_works();
}

}  // namespace

extern "C" __global__ void increment_all(int* data) { data[threadIdx.x] += 1; }

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  const char* file = argc > 2 ? argv[2] : "";
  if (name == "works") {
    expect_device_works();
  } else if (name == "null_pointer") {
    run(nullptr);
  } else if (name == "freed_pointer") {
    int* data = allocate();
    check(hipFree(data));
    run(data);
  } else if (name == "past_the_end") {
    run(allocate(), 2);
  } else if (name == "wild_pointer") {
    run(reinterpret_cast<int*>(0x12345678000));
  } else if (name == "dynamic_lds") {
    use_lds<<<1, kCount, 100000>>>(allocate());
    check(hipGetLastError());
  } else if (name == "block_too_large") {
    increment<<<1, 2048>>>(allocate());
    check(hipGetLastError());
  } else if (name == "no_blocks") {
    increment<<<0, 64>>>(allocate());
    check(hipGetLastError());
  } else if (name == "out_of_memory") {
    void* memory = nullptr;
    check(hipMalloc(&memory, std::size_t{1} << 50));
  } else if (name == "refusal_harms_nothing") {
    use_lds<<<1, kCount, 100000>>>(allocate());
    if (hipGetLastError() == hipSuccess) return 1;
    expect_device_works();
  } else if (name == "load") {
    load(file);
  } else if (name == "load_damaged") {
    load_damaged(file);
  } else {
    std::fprintf(stderr, "no such case: %s\n", name.c_str());
    return 2;
  }
  return 0;
}
