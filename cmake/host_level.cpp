// Prints the best instruction-set level of this machine, as CMake's files name it.
#include <cstdio>

#include "base/host_level.h"

int main() {
  const std::string_view level = margay::best_host_level();
  std::fputs(level == "x86-64-v4" ? "x86_v4" : level == "x86-64-v3" ? "x86_v3" : "generic", stdout);
}
