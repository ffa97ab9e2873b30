// See measured.h.
#include "measured.h"

#include <cstdio>
#include <fstream>
#include <sstream>

namespace exhaustive {

Measured recorded(const std::string& mnemonic) {
  std::ifstream file(MARGAY_MEASURED_FILE);
  const std::string start = mnemonic + " | ";
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(start)) continue;
    const std::size_t end = line.find(" | ", start.size());
    Measured out;
    out.inputs = line.substr(start.size(), end - start.size());
    std::istringstream figures(line.substr(end + 3));
    std::string bar;
    figures >> out.error >> bar >> out.wrong;
    if (figures) return out;
  }
  return {};
}

std::string line_of(const std::string& mnemonic, const Measured& measured) {
  char figures[64];
  std::snprintf(figures, sizeof figures, " | %.10f | %llu", measured.error,
                static_cast<unsigned long long>(measured.wrong));
  return mnemonic + " | " + measured.inputs + figures;
}

}  // namespace exhaustive
