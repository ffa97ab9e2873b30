// Reads the gfx942 code objects in the FILE a user names; source files are compiled first.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "code_object/code_object.h"

namespace margay::assembly {

/// True for the suffixes of HIP C++ (.cpp .cc .cxx .hip .cu and so on).
[[nodiscard]] bool is_source_file(const std::filesystem::path& file);

/// All gfx942 code objects of a .hsaco file, bundle, program or shared library. Errors name the
/// file.
[[nodiscard]] Result<std::vector<CodeObject>> read_code_objects(const std::filesystem::path& file);

/// Compiles the device side of a source file and reads the code object. `margay` is the program
/// whose subcommand hipcc is used. The compiler's messages go to stderr unchanged.
[[nodiscard]] Result<std::vector<CodeObject>> compile_code_object(
    const std::filesystem::path& margay, const std::filesystem::path& source,
    std::span<const std::string> compiler_arguments);

}  // namespace margay::assembly
