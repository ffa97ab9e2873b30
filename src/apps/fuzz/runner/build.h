// Compiles a source once for the device and once for the host.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/fuzz/programs/types.h"
#include "base/error.h"

namespace margay::fuzz {

/// Options that choose among the ways a compiler can translate the same program.
struct BuildOptions {
  std::vector<std::string> device = {"-O1"};
  std::vector<std::string> host = {"-O0"};
  bool operator==(const BuildOptions&) const = default;
};

[[nodiscard]] BuildOptions random_options(Random& random);

struct Compiled {
  std::filesystem::path device;  ///< A code object.
  std::filesystem::path host;    ///< A shared library.
};

class Compiler {
 public:
  /// Files are left in `directory`, which exists.
  [[nodiscard]] static Result<Compiler> create(std::filesystem::path directory);

  /// Compiles for both at the same time. `name` is that of the files, without suffix.
  [[nodiscard]] Result<Compiled> compile(const std::string& name, const std::string& source,
                                         const BuildOptions& options) const;
  /// The compiler's whole command for one side.
  [[nodiscard]] std::vector<std::string> device_command(const std::filesystem::path& source,
                                                        const std::filesystem::path& output,
                                                        const BuildOptions& options) const;
  [[nodiscard]] std::vector<std::string> host_command(const std::filesystem::path& source,
                                                      const std::filesystem::path& output,
                                                      const BuildOptions& options) const;

 private:
  Compiler(std::string program, std::filesystem::path directory)
      : program_(std::move(program)), directory_(std::move(directory)) {}
  std::string program_;
  std::filesystem::path directory_;
};

}  // namespace margay::fuzz
