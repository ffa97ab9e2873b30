// See watching.h.
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "apps/gemm/watching.h"
#include "cli/process/install.h"

namespace margay::gemm {

Result<std::unique_ptr<Watching>> watching(const runtime::Settings& settings, bool model,
                                           char** arguments) {
  if (!wants_watching(settings, model)) return nullptr;
  const auto install = MARGAY_TRY(cli::find_install());
  const std::string program = (install.prefix / "bin" / "margay-gemm-watched").string();
  execv(program.c_str(), arguments);
  return fail(ErrorCode::not_found, "cannot start " + program + ": " + std::strerror(errno), {},
              install.repair());
}

}  // namespace margay::gemm
