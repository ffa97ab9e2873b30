// Structs that are kernel parameters in parameters.hip; the tests know the same offsets from the
// host compiler.
#pragma once

namespace shapes {

template <int kAxis, int kSize>
struct Fixed {};  // takes no storage
template <int kAxis>
struct Kept {
  int value;
};

/// Like a tensor: an empty base, bases that hold a dimension each, an address.
template <typename T, int kDepth>
struct Tensor : Fixed<0, kDepth>, Kept<1>, Kept<2> {
  using Element = T;
  Element* address;
  static const int kRank = 3;
};

}  // namespace shapes

union Word {
  unsigned number;
  float real;
};

struct Inner {
  unsigned char tag;
  const double* const table;
};

struct Everything {
  shapes::Tensor<short, 4> a;
  const shapes::Tensor<float, 1> b;
  Inner inner[2];
  void* anything;
  long counts[2][3];
  float ignored;
  Word word;
  struct {
    Inner* nested;
  };
};
