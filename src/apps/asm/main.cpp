// `margay asm`: the compiled form of a kernel: resources, arguments, and gfx942 instructions with
// the source lines they come from.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/asm/input.h"
#include "apps/asm/json.h"
#include "apps/asm/listing.h"
#include "apps/asm/names.h"
#include "apps/asm/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/install.h"

namespace margay::assembly {

namespace {

using cli::kExitOk;
using cli::nearest;
using cli::report;

struct AsmOptions {
  std::string file;
  std::string kernel;
  std::string json;
  bool resources_only = false;
  bool no_source = false;
  std::vector<std::string> compiler_arguments;
};

std::string comma_list(const std::set<std::string>& words) {
  constexpr std::size_t kShown = 8;
  std::string text;
  std::size_t n = 0;
  for (const std::string& word : words) {
    if (n == kShown) return text + fmt::format(" and {} more", words.size() - kShown);
    text += (n++ == 0 ? "" : ", ") + word;
  }
  return text;
}

std::vector<KernelPlace> all_kernels(const std::vector<CodeObject>& objects) {
  std::vector<KernelPlace> places;
  for (const CodeObject& object : objects) {
    for (const Kernel& kernel : object.kernels()) places.push_back({&object, &kernel});
  }
  return places;
}

Error no_such_kernel(const std::vector<KernelPlace>& places, const AsmOptions& options) {
  std::set<std::string> names;
  for (const KernelPlace& place : places) {
    names.insert(split_function_name(place.kernel->name).qualified);
  }
  std::vector<std::string> plain;
  for (const KernelPlace& place : places) {
    plain.push_back(split_function_name(place.kernel->name).plain);
  }
  plain.insert(plain.end(), names.begin(), names.end());
  const std::vector<std::string_view> candidates(plain.begin(), plain.end());
  const std::string guess = nearest(options.kernel, candidates);
  return {ErrorCode::not_found, fmt::format("There is no kernel {}.", options.kernel), options.file,
          guess.empty()
              ? "Its kernels are " + comma_list(names) + "."
              : fmt::format("Did you mean {}? Its kernels are {}.", guess, comma_list(names))};
}

/// The kernels to show: all of them, or those the user names.
Result<std::vector<KernelPlace>> choose(const std::vector<CodeObject>& objects,
                                        const AsmOptions& options) {
  std::vector<KernelPlace> places = all_kernels(objects);
  if (places.empty()) {
    return fail(ErrorCode::not_found, "There are no kernels in this file.", options.file,
                "Was it built with device code? Kernels are functions marked __global__.");
  }
  if (options.kernel.empty()) return places;
  std::vector<KernelPlace> chosen;
  for (const KernelPlace& place : places) {
    if (is_called(place.kernel->name, options.kernel)) chosen.push_back(place);
  }
  if (chosen.empty()) return std::unexpected(no_such_kernel(places, options));
  return chosen;
}

Result<std::vector<CodeObject>> open(const AsmOptions& options) {
  if (is_source_file(options.file)) {
    const cli::Install install = MARGAY_TRY(cli::find_install());
    return compile_code_object(install.prefix / "bin" / "margay", options.file,
                               options.compiler_arguments);
  }
  if (!options.compiler_arguments.empty()) {
    return fail(ErrorCode::invalid_argument,
                "Compiler options after -- need a source file; this file is compiled already.",
                options.file, "Leave out -- and what follows, or give the source file.");
  }
  return read_code_objects(options.file);
}

/// Memory for a loaded image. Damaged files can require gigabytes: unused pages take no memory, and
/// a failed allocation is an error.
class ImageMemory {
 public:
  [[nodiscard]] static Result<ImageMemory> create(std::uint64_t bytes) {
    void* memory = mmap(nullptr, std::max<std::uint64_t>(bytes, 1), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      return fail(
          ErrorCode::out_of_memory,
          fmt::format("The code object needs {} bytes of memory, which are not there.", bytes), {},
          "Does it hold large device variables, or is it damaged?");
    }
    return ImageMemory({static_cast<std::byte*>(memory), bytes});
  }
  ImageMemory(ImageMemory&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  ImageMemory& operator=(ImageMemory&&) = delete;
  ~ImageMemory() {
    if (bytes_.data() != nullptr) munmap(bytes_.data(), std::max<std::size_t>(bytes_.size(), 1));
  }
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  explicit ImageMemory(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes_;
};

Result<Listing> disassembled(const KernelPlace& place) {
  const ImageMemory image = MARGAY_TRY(ImageMemory::create(place.object->image_bytes()));
  MARGAY_CHECK(place.object->load(image.bytes(), 0));
  const auto decoder = MARGAY_TRY(isa::Decoder::create(place.object->architecture()));
  return list_function(*place.object, image.bytes(), place.kernel->entry_vaddr, *decoder);
}

bool wants_colour() {
  // https://no-color.org: present and not empty means no colour.
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  if (term != nullptr && std::strcmp(term, "dumb") == 0) return false;
  return isatty(STDOUT_FILENO) != 0;
}

Status write_json(const AsmOptions& options, const std::string& text) {
  std::FILE* file = std::fopen(options.json.c_str(), "wb");
  const bool written =
      file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (written && closed) return {};
  return fail(ErrorCode::system,
              "The JSON file cannot be written: " + std::string(std::strerror(errno)), options.json,
              "Name a file in a directory that exists and can be written to.");
}

Status show(const AsmOptions& options) {
  const std::vector<CodeObject> objects = MARGAY_TRY(open(options));
  const std::vector<KernelPlace> kernels = MARGAY_TRY(choose(objects, options));
  const TextOptions text_options{.colour = wants_colour(), .source = !options.no_source};

  std::optional<Listing> listing;
  if (!options.resources_only && kernels.size() == 1) {
    listing = MARGAY_TRY(disassembled(kernels.front()));
  }
  std::vector<KernelReport> reports;
  for (const KernelPlace& place : kernels) {
    reports.push_back({.place = place, .listing = listing ? &*listing : nullptr});
  }
  // Before any output: a file that cannot be written must not look like success.
  if (!options.json.empty()) MARGAY_CHECK(write_json(options, json_text(options.file, reports)));

  std::string out;
  if (kernels.size() == 1) {
    out = kernel_text(kernels.front(), text_options);
  } else {
    out = overview_text(kernels, text_options);
    if (!options.resources_only) {
      out += fmt::format("\nmargay asm {} KERNEL disassembles one of them.\n", options.file);
    }
  }
  SourceText sources;
  if (listing) out += "\n" + listing_text(*listing, sources, text_options);
  std::fwrite(out.data(), 1, out.size(), stdout);
  if (std::fflush(stdout) != 0) {
    return fail(ErrorCode::system,
                "The output cannot be written: " + std::string(std::strerror(errno)));
  }
  return {};
}

int asm_main(std::span<char*> arguments) {
  const auto dashes = std::ranges::find(arguments, std::string_view("--"));
  const std::span<char*> own(arguments.begin(), dashes);
  AsmOptions options;
  if (dashes != arguments.end()) options.compiler_arguments.assign(dashes + 1, arguments.end());

  CLI::App app{
      "Shows what the compiler made of a kernel: resources, arguments, gfx942 instructions "
      "with source lines.",
      "margay asm"};
  app.footer(
      "  margay asm saxpy                       a program with one kernel\n"
      "  margay asm gemm.hsaco micro_tk         one kernel of several\n"
      "  margay asm --resources gemm.so         a table of all kernels\n"
      "  margay asm saxpy.cpp -- -O2 -Iinclude  compiled first, with these options");
  app.add_option("FILE", options.file,
                 "a code object, offload bundle, program or shared library with HIP kernels, or a "
                 "HIP source file")
      ->required();
  app.add_option("KERNEL", options.kernel,
                 "its name, with or without namespace, template arguments and parameters");
  app.add_flag("--resources", options.resources_only, "only the tables, no instructions");
  app.add_flag("--no-source", options.no_source, "no source lines between the instructions");
  app.add_option("--json", options.json, "write everything to this file as JSON as well");
  try {
    app.parse(static_cast<int>(own.size()), own.data());
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return report("asm", Error{ErrorCode::invalid_argument, error.what(), {}, "margay asm --help"});
  }
  const Status shown = show(options);
  return shown ? kExitOk : report("asm", shown.error());
}

}  // namespace
}  // namespace margay::assembly

int main(int argc, char** argv) {
  return margay::assembly::asm_main({argv, static_cast<std::size_t>(argc)});
}
