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

bool Install::in_python_package() const {
  std::error_code ignored;
  return std::filesystem::exists(prefix.parent_path() / "installation.py", ignored);
}

std::filesystem::path Install::python() const {
  return in_python_package() ? prefix.parent_path().parent_path()
                             : prefix / "lib" / "margay" / "python";
}

std::string Install::repair() const {
  return in_python_package() ? "pip install --force-reinstall margay" : "./margay build";
}

}  // namespace margay::cli
