#include "substitutes/refuse.h"

#include <cstdlib>
#include <mutex>
#include <set>

namespace margay::substitutes {

void say_once(std::string_view library, const char* function) {
  static std::mutex mutex;
  static std::set<std::string_view> said;
  const std::lock_guard lock(mutex);
  if (!said.insert(function).second) return;
  const char* const wanted = std::getenv("MARGAY_SUBSTITUTES");
  if (wanted != nullptr && std::string_view(wanted) == "quiet") return;
  std::fprintf(stderr,
               "margay: %s of %.*s is not implemented by the virtual device; it returns that it is "
               "not supported\n",
               function, static_cast<int>(library.size()), library.data());
}

}  // namespace margay::substitutes
