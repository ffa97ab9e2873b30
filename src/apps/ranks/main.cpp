// `margay-rank DESCRIPTOR THREADS NAME`: a worker, started by `margay run`; the key is in
// MARGAY_RANKS_KEY. DESCRIPTOR is a socket that listens.
#include <cstdio>
#include <cstdlib>

#include "observe/parts/make_part_observer.h"
#include "ranks/worker/server.h"

int main(int argc, char** argv) {
  margay::ranks::move_out_of_the_way(argv);
  const char* const key = std::getenv("MARGAY_RANKS_KEY");
  if (argc != 4 || key == nullptr) {
    std::fputs("margay-rank is started by `margay run --ranks N -- PROGRAM`\n", stderr);
    return 2;
  }
  const auto served = margay::ranks::serve({.descriptor = std::atoi(argv[1]),
                                            .key = key,
                                            .threads = static_cast<unsigned>(std::atoi(argv[2])),
                                            .name = argv[3],
                                            .make_observer = margay::make_part_observer});
  if (served) return 0;
  std::fprintf(stderr, "margay-rank: %s\n", served.error().text().c_str());
  return 1;
}
