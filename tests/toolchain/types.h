// Shared by the programs that test the types of the HIP headers. `compute` runs every operation of
// a type and puts the results into a list, on the host and on the device; `reference` puts what
// they have to be, in the same order, by arithmetic that uses none of the headers.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace types {

using Word = unsigned long long;

/// The results of one input, as words.
struct Results {
  Word* words;
  unsigned room;
  unsigned count = 0;

  __host__ __device__ void put(Word word) {
    if (count < room) words[count] = word;
    ++count;
  }
};

/// What they have to be, and what each is called.
struct Wanted {
  std::vector<Word> words;
  std::vector<std::string> names;

  void put(std::string name, Word word) {
    names.push_back(std::move(name));
    words.push_back(word);
  }
};

/// The bits of a value; all NaNs are one, because host and device need not make the same.
template <typename T>
__host__ __device__ Word bits(T value) {
  if constexpr (sizeof(T) == 8) {
    if constexpr (T(0.5) != T(0))
      if (value != value) return 0x7ff8000000000000ull;
    return __builtin_bit_cast(Word, value);
  } else if constexpr (sizeof(T) == 4) {
    if constexpr (T(0.5) != T(0))
      if (value != value) return 0x7fc00000u;
    return __builtin_bit_cast(unsigned, value);
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(unsigned short, value);
  } else {
    return __builtin_bit_cast(unsigned char, value);
  }
}

inline unsigned differences = 0;
inline unsigned long compared = 0;

inline void check(hipError_t error) {
  if (error == hipSuccess) return;
  std::printf("HIP: %s\n", hipGetErrorString(error));
  std::exit(1);
}

template <typename Compute, typename Input>
__global__ void on_device(const Input* inputs, Word* words, unsigned* counts, unsigned room,
                          unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Results results{words + static_cast<size_t>(i) * room, room};
  Compute::compute(inputs[i], results);
  counts[i] = results.count;
}

/// Compares host and device with the reference, for every input. `where` chooses who takes part.
enum Where { device = 1, host = 2, both = 3 };
template <typename Compute, Where where = both, typename Input>
void judge(const char* type, const std::vector<Input>& inputs) {
  const auto count = static_cast<unsigned>(inputs.size());
  Wanted first;
  Compute::reference(inputs[0], first);
  const auto room = static_cast<unsigned>(first.words.size());
  Input* in = nullptr;
  Word* words = nullptr;
  unsigned* counts = nullptr;
  check(hipMallocManaged(&in, count * sizeof(Input)));
  check(hipMallocManaged(&words, sizeof(Word) * count * room));
  check(hipMallocManaged(&counts, count * sizeof(unsigned)));
  for (unsigned i = 0; i < count; ++i) in[i] = inputs[i];
  for (const Where side : {device, host}) {
    if ((where & side) == 0) continue;
    if (side == device) {
      on_device<Compute><<<(count + 63) / 64, 64>>>(in, words, counts, room, count);
      check(hipDeviceSynchronize());
    } else if constexpr ((where & host) != 0) {
      for (unsigned i = 0; i < count; ++i) {
        Results results{words + static_cast<size_t>(i) * room, room};
        Compute::compute(in[i], results);
        counts[i] = results.count;
      }
    }
    const char* const name = side == device ? "device" : "host";
    for (unsigned i = 0; i < count; ++i) {
      Wanted wanted;
      Compute::reference(inputs[i], wanted);
      if (counts[i] != wanted.words.size()) {
        std::printf("%s: %u results on the %s, %zu in the reference\n", type, counts[i], name,
                    wanted.words.size());
        ++differences;
        continue;
      }
      for (unsigned j = 0; j < room; ++j) {
        ++compared;
        const Word got = words[static_cast<size_t>(i) * room + j];
        if (got == wanted.words[j] || ++differences > 30) continue;
        std::printf("%s %s, input %u, on the %s: got %llx, wanted %llx\n", type,
                    wanted.names[j].c_str(), i, name, got, wanted.words[j]);
      }
    }
  }
  check(hipFree(in)), check(hipFree(words)), check(hipFree(counts));
}

inline int finish() {
  std::printf("%lu results, %u differences\n", compared, differences);
  return differences == 0 && compared != 0 ? 0 : 1;
}

}  // namespace types
