// See rtc_compile.h.
#include "runtime/module/rtc_compile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "code_object/code_object.h"

namespace margay::runtime {
namespace {

namespace fs = std::filesystem;

/// A directory that is gone, with what is in it, when this is.
class Workplace {
 public:
  [[nodiscard]] static Result<Workplace> create() {
    std::error_code ignored;
    std::string name = (fs::temp_directory_path(ignored) / "margay-rtc-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      return fail(ErrorCode::system, "no directory for the compiler's files can be made", name,
                  "set TMPDIR to a directory that can be written");
    return Workplace(std::move(name));
  }
  Workplace(Workplace&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Workplace& operator=(Workplace&&) = delete;
  ~Workplace() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  explicit Workplace(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

/// PREFIX/bin/margay, where this library is PREFIX/lib/libamdhip64.so (cli/process/install.h).
Result<std::string> find_tool() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&find_tool), &self) != 0 && self.dli_fname != nullptr) {
    std::error_code ignored;
    const fs::path library = fs::canonical(self.dli_fname, ignored);
    const fs::path tool = library.parent_path().parent_path() / "bin" / "margay";
    if (fs::exists(tool, ignored)) return tool.string();
  }
  return fail(
      ErrorCode::not_found, "the tool margay, which holds the compiler driver, is not there",
      "bin/margay next to the directory of libamdhip64.so", "keep bin and lib of Margay together");
}

Status write(const fs::path& path, const std::string& text) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file.good()) return {};
  return fail(ErrorCode::system, "the file cannot be written", path.string());
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Programs write "kernel<int>", and "&variable".
std::string without_address(const std::string& expression) {
  const std::size_t begin = expression.find_first_not_of(" &");
  return begin == std::string::npos ? expression : expression.substr(begin);
}

std::string variable_of(std::size_t expression) {
  return fmt::format("margay_rtc_name_{}", expression);
}

/// The program's text, and for each name expression a variable that holds its address, so that the
/// compiler instantiates templates and the linked code identifies the symbol.
std::string text_of(const RtcSource& source) {
  std::string text = fmt::format("#line 1 \"{}\"\n{}\n", source.name, source.text);
  for (std::size_t n = 0; n < source.name_expressions.size(); ++n)
    text += fmt::format(
        "#line 1 \"name expression {}\"\n"
        "extern \"C\" __device__ __attribute__((used)) const void* const {} = (const "
        "void*)&({});\n",
        n + 1, variable_of(n), without_address(source.name_expressions[n]));
  return text;
}

/// Runs `command` to its end, with both its outputs in `log`; returns its exit code.
Result<int> run(const std::vector<std::string>& command, const fs::path& log) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawn(&child, words[0], &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0)
    return fail(ErrorCode::system, fmt::format("cannot be started: {}", std::strerror(failed)),
                command[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return fail(ErrorCode::system, "the compiler cannot be waited for");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/// The targets of the variables of text_of().
Result<std::map<std::string, std::string>> lowered_names(const RtcSource& source,
                                                         const std::vector<std::byte>& code) {
  std::map<std::string, std::string> names;
  if (source.name_expressions.empty()) return names;
  const CodeObject object = MARGAY_TRY(CodeObject::parse(code));
  std::vector<std::byte> image(object.image_bytes());
  MARGAY_CHECK(object.load(image, 0));
  for (std::size_t n = 0; n < source.name_expressions.size(); ++n) {
    const Symbol* const variable = object.find_symbol(variable_of(n));
    std::uint64_t address = 0;
    if (variable == nullptr || variable->vaddr + sizeof address > image.size()) continue;
    std::memcpy(&address, image.data() + variable->vaddr, sizeof address);
    const auto found = std::ranges::find_if(object.symbols(), [&](const Symbol& symbol) {
      return symbol.vaddr == address && symbol.kind != Symbol::Kind::other;
    });
    if (found != object.symbols().end()) names[source.name_expressions[n]] = found->name;
  }
  return names;
}

/// hiprtc's spelling of an option, and hipcc's.
std::string to_hipcc(const std::string& option) {
  constexpr std::string_view kArchitecture = "--gpu-architecture=";
  if (option.starts_with(kArchitecture))
    return "--offload-arch=" + option.substr(kArchitecture.size());
  return option;
}

}  // namespace

Result<RtcResult> rtc_compile(const RtcSource& source) {
  const std::string tool = MARGAY_TRY(find_tool());
  const Workplace workplace = MARGAY_TRY(Workplace::create());
  const fs::path& directory = workplace.path();
  MARGAY_CHECK(write(directory / "source.hip", text_of(source)));
  for (const auto& [name, text] : source.headers) {
    const fs::path relative = fs::path(name).lexically_normal();
    if (relative.is_absolute() || relative.empty() || *relative.begin() == "..")
      return fail(ErrorCode::invalid_argument, "a header has to be below the program's own place",
                  name, "pass its text under the name that the #include uses");
    MARGAY_CHECK(write(directory / "include" / relative, text));
  }
  std::vector<std::string> command = {tool,
                                      "hipcc",
                                      "--genco",
                                      "--no-gpu-bundle-output",
                                      "-include",
                                      "hip/hip_runtime.h",
                                      "-I" + (directory / "include").string()};
  for (const std::string& option : source.options) command.push_back(to_hipcc(option));
  const fs::path output = directory / "code.hsaco", log = directory / "log";
  for (const std::string& word :
       {(directory / "source.hip").string(), std::string("-o"), output.string()})
    command.push_back(word);

  RtcResult result;
  const int exit_code = MARGAY_TRY(run(command, log));
  result.log = read(log);
  if (exit_code != 0) return result;
  const std::string code = read(output);
  result.code.resize(code.size());
  std::ranges::transform(code, result.code.begin(),
                         [](char c) { return static_cast<std::byte>(c); });
  result.lowered_names = MARGAY_TRY(lowered_names(source, result.code));
  return result;
}

}  // namespace margay::runtime
