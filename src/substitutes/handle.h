// What the substitutes give as a library's handle: the stream that is set.
#pragma once

namespace margay::substitutes {

struct Handle {
  void* stream = nullptr;

  static int create(Handle** out, void* stream = nullptr) {
    *out = new Handle{stream};
    return 0;
  }
  static int destroy(Handle* handle) {
    delete handle;
    return 0;
  }
  int set(void* to) {
    stream = to;
    return 0;
  }
};

}  // namespace margay::substitutes
