#include "cli/process/install.h"

#include <system_error>

namespace margay::cli {

Result<Install> find_install() {
  std::error_code failure;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (failure) {
    return fail(ErrorCode::system, "cannot find out where this program is: " + failure.message(),
                "/proc/self/exe", "mount /proc");
  }
  return Install{program.parent_path().parent_path()};
}

}  // namespace margay::cli
